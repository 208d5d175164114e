#include "agent/exec/command_table.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/exec/process_tree.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

/// A result that nobody collects is kept so long, and no more than so much.
constexpr std::chrono::minutes kKeptTime{10};
constexpr std::size_t kKeptResults = 4096;
constexpr std::size_t kKeptBytes = 64 * 1024 * 1024;
constexpr std::chrono::milliseconds kForgetPause{200};
constexpr std::chrono::milliseconds kStrayPause{50};

}  // namespace

/// SIGCHLD as a descriptor. The agent's threads block it.
class CommandTable::Reaper final : public Watcher {
 public:
  Reaper(CommandTable& table, base::UniqueFd fd) : table_(table), fd_(std::move(fd)) {}
  ~Reaper() override { table_.environment_.loop->remove(*fd_, this); }
  bool start() { return table_.environment_.loop->add(*fd_, EPOLLIN, this); }

  void on_ready(std::uint32_t) override {
    std::array<signalfd_siginfo, 16> signals;
    while (::read(*fd_, signals.data(), sizeof signals) > 0) {
    }
    table_.reap();
  }

 private:
  CommandTable& table_;
  base::UniqueFd fd_;
};

/// Where keepers give notice.
class CommandTable::NoticePipe final : public Watcher {
 public:
  NoticePipe(CommandTable& table, base::UniqueFd read, base::UniqueFd write)
      : table_(table), read_(std::move(read)), write_(std::move(write)) {}
  ~NoticePipe() override { table_.environment_.loop->remove(*read_, this); }
  bool start() { return table_.environment_.loop->add(*read_, EPOLLIN, this); }
  int write_fd() const noexcept { return *write_; }

  void on_ready(std::uint32_t) override {
    std::array<char, 4096> bytes;
    [[maybe_unused]] const ssize_t got = ::read(*read_, bytes.data(), bytes.size());
    table_.on_notices();
  }

 private:
  CommandTable& table_;
  base::UniqueFd read_;
  base::UniqueFd write_;
};

CommandTable::CommandTable(CommandEnvironment& environment)
    : environment_(environment), processes_(environment) {}
CommandTable::~CommandTable() = default;

Result<std::unique_ptr<CommandTable>> CommandTable::open(CommandEnvironment& environment) {
  std::unique_ptr<CommandTable> table(new CommandTable(environment));
  int fds[2] = {-1, -1};
  if (::pipe2(fds, O_CLOEXEC) != 0) return base::system_error(errno, "pipe");
  ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
  table->notices_ =
      std::make_unique<NoticePipe>(*table, base::UniqueFd(fds[0]), base::UniqueFd(fds[1]));
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  base::UniqueFd signals(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return base::system_error(errno, "signalfd");
  table->reaper_ = std::make_unique<Reaper>(*table, std::move(signals));
  if (!table->notices_->start() || !table->reaper_->start()) {
    return base::system_error(errno, "epoll_ctl");
  }
  table->spawner_ = std::make_unique<Spawner>(table->notices_->write_fd());
  environment.spawner = table->spawner_.get();
  environment.keepers = table.get();
  return table;
}

std::shared_ptr<StreamHandler> CommandTable::execute(const CommandName& name,
                                                     wire::ExecRequest request, StreamRef stream) {
  const std::uint64_t credit = request.credit;
  if (const auto found = commands_.find(name.id); found != commands_.end()) {
    found->second->attach(std::move(stream), credit);
    return found->second;
  }
  if (stopping_) {
    stream.fail(Error(ErrorCode::kUnavailable, "the sandbox is being stopped"));
    return nullptr;
  }
  const bool repeats = request.background && processes_.at(name.id) != nullptr;
  if (!repeats && hold_.holds(std::chrono::steady_clock::now())) {
    stream.fail(Error(ErrorCode::kUnavailable,
                      "the sandbox is being stopped, and starts no new command: try again when "
                      "that is done, or called off"));
    return nullptr;
  }
  if (request.argument_bytes > wire::kMaxArgumentBytes) {
    stream.fail(Error(ErrorCode::kTooLarge, "the arguments and the environment are too large"));
    return nullptr;
  }
  if (request.background) return processes_.start(name, std::move(request), std::move(stream));
  const auto command = std::make_shared<Command>(environment_, *this, name, std::move(request));
  commands_.emplace(name.id, command);
  ++running_;
  command->attach(std::move(stream), credit);
  command->begin();
  return command;
}

/// What somebody still waits for: what an earlier holder's command or step left in the background
/// on purpose goes on.
void CommandTable::stop_fenced_below(std::uint64_t fence) {
  const auto commands = commands_;
  for (const auto& [id, command] : commands) {
    const bool is_late = command->fence() != 0 && command->fence() < fence;
    if (is_late && !command->is_finished()) command->run().terminate();
  }
}

Result<void> CommandTable::hold(const wire::PrepareStopRequest& request) {
  const std::chrono::milliseconds length(request.hold_ms);
  return hold_.ask(request.by, length, std::chrono::steady_clock::now());
}

Result<void> CommandTable::signal(const wire::SignalRequest& request) {
  if (request.signal < 1 || request.signal > 64) {
    return Error(ErrorCode::kInvalidArgument,
                 "there is no signal " + std::to_string(request.signal));
  }
  if (CommandRun* const run = find_run(request.command)) return run->signal(request.signal);
  return Error(ErrorCode::kNotFound, "the command does not run");
}

Result<void> CommandTable::resize(const wire::ResizeRequest& request) {
  if (CommandRun* const run = find_run(request.command)) return run->resize(request.size);
  return Error(ErrorCode::kNotFound, "the command does not run");
}

CommandRun* CommandTable::find_run(const wire::RequestId& id) const {
  if (const auto found = commands_.find(id); found != commands_.end()) return &found->second->run();
  const auto process = processes_.at(id);
  return process ? &process->run() : nullptr;
}

void CommandTable::collected(const wire::RequestId& id) {
  const auto found = commands_.find(id);
  if (found != commands_.end() && found->second->is_finished()) commands_.erase(found);
}

void CommandTable::add(pid_t keeper, std::shared_ptr<CommandRun> run) {
  keepers_[keeper] = std::move(run);
}

void CommandTable::on_finished(Command& command) {
  --running_;
  finished_.emplace_back(std::chrono::steady_clock::now(), command.id());
  if (forgetting_) return;
  forgetting_ = true;
  environment_.loop->call_after(kForgetPause, [this] {
    forgetting_ = false;
    forget_old();
  });
}

/// Most were collected and are gone from the table already.
void CommandTable::forget_old() {
  const SteadyTime oldest = std::chrono::steady_clock::now() - kKeptTime;
  while (!finished_.empty() && !commands_.contains(finished_.front().second)) {
    finished_.pop_front();
  }
  std::size_t bytes = 0;
  std::size_t kept = 0;
  std::size_t keep_from = finished_.size();
  for (; keep_from > 0; --keep_from) {
    const auto& [when, id] = finished_[keep_from - 1];
    const auto found = commands_.find(id);
    if (found == commands_.end()) continue;
    bytes += found->second->kept_bytes();
    if (++kept > kKeptResults || bytes > kKeptBytes || when < oldest) break;
  }
  for (std::size_t i = 0; i < keep_from; ++i) forget(finished_[i].second);
  finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(keep_from));
}

void CommandTable::forget(const wire::RequestId& id) {
  const auto found = commands_.find(id);
  if (found != commands_.end() && found->second->is_finished()) commands_.erase(found);
}

void CommandTable::on_notices() {
  // A notice says that some keeper has news, not which: commands are few, and looking is cheap.
  std::vector<std::shared_ptr<CommandRun>> all;
  all.reserve(keepers_.size());
  for (const auto& [pid, run] : keepers_) all.push_back(run);
  for (const auto& run : all) run->on_notice();
}

void CommandTable::reap() {
  bool strays = false;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);
    if (pid <= 0) break;
    if (WIFSTOPPED(status)) {
      // Where commands have the agent's uid they can stop keepers, which then would never tell.
      if (keepers_.contains(pid)) ::kill(pid, SIGCONT);
      continue;
    }
    const auto found = keepers_.find(pid);
    if (found == keepers_.end()) continue;
    const auto run = std::move(found->second);
    keepers_.erase(found);
    strays = strays || !WIFEXITED(status);
    run->on_keeper_reaped(WIFEXITED(status));
  }
  if (strays) kill_strays();
  if (keepers_.empty() && on_all_gone_) std::exchange(on_all_gone_, nullptr)();
}

/// A keeper that was killed hands its children to the agent. Nothing else ever becomes the agent's
/// child, so whatever is one now and no keeper belongs to a command that is over.
void CommandTable::kill_strays() {
  bool found = false;
  const auto all = list_processes();
  for (const auto& entry : all) {
    if (entry.parent != ::getpid() || keepers_.contains(entry.pid) || entry.zombie) continue;
    found = true;
    signal_tree(entry.pid, SIGKILL);
    ::kill(entry.pid, SIGKILL);
  }
  if (!found) return;
  environment_.loop->call_after(kStrayPause, [this] { kill_strays(); });
}

void CommandTable::stop_all(std::function<void()> done) {
  stopping_ = true;
  if (keepers_.empty()) return done();
  on_all_gone_ = std::move(done);
  const auto running = keepers_;
  for (const auto& [pid, run] : running) run->terminate();
}

}  // namespace cove::agent
