#include "providers/local/instance/process.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

/// The text of a file of /proc; none where its process has ended.
Result<std::optional<std::string>> text_of(const std::string& path, std::size_t limit) {
  auto text = read_small_file(AT_FDCWD, path, limit);
  if (text) return std::optional<std::string>(*std::move(text));
  // ESRCH (kInternal): it ended between the opening and the reading.
  if (is_exhausted(text.error())) return text.error();
  return std::optional<std::string>();
}

/// The pids of a process's children, separated by spaces.
Result<std::string> children_text(pid_t pid) {
  const std::string name = std::to_string(pid);
  COVE_TRY(const auto text, text_of("/proc/" + name + "/task/" + name + "/children", 1 << 20));
  return text.value_or("");
}

}  // namespace

Result<std::optional<ProcessFacts>> facts_of(pid_t pid) {
  COVE_TRY(const auto text, text_of("/proc/" + std::to_string(pid) + "/stat", kSmallFile));
  if (!text) return std::optional<ProcessFacts>();
  // The name in parentheses may hold anything, also spaces and parentheses: fields count from the
  // last one.
  const auto after_name = text->rfind(") ");
  if (after_name == std::string::npos) return std::optional<ProcessFacts>();
  std::istringstream fields(text->substr(after_name + 2));
  fields.imbue(std::locale::classic());
  ProcessFacts facts;
  std::string skipped;
  fields >> facts.state >> facts.parent;
  for (int field = 5; field < 22; ++field) fields >> skipped;
  fields >> facts.start_time;
  if (!fields) return std::optional<ProcessFacts>();
  return std::optional(facts);
}

Result<std::optional<Process>> Process::find(pid_t pid, std::uint64_t start_time) {
  if (pid <= 1) return std::optional<Process>();
  // SAFETY: no memory is involved; the result is a new descriptor of ours (close-on-exec by
  // definition). Opened before the facts are read: what they say is then of this very process.
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd && (errno == ESRCH || errno == EINVAL)) return std::optional<Process>();
  if (!fd) return system_error(errno, "look for process " + std::to_string(pid));
  COVE_TRY(const auto facts, facts_of(pid));
  if (!facts || facts->start_time != start_time) return std::optional<Process>();
  Process process(pid, std::move(fd));
  if (process.has_ended(std::chrono::milliseconds(0))) return std::optional<Process>();
  return std::optional(std::move(process));
}

Result<std::optional<Process>> Process::behind(int pidfd) {
  COVE_TRY(const auto text, text_of("/proc/self/fdinfo/" + std::to_string(pidfd), kSmallFile));
  const auto label = text ? text->find("Pid:") : std::string::npos;
  if (label == std::string::npos) return std::optional<Process>();
  std::istringstream number(text->substr(label + 4));
  number.imbue(std::locale::classic());
  pid_t pid = -1;  // what the kernel shows once it is reaped
  number >> pid;
  if (pid <= 1) return std::optional<Process>();
  UniqueFd own(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (!own) return system_error(errno, "keep a process's descriptor");
  return std::optional(Process(pid, std::move(own)));
}

bool Process::send(int signal) const noexcept {
  // SAFETY: no memory is involved.
  return ::syscall(SYS_pidfd_send_signal, *fd_, signal, nullptr, 0) == 0;
}

bool Process::has_ended(std::chrono::milliseconds bound) const noexcept {
  pollfd waited{*fd_, POLLIN, 0};
  return ::poll(&waited, 1, static_cast<int>(bound.count())) > 0;
}

Result<std::vector<Process>> Process::children() const {
  std::vector<Process> found;
  COVE_TRY(const std::string text, children_text(pid_));
  std::istringstream pids(text);
  pids.imbue(std::locale::classic());
  for (pid_t pid = 0; pids >> pid;) {
    COVE_TRY(const auto facts, facts_of(pid));
    if (!facts || facts->parent != pid_) continue;
    COVE_TRY(auto child, find(pid, facts->start_time));
    if (child) found.push_back(*std::move(child));
  }
  return found;
}

Result<bool> Process::has_children() const {
  COVE_TRY(const std::string text, children_text(pid_));
  return !text.empty();
}

void Process::freeze() const {
  if (!send(SIGSTOP)) return;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto found = facts_of(pid_);
    const ProcessFacts facts = found ? found->value_or(ProcessFacts{'X'}) : ProcessFacts();
    if (facts.state == 'T' || facts.state == 'Z' || facts.state == 'X') return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace cove::local
