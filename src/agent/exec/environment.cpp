#include "agent/exec/environment.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include <unistd.h>

namespace cove::agent {

std::uint64_t read_oom_kills(int counter_fd) {
  if (counter_fd < 0) return 0;
  std::array<char, 1024> buffer{};
  const ssize_t bytes = ::pread(counter_fd, buffer.data(), buffer.size(), 0);
  if (bytes <= 0) return 0;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(bytes));
  // Both cgroup versions say "oom_kill <number>" on a line.
  constexpr std::string_view kName = "oom_kill ";
  std::size_t at = text.find(kName);
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') {
    at = text.find(kName, at + 1);
  }
  if (at == std::string_view::npos) return 0;
  std::uint64_t kills = 0;
  std::from_chars(text.data() + at + kName.size(), text.data() + text.size(), kills);
  return kills;
}

std::vector<std::string> program_candidates(const std::string& program, const std::string& path) {
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> candidates;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    const std::string directory = path.substr(start, end - start);
    candidates.push_back(directory.empty() ? program : directory + "/" + program);
    start = end + 1;
  }
  return candidates;
}

}  // namespace cove::agent
