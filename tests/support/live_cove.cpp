#include "support/live_cove.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace cove::testing {
namespace fs = std::filesystem;

LiveCove::~LiveCove() {
  auto cove = Cove::open(config());
  if (!cove) return;
  for (const Record& record : cove->list().value().records) {
    static_cast<void>(cove->destroy(record.sandbox_id));
  }
  static_cast<void>(cove->close());
}

Config LiveCove::config() const {
  Config config;
  config.state_dir = state_directory();
  return config;
}

std::string LiveCove::volume_path(const Generation& generation) const {
  std::error_code none;
  fs::recursive_directory_iterator at(state_directory() + "/volumes",
                                      fs::directory_options::skip_permission_denied, none);
  for (; !none && at != fs::recursive_directory_iterator(); at.increment(none)) {
    if (at->path().filename() == generation.str()) return at->path().string();
  }
  return {};
}

bool LiveCove::has_volume(const Generation& generation) const {
  return !volume_path(generation).empty();
}

std::string output_of(const SandboxClient& client, std::vector<std::string> argv) {
  const ExecResult result = client.exec({.argv = std::move(argv)}).value();
  if (!result.succeeded()) {
    throw std::runtime_error("the command ended with " + std::to_string(result.shell_code()) +
                             ": " + result.err.text());
  }
  std::string text = result.out.text();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string shell(const SandboxClient& client, const std::string& line) {
  return output_of(client, {"sh", "-c", line});
}

std::string instance_name(const SandboxClient& client) {
  return output_of(client, {"readlink", "/proc/self/ns/pid"});
}

namespace {

/// One that ended stays in /proc until its parent, the machine's init, has noticed.
bool has_ended(const fs::path& process) {
  std::ifstream file(process / "stat");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t state = text.rfind(") ");
  return state == std::string::npos || text[state + 2] == 'Z' || text[state + 2] == 'X';
}

}  // namespace

std::set<int> processes_in(const std::string& instance_name) {
  std::set<int> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code gone;
    const bool inside = fs::read_symlink(entry.path() / "ns/pid", gone).string() == instance_name;
    if (inside && !gone && !has_ended(entry.path()))
      found.insert(std::atoi(entry.path().filename().c_str()));
  }
  return found;
}

}  // namespace cove::testing
