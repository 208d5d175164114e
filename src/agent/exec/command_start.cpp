// How a command starts: what is checked and opened before, and how a failure is told.
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/exec/command.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

struct PipeEnds {
  base::UniqueFd read;
  base::UniqueFd write;
};

Result<PipeEnds> open_pipe() {
  int fds[2] = {-1, -1};
  if (::pipe2(fds, O_CLOEXEC) != 0) return base::system_error(errno, "no pipe for the command");
  return PipeEnds{base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

Error execute_error(int number, const std::string& program) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return {ErrorCode::kNotFound,
              "no such program (or the interpreter that it names is missing): " + program};
    case EACCES: return {ErrorCode::kPermissionDenied, program + " is not executable"};
    case EAGAIN:
      return {ErrorCode::kQuotaExceeded, "too many processes run already to start " + program};
    default: return base::system_error(number, "execute " + program);
  }
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, O_NONBLOCK); }

}  // namespace

Command::Command(const CommandEnvironment& environment, Owner& owner, const CommandName& name,
                 wire::ExecRequest request)
    : environment_(environment),
      owner_(owner),
      name_(name),
      request_(std::move(request)),
      outputs_{
          {{wire::Channel::kOut, nullptr,
            wire::KeptOutput(request_.spec.output.head_bytes, request_.spec.output.tail_bytes)},
           {wire::Channel::kErr, nullptr,
            wire::KeptOutput(request_.spec.output.head_bytes, request_.spec.output.tail_bytes)}}} {}

Command::~Command() {
  for (const auto& timer : {timeout_timer_, kill_timer_, lost_timer_}) {
    if (timer) environment_.loop->cancel(*timer);
  }
}

void Command::begin() {
  if (begun_ || finished_) return;
  if (arguments_.size() < request_.argument_bytes) return;
  begun_ = true;
  if (const auto started = start(); !started) fail(started.error());
}

Result<void> Command::start() {
  if (request_.argument_bytes > 0) {
    COVE_TRY_VOID(wire::unpack_arguments(arguments_, request_.spec));
    arguments_ = Bytes();
  }
  COVE_TRY_VOID(wire::check_exec(request_.spec));
  COVE_TRY(auto directory,
           environment_.files->open_directory({request_.session, request_.spec.cwd}));
  std::array<base::UniqueFd, 3> child_ends;
  COVE_TRY(SpawnPlan spawn, plan(child_ends));
  spawn.directory = *directory;
  oom_kills_before_ = read_oom_kills(environment_.oom_counter_fd);
  started_at_ = std::chrono::steady_clock::now();
  COVE_TRY(keeper_, environment_.spawner->start(std::move(spawn)));
  owner_.on_keeper(keeper_->pid(), shared_from_this());
  for (auto& end : child_ends) handed_.push_back(std::move(end));
  handed_.push_back(std::move(directory));
  feed_stdin();
  set_timeout();
  rewatch();
  return ok();
}

Result<SpawnPlan> Command::plan(std::array<base::UniqueFd, 3>& child_ends) {
  SpawnPlan spawn;
  COVE_TRY(child_ends[0], open_stdin());
  COVE_TRY(child_ends[1], open_output(outputs_[0]));
  COVE_TRY(child_ends[2], open_output(outputs_[1]));
  for (std::size_t i = 0; i < child_ends.size(); ++i) spawn.stdio[i] = *child_ends[i];
  if (!request_.has_stdin) spawn.stdio[0] = environment_.null_fd;
  std::string path;
  spawn.environment = environment_strings(path);
  spawn.argv = request_.spec.argv;
  spawn.programs = program_candidates(spawn.argv.front(), path);
  spawn.cgroups = environment_.cgroups;
  spawn.limits = environment_.limits;
  spawn.switch_ids = environment_.switch_ids;
  spawn.uid = environment_.uid;
  spawn.gid = environment_.gid;
  // Where stdin is a pipe its reading end is closed here as soon as the command has it, or writing
  // to a command that closed its own would never fail.
  spawn.announce_start = request_.streamed || request_.has_stdin;
  return spawn;
}

Result<base::UniqueFd> Command::open_stdin() {
  if (!request_.has_stdin) return base::UniqueFd();
  COVE_TRY(PipeEnds ends, open_pipe());
  set_nonblocking(*ends.write);
  stdin_ = std::make_unique<InputPipe>(
      *environment_.loop, std::move(ends.write),
      [this](std::uint64_t bytes) { stream_.send_credit(input_.consume(bytes)); });
  return std::move(ends.read);
}

Result<base::UniqueFd> Command::open_output(Output& output) {
  COVE_TRY(PipeEnds ends, open_pipe());
  set_nonblocking(*ends.read);
  output.pipe = std::make_unique<OutputPipe>(*environment_.loop, std::move(ends.read),
                                             [this, &output] { read_output(output); });
  return std::move(ends.write);
}

void Command::feed_stdin() {
  if (!stdin_) return;
  const Bytes early = std::exchange(early_stdin_, Bytes());
  if (!early.empty()) stdin_->write(early);
  if (stdin_ended_) stdin_->finish();
}

void Command::set_timeout() {
  if (!request_.spec.timeout) return;
  timeout_timer_ = environment_.loop->call_after(*request_.spec.timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->stop(StopReason::kTimedOut);
  });
}

std::vector<std::string> Command::environment_strings(std::string& path) const {
  auto variables = environment_.variables;
  for (const auto& [name, value] : request_.spec.env) variables.insert_or_assign(name, value);
  std::vector<std::string> strings;
  strings.reserve(variables.size());
  for (const auto& [name, value] : variables) strings.push_back(name + "=" + value);
  const auto found = variables.find("PATH");
  path = found == variables.end() ? "/usr/local/bin:/usr/bin:/bin" : found->second;
  return strings;
}

Error Command::start_error() const {
  const int number = keeper_->error_number();
  const std::string program = "'" + request_.spec.argv.front() + "'";
  switch (keeper_->failed_step()) {
    case SpawnStep::kExecute: return execute_error(number, program);
    case SpawnStep::kDirectory: return base::system_error(number, "enter the working directory");
    case SpawnStep::kCgroup:
      return {ErrorCode::kProvider, base::system_error(number, "join the control group").message()};
    case SpawnStep::kIdentity:
      return {ErrorCode::kProvider,
              base::system_error(number, "become the sandbox's user").message()};
    case SpawnStep::kClone:
      return {ErrorCode::kQuotaExceeded, base::system_error(number, "start " + program).message()};
    default: return base::system_error(number, "prepare " + program);
  }
}

}  // namespace cove::agent
