#include "agent/exec/background_process.hpp"

#include <algorithm>
#include <utility>

#include "base/text/hex.hpp"
#include "wire/command_reply.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kShownBytes = 1024;

/// For people: the words as they would be typed, more or less.
std::string shown(const ExecSpec& spec) {
  std::string text;
  for (const auto& argument : spec.argv) {
    if (!text.empty()) text += ' ';
    text += argument;
    if (text.size() > kShownBytes) break;
  }
  return text;
}

std::string spill_name(const wire::ExecRequest& request, const CommandName& name,
                       const char* ending) {
  return request.spec.output.spill ? base::to_hex(name.id) + ending : std::string();
}

}  // namespace

/// The stream that asked for the start: what follows the request, until it is answered.
class BackgroundProcess::StartStream final : public StreamHandler {
 public:
  StartStream(std::weak_ptr<BackgroundProcess> process, StreamRef stream)
      : process_(std::move(process)), writer_(std::make_shared<Writer>()) {
    writer_->stream = std::move(stream);
  }

  bool on_data(wire::Channel channel, ByteView bytes) override {
    const auto process = process_.lock();
    if (!process) return true;
    if (channel == wire::Channel::kMain) return process->write_input(writer_, bytes);
    if (channel != wire::Channel::kArguments || !writer_->window.receive(bytes.size())) {
      return false;
    }
    writer_->stream.send_credit(writer_->window.consume(bytes.size()));
    process->run_->take_arguments(bytes);
    return true;
  }

  void on_end(wire::Channel channel) override {
    const auto process = process_.lock();
    if (process && channel == wire::Channel::kMain) process->run_->end_input();
  }

  /// Whoever does not wait for the start would never know of the process.
  void on_cancel(const wire::Cancel&) override {
    const auto process = process_.lock();
    if (process) process->run_->stop(CommandRun::StopReason::kCancelled);
  }

  void on_lost() override {
    const auto process = process_.lock();
    if (!process || process->run_->has_begun()) return;
    process->run_->refuse(Error(ErrorCode::kCancelled, "the connection ended before it started"));
  }

 private:
  std::weak_ptr<BackgroundProcess> process_;
  std::shared_ptr<Writer> writer_;
};

BackgroundProcess::BackgroundProcess(const CommandEnvironment& environment, Owner& owner,
                                     const CommandName& name, wire::ExecRequest request)
    : owner_(owner),
      name_(name),
      options_(*request.background),
      outputs_{{{*environment.spill, spill_name(request, name, ".out")},
                {*environment.spill, spill_name(request, name, ".err")}}} {
  run_ = std::make_shared<CommandRun>(environment, *this, name.id, std::move(request));
}

BackgroundProcess::~BackgroundProcess() { run_->disown(); }

bool BackgroundProcess::keeps_alive() const {
  return runs_ && !end_ && std::chrono::steady_clock::now() < started_ + options_.keep_alive;
}

const ProcessOutput& BackgroundProcess::output(OutputStream stream) const {
  return outputs_[stream == OutputStream::kErr ? 1 : 0];
}

ProcessInfo BackgroundProcess::info() const {
  ProcessInfo info;
  info.id = ProcessId(base::to_hex(name_.id));
  info.name = options_.name;
  info.command = command_;
  info.cwd = run_->directory();
  info.started_at = started_at_;
  info.keep_alive = options_.keep_alive;
  info.has_terminal = run_->request().spec.terminal.has_value();
  info.stdin_open = !end_ && run_->input_is_open();
  info.out_bytes = outputs_[0].total();
  info.err_bytes = outputs_[1].total();
  if (const auto reply = end()) info.end = wire::result_of(*reply);
  return info;
}

std::optional<wire::ExecReply> BackgroundProcess::end() const {
  if (!end_) return std::nullopt;
  wire::ExecReply reply{.outcome = end_->outcome};
  reply.duration = end_->duration;
  reply.usage = end_->usage;
  reply.out.total_bytes = outputs_[0].total();
  reply.err.total_bytes = outputs_[1].total();
  reply.out.spill_path = outputs_[0].spill_path();
  reply.err.spill_path = outputs_[1].spill_path();
  return reply;
}

std::shared_ptr<StreamHandler> BackgroundProcess::answer_start(StreamRef stream) {
  if (runs_) {
    stream.respond(wire::encode_process_info(info()));
    return nullptr;
  }
  starters_.push_back(stream);
  auto handler = std::make_shared<StartStream>(weak_from_this(), std::move(stream));
  run_->begin();
  return handler;
}

bool BackgroundProcess::write_input(const std::shared_ptr<Writer>& writer, ByteView bytes) {
  if (!writer->window.receive(bytes.size())) return false;
  written_.push_back({writer, bytes.size()});
  run_->write_input(bytes);
  return true;
}

void BackgroundProcess::on_input_used(std::uint64_t bytes) {
  while (bytes > 0 && !written_.empty()) {
    Written& first = written_.front();
    const std::uint64_t count = std::min(bytes, first.bytes);
    bytes -= count;
    first.bytes -= count;
    const auto writer = first.writer.lock();
    const bool waits = writer && writer->stream.is_open();
    if (waits) writer->stream.send_credit(writer->window.consume(count));
    if (first.bytes == 0) written_.pop_front();
  }
}

/// Each of its writers is told when it has written what nobody reads.
void BackgroundProcess::on_input_refused() {
  for (const Written& piece : std::exchange(written_, {})) {
    const auto writer = piece.writer.lock();
    if (writer) writer->stream.send_end(wire::Channel::kMain);
  }
}

void BackgroundProcess::remove_spills() {
  for (auto& output : outputs_) output.remove_spill();
}

void BackgroundProcess::on_running() {
  runs_ = true;
  command_ = run_->request().spec.shell_line.substr(0, kShownBytes + 1);
  if (command_.empty()) command_ = shown(run_->request().spec);
  started_ = std::chrono::steady_clock::now();
  started_at_ = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const Bytes answer = wire::encode_process_info(info());
  for (const auto& stream : std::exchange(starters_, {})) stream.respond(answer);
}

std::size_t BackgroundProcess::room_for_output() { return kReadBytes; }

void BackgroundProcess::on_output(wire::Channel channel, std::string_view bytes) {
  outputs_[channel == wire::Channel::kErr ? 1 : 0].append(bytes);
  tell_readers();
}

void BackgroundProcess::on_failed(const Error& error) {
  const auto self = shared_from_this();
  for (const auto& stream : std::exchange(starters_, {})) stream.fail(error);
  owner_.on_not_started(*this);
}

void BackgroundProcess::on_ended(const RunEnd& end) {
  const auto self = shared_from_this();
  end_ = end;
  // Those who have read all get their answer; the others may read on for long, and do not wait
  // until then with what is never read.
  tell_readers();
  on_input_refused();
  owner_.on_process_ended(*this);
}

void BackgroundProcess::tell_readers() {
  std::erase_if(readers_, [](const auto& reader) { return reader.expired(); });
  // A reader may go, and another may come, while one is told.
  const auto readers = readers_;
  for (const auto& weak : readers) {
    if (const auto reader = weak.lock()) reader->on_change();
  }
}

}  // namespace cove::agent
