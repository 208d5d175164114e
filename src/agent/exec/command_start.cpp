// How a command starts: what is checked and opened before, and how a failure is told.
#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/exec/command_run.hpp"
#include "agent/exec/process_tree.hpp"
#include "agent/exec/terminal.hpp"
#include "base/system/system_error.hpp"
#include "base/text/hex.hpp"

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
    case E2BIG:
      return {
          ErrorCode::kTooLarge,
          "an argument or a variable is longer than the kernel takes (128 KiB), or all are: put "
          "it into a file or stdin"};
    case EAGAIN:
      return {ErrorCode::kQuotaExceeded, "too many processes run already to start " + program};
    default: return base::system_error(number, "execute " + program);
  }
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, O_NONBLOCK); }

std::string path_of(int directory) {
  const std::string link = "/proc/self/fd/" + std::to_string(directory);
  std::array<char, 4096> path;
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

/// The smaller of two limits, of which 0 is none.
std::uint64_t stricter(std::uint64_t left, std::uint64_t right) {
  if (left == 0 || right == 0) return std::max(left, right);
  return std::min(left, right);
}

const char* find_shell() {
  for (const char* path : {"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return "/bin/sh";
}

}  // namespace

CommandRun::CommandRun(const CommandEnvironment& environment, Owner& owner,
                       const wire::RequestId& id, wire::ExecRequest request)
    : environment_(environment),
      owner_(&owner),
      id_(id),
      request_(std::move(request)),
      outputs_{{{wire::Channel::kOut, nullptr}, {wire::Channel::kErr, nullptr}}} {}

void CommandRun::begin() {
  if (begun_ || finished_ || arguments_.size() < request_.argument_bytes) return;
  begun_ = true;
  if (const auto started = start(); !started) refuse(started.error());
}

Result<void> CommandRun::start() {
  if (request_.argument_bytes > 0) {
    COVE_TRY_VOID(wire::unpack_arguments(arguments_, request_.spec));
    arguments_ = Bytes();
  }
  COVE_TRY_VOID(wire::unpack_line(request_));
  COVE_TRY_VOID(wire::check_exec(request_.spec));
  COVE_TRY(auto directory,
           environment_.files->open_directory({request_.session, request_.spec.cwd}));
  if (request_.background) directory_ = path_of(*directory);
  std::array<base::UniqueFd, 3> child_ends;
  COVE_TRY(SpawnPlan spawn, plan(child_ends));
  spawn.directory = *directory;
  oom_kills_before_ = read_oom_kills(environment_.oom_counter_fd);
  started_at_ = std::chrono::steady_clock::now();
  COVE_TRY(keeper_, environment_.spawner->start(std::move(spawn)));
  environment_.keepers->add(keeper_->pid(), shared_from_this());
  for (auto& end : child_ends) handed_.push_back(std::move(end));
  handed_.push_back(std::move(directory));
  feed_input();
  set_timers();
  rewatch();
  return ok();
}

Result<SpawnPlan> CommandRun::plan(std::array<base::UniqueFd, 3>& child_ends) {
  SpawnPlan spawn;
  COVE_TRY_VOID(request_.spec.terminal ? open_terminal_ends(child_ends) : open_stdio(child_ends));
  for (std::size_t i = 0; i < child_ends.size(); ++i) spawn.stdio[i] = *child_ends[i];
  if (!request_.has_stdin && !request_.spec.terminal) spawn.stdio[0] = environment_.null_fd;
  if (!child_ends[2]) spawn.stdio[2] = spawn.stdio[1];
  if (!child_ends[0] && request_.spec.terminal) spawn.stdio[0] = spawn.stdio[1];
  spawn.terminal = request_.spec.terminal.has_value();
  set_program(spawn);
  COVE_TRY_VOID(set_limits(spawn));
  spawn.switch_ids = environment_.switch_ids;
  spawn.uid = environment_.uid;
  spawn.gid = environment_.gid;
  // Where stdin is a pipe its reading end is closed here as soon as the command has it, or writing
  // to a command that closed its own would never fail.
  spawn.announce_start =
      request_.streamed || request_.has_stdin || request_.background || request_.spec.terminal;
  return spawn;
}

Result<void> CommandRun::open_stdio(std::array<base::UniqueFd, 3>& child_ends) {
  COVE_TRY(child_ends[0], open_stdin());
  COVE_TRY(child_ends[1], open_output(outputs_[0]));
  if (request_.spec.merge_output) return ok();
  COVE_TRY(child_ends[2], open_output(outputs_[1]));
  return ok();
}

Result<void> CommandRun::open_terminal_ends(std::array<base::UniqueFd, 3>& child_ends) {
  COVE_TRY(Terminal terminal, open_terminal(*request_.spec.terminal));
  terminal_.reset(::fcntl(*terminal.reader, F_DUPFD_CLOEXEC, 3));
  if (!terminal_) return base::system_error(errno, "open a terminal");
  watch_input(std::move(terminal.writer), InputPipe::Kind::kTerminal);
  watch_output(outputs_[0], std::move(terminal.reader));
  child_ends[1] = std::move(terminal.command);
  // Without a stdin nothing is ever typed, and a program that waits for it would wait for ever.
  if (!request_.has_stdin) input_ended_ = true;
  return ok();
}

Result<base::UniqueFd> CommandRun::open_stdin() {
  if (!request_.has_stdin) return base::UniqueFd();
  COVE_TRY(PipeEnds ends, open_pipe());
  set_nonblocking(*ends.write);
  watch_input(std::move(ends.write), InputPipe::Kind::kPipe);
  return std::move(ends.read);
}

void CommandRun::watch_input(base::UniqueFd fd, InputPipe::Kind kind) {
  stdin_ = std::make_unique<InputPipe>(*environment_.loop, std::move(fd), kind, *this);
}

Result<base::UniqueFd> CommandRun::open_output(Output& output) {
  COVE_TRY(PipeEnds ends, open_pipe());
  set_nonblocking(*ends.read);
  watch_output(output, std::move(ends.read));
  return std::move(ends.write);
}

void CommandRun::watch_output(Output& output, base::UniqueFd fd) {
  output.pipe = std::make_unique<OutputPipe>(*environment_.loop, std::move(fd),
                                             [this, &output] { read_output(output); });
}

void CommandRun::set_program(SpawnPlan& spawn) const {
  std::string path;
  spawn.environment = environment_strings(path);
  if (request_.spec.shell_line.empty()) {
    spawn.argv = request_.spec.argv;
    spawn.programs = program_candidates(spawn.argv.front(), path);
    return;
  }
  const std::string shell = find_shell();
  spawn.programs = {shell};
  spawn.argv = {shell.substr(shell.rfind('/') + 1), "-c", request_.spec.shell_line};
}

/// A group of its own for what has limits; where there is none the kernel's limits for each
/// process.
Result<void> CommandRun::set_limits(SpawnPlan& spawn) {
  const CommandLimits& limits = request_.spec.limits;
  spawn.limits = environment_.limits;
  spawn.limits.niceness = request_.spec.niceness;
  spawn.limits.cpu_seconds = limits.cpu_seconds;
  spawn.cgroups = environment_.cgroups;
  if (limits.memory_bytes == 0 && limits.processes == 0) return ok();
  auto group = CommandGroup::make(environment_.group_parents, base::to_hex(id_), limits);
  if (group) {
    group_ = *std::move(group);
    const auto joins = group_->joins();
    spawn.cgroups.insert(spawn.cgroups.end(), joins.begin(), joins.end());
    return ok();
  }
  // The result says best_effort.
  spawn.limits.address_space = stricter(spawn.limits.address_space, limits.memory_bytes);
  if (limits.processes > 0) {
    // The kernel counts all of the uid's, so what runs already comes on top.
    const std::uint64_t running = list_processes().size();
    spawn.limits.processes = stricter(spawn.limits.processes, running + limits.processes);
  }
  return ok();
}

void CommandRun::feed_input() {
  if (!stdin_) return;
  const Bytes early = std::exchange(early_input_, Bytes());
  if (!early.empty()) stdin_->write(early);
  if (input_ended_) stdin_->finish();
}

std::vector<std::string> CommandRun::environment_strings(std::string& path) const {
  auto variables = environment_.variables;
  if (request_.spec.terminal) variables.insert_or_assign("TERM", "xterm-256color");
  for (const auto& [name, value] : request_.spec.env) variables.insert_or_assign(name, value);
  std::vector<std::string> strings;
  strings.reserve(variables.size());
  for (const auto& [name, value] : variables) strings.push_back(name + "=" + value);
  const auto found = variables.find("PATH");
  path = found == variables.end() ? "/usr/local/bin:/usr/bin:/bin" : found->second;
  return strings;
}

Error CommandRun::start_error() const {
  const int number = keeper_->error_number();
  const bool shell = request_.spec.argv.empty();
  const std::string program = shell ? "the shell" : "'" + request_.spec.argv.front() + "'";
  switch (keeper_->failed_step()) {
    case SpawnStep::kExecute: return execute_error(number, program);
    case SpawnStep::kDirectory: return base::system_error(number, "enter the working directory");
    case SpawnStep::kCgroup:
      return {ErrorCode::kProvider, base::system_error(number, "join the control group").message()};
    case SpawnStep::kIdentity:
      return {ErrorCode::kProvider,
              base::system_error(number, "become the sandbox's user").message()};
    case SpawnStep::kTerminal: return base::system_error(number, "take the terminal over");
    case SpawnStep::kClone:
      return {ErrorCode::kQuotaExceeded, base::system_error(number, "start " + program).message()};
    default: return base::system_error(number, "prepare " + program);
  }
}

}  // namespace cove::agent
