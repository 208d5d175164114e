#include "providers/local/instance/strays.hpp"

#include <charconv>
#include <csignal>
#include <sstream>
#include <string>

#include <fcntl.h>

#include "base/system/unique_fd.hpp"
#include "providers/local/instance/process.hpp"
#include "providers/local/small_files.hpp"
#include "providers/local/state_directory.hpp"

namespace cove::local {

namespace {

constexpr std::size_t kMaxText = 1 << 20;

std::string text_of(int process, const char* name) {
  const auto text = read_small_file(process, name, kMaxText);
  return text ? *text : std::string();
}

/// The line "NSpid:" has one number per nested namespace, the innermost last.
bool is_first_of_namespace(const std::string& status) {
  const auto at = status.find("NSpid:");
  if (at == std::string::npos) return false;
  std::istringstream numbers(status.substr(at + 6, status.find('\n', at) - at - 6));
  numbers.imbue(std::locale::classic());
  int depth = 0;
  int innermost = 0;
  for (int number = 0; numbers >> number; ++depth) innermost = number;
  return depth > 1 && innermost == 1;
}

bool is_stray(int process, const std::string& workspace) {
  const std::string name = text_of(process, "comm");
  if (name != "bwrap\n" && name != "cove-agent\n") return false;
  if (!is_first_of_namespace(text_of(process, "status"))) return false;
  return text_of(process, "mountinfo").find(workspace) != std::string::npos ||
         text_of(process, "cmdline").find(workspace) != std::string::npos;
}

}  // namespace

void kill_strays(const VolumeRef& volume) {
  const std::string workspace = "/" + path_of(volume) + "/workspace";
  const auto processes = open_directory(AT_FDCWD, "/proc");
  const auto names = processes ? names_in(**processes) : Result<std::vector<std::string>>({});
  if (!names) return;
  for (const std::string& name : *names) {
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    const auto facts = facts_of(pid);
    if (!facts || !*facts) continue;
    // The pidfd first: what is read afterwards is of the process that would be hit.
    const auto process = Process::find(pid, (*facts)->start_time);
    const auto directory = open_directory(**processes, name);
    if (!process || !*process || !directory) continue;
    if (is_stray(**directory, workspace)) (*process)->send(SIGKILL);
  }
}

}  // namespace cove::local
