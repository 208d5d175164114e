#include "providers/local/instance/process.hpp"

#include <charconv>
#include <csignal>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "providers/local/small_files.hpp"

namespace cove::local {

using base::UniqueFd;

namespace {

/// The pids of a process's children, separated by spaces.
std::string children_text(pid_t pid) {
  const std::string name = std::to_string(pid);
  const auto text =
      read_small_file(AT_FDCWD, "/proc/" + name + "/task/" + name + "/children", 1 << 20);
  return text ? *text : std::string();
}

}  // namespace

std::optional<ProcessFacts> facts_of(pid_t pid) {
  const auto text = read_small_file(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  // The name in parentheses may hold anything, also spaces and parentheses: fields count from the
  // last one.
  const auto after_name = text->rfind(") ");
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(after_name + 2));
  fields.imbue(std::locale::classic());
  ProcessFacts facts;
  std::string skipped;
  fields >> facts.state >> facts.parent;
  for (int field = 5; field < 22; ++field) fields >> skipped;
  fields >> facts.start_time;
  if (!fields) return std::nullopt;
  return facts;
}

std::optional<Process> Process::find(pid_t pid, std::uint64_t start_time) {
  if (pid <= 1) return std::nullopt;
  // SAFETY: no memory is involved; the result is a new descriptor of ours (close-on-exec by
  // definition). Opened before the facts are read: what they say is then of this very process.
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return std::nullopt;
  const auto facts = facts_of(pid);
  if (!facts || facts->start_time != start_time) return std::nullopt;
  Process process(pid, std::move(fd));
  if (process.has_ended(std::chrono::milliseconds(0))) return std::nullopt;
  return process;
}

std::optional<Process> Process::behind(int pidfd) {
  const auto text = read_small_file(AT_FDCWD, "/proc/self/fdinfo/" + std::to_string(pidfd));
  const auto label = text ? text->find("Pid:") : std::string::npos;
  if (label == std::string::npos) return std::nullopt;
  std::istringstream number(text->substr(label + 4));
  number.imbue(std::locale::classic());
  pid_t pid = -1;  // what the kernel shows once it is reaped
  number >> pid;
  UniqueFd own(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (pid <= 1 || !own) return std::nullopt;
  return Process(pid, std::move(own));
}

bool Process::send(int signal) const noexcept {
  // SAFETY: no memory is involved.
  return ::syscall(SYS_pidfd_send_signal, *fd_, signal, nullptr, 0) == 0;
}

bool Process::has_ended(std::chrono::milliseconds bound) const noexcept {
  pollfd waited{*fd_, POLLIN, 0};
  return ::poll(&waited, 1, static_cast<int>(bound.count())) > 0;
}

std::vector<Process> Process::children() const {
  std::vector<Process> found;
  std::istringstream pids(children_text(pid_));
  pids.imbue(std::locale::classic());
  for (pid_t pid = 0; pids >> pid;) {
    const auto facts = facts_of(pid);
    if (!facts || facts->parent != pid_) continue;
    if (auto child = find(pid, facts->start_time)) found.push_back(std::move(*child));
  }
  return found;
}

bool Process::has_children() const { return !children_text(pid_).empty(); }

void Process::freeze() const {
  if (!send(SIGSTOP)) return;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto facts = facts_of(pid_);
    if (!facts || facts->state == 'T' || facts->state == 'Z' || facts->state == 'X') return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace cove::local
