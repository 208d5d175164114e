#include "agent/exec/process_tree.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/system/next_entry.hpp"

namespace cove::agent {
namespace {

struct CloseDir {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

template <class Number>
bool parse_number(std::string_view& text, Number& number) {
  const std::size_t start = text.find_first_not_of(' ');
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Behind the session: terminal, its group, flags, four counts of faults, then the times.
bool parse_ticks(std::string_view& text, ProcessEntry& entry) {
  constexpr int kBetween = 7;
  std::int64_t passed_over = 0;
  for (int i = 0; i < kBetween; ++i) {
    if (!parse_number(text, passed_over)) return false;
  }
  std::array<std::uint64_t, 4> ticks{};
  for (auto& number : ticks) {
    if (!parse_number(text, number)) return false;
  }
  entry.own_ticks = ticks[0] + ticks[1];
  entry.waited_ticks = ticks[2] + ticks[3];
  return true;
}

/// "pid (name) state ppid pgrp session ...": the name may hold anything, so the last ')' counts.
bool parse_stat(std::string_view text, ProcessEntry& entry) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return false;
  text.remove_prefix(name_end + 2);
  entry.zombie = text.front() == 'Z' || text.front() == 'X';
  text.remove_prefix(1);
  return parse_number(text, entry.parent) && parse_number(text, entry.group) &&
         parse_number(text, entry.session) && parse_ticks(text, entry);
}

bool read_entry(int proc, const char* name, ProcessEntry& entry) {
  const std::string_view digits(name);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), entry.pid);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  const std::string path = std::string(digits) + "/stat";
  const base::UniqueFd fd(::openat(proc, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  std::array<char, 512> buffer{};
  const ssize_t bytes = ::read(*fd, buffer.data(), buffer.size());
  if (bytes <= 0) return false;
  return parse_stat(std::string_view(buffer.data(), static_cast<std::size_t>(bytes)), entry);
}

}  // namespace

std::vector<ProcessEntry> list_processes() {
  std::vector<ProcessEntry> entries;
  const std::unique_ptr<DIR, CloseDir> proc(::opendir("/proc"));
  if (!proc) return entries;
  while (const dirent* name = base::next_entry(proc.get())) {
    ProcessEntry entry;
    if (read_entry(::dirfd(proc.get()), name->d_name, entry)) entries.push_back(entry);
  }
  return entries;
}

namespace {

std::vector<ProcessEntry> tree_below(const std::vector<ProcessEntry>& all, pid_t root) {
  std::unordered_multimap<pid_t, const ProcessEntry*> children;
  children.reserve(all.size());
  for (const auto& entry : all) children.emplace(entry.parent, &entry);
  std::vector<ProcessEntry> found;
  std::vector<pid_t> pending{root};
  // A number used again during the walk could make a circle of parents: no more steps than entries.
  for (std::size_t steps = 0; !pending.empty() && steps <= all.size(); ++steps) {
    const auto [begin, end] = children.equal_range(pending.back());
    pending.pop_back();
    for (auto child = begin; child != end; ++child) {
      pending.push_back(child->second->pid);
      found.push_back(*child->second);
    }
  }
  return found;
}

}  // namespace

std::vector<ProcessEntry> descendants(const std::vector<ProcessEntry>& all, pid_t root) {
  std::vector<ProcessEntry> found = tree_below(all, root);
  std::erase_if(found, [](const ProcessEntry& entry) { return entry.zombie; });
  return found;
}

std::chrono::microseconds cpu_time_of_tree(pid_t root) {
  const std::vector<ProcessEntry> all = list_processes();
  std::uint64_t ticks = 0;
  for (const auto& entry : all) {
    if (entry.pid == root) ticks += entry.waited_ticks;
  }
  for (const auto& entry : tree_below(all, root)) ticks += entry.own_ticks + entry.waited_ticks;
  const auto per_second = static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  return std::chrono::microseconds(ticks * 1'000'000 / per_second);
}

std::size_t signal_tree(pid_t root, int signal) {
  const std::vector<ProcessEntry> tree = descendants(list_processes(), root);
  const pid_t own_group = ::getpgrp();
  // Groups never span sessions, and every session below a keeper was made below it.
  std::set<pid_t> groups;
  // Only to kill: a program that is asked to end is asked once.
  if (signal == SIGKILL) {
    for (const auto& entry : tree) groups.insert(entry.group);
  }
  for (const pid_t group : groups) {
    if (group > 1 && group != own_group) ::kill(-group, signal);
  }
  for (const auto& entry : tree) {
    if (entry.pid > 1 && entry.pid != root) ::kill(entry.pid, signal);
  }
  return tree.size();
}

}  // namespace cove::agent
