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

namespace cove::agent {
namespace {

struct CloseDir {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

bool parse_number(std::string_view& text, pid_t& number) {
  const std::size_t start = text.find_first_not_of(' ');
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
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
         parse_number(text, entry.session);
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
  while (const dirent* name = ::readdir(proc.get())) {
    ProcessEntry entry;
    if (read_entry(::dirfd(proc.get()), name->d_name, entry)) entries.push_back(entry);
  }
  return entries;
}

std::vector<ProcessEntry> descendants(const std::vector<ProcessEntry>& all, pid_t root) {
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
      if (!child->second->zombie) found.push_back(*child->second);
    }
  }
  return found;
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
