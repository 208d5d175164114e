#include "aftermath.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <unistd.h>

#include "notes.hpp"

namespace torture {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

constexpr const char* kCgroups = "/sys/fs/cgroup";

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_ended(const fs::path& process) {
  const std::string stat = read_text(process / "stat");
  const auto name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X';
}

/// Processes that have the state directory mounted, open, or in their command.
void find_processes(const Place& place, Lines& found) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (pid == std::to_string(::getpid()) || is_ended(entry.path())) continue;
    const std::string who = pid + " " + read_text(entry.path() / "comm");
    const auto mentions = [&](const char* file) {
      return read_text(entry.path() / file).find(place.state_dir) != std::string::npos;
    };
    if (mentions("mountinfo")) found.push_back("mount in process " + who);
    if (mentions("cmdline")) found.push_back("process " + who);
    for (const auto& fd : fs::directory_iterator(entry.path() / "fd", ignored)) {
      std::error_code gone;
      if (fs::read_symlink(fd.path(), gone).string().starts_with(place.state_dir)) {
        found.push_back("open file in process " + who);
      }
    }
  }
}

/// The parent's directory in each hierarchy: of cgroup v1 below a controller, of v2 at once.
std::vector<fs::path> cgroup_parents(const Place& place) {
  std::vector<fs::path> parents{fs::path(kCgroups) / place.cgroup_parent};
  std::error_code ignored;
  for (const auto& controller : fs::directory_iterator(kCgroups, ignored)) {
    parents.push_back(controller.path() / place.cgroup_parent);
  }
  std::erase_if(parents, [](const fs::path& path) {
    std::error_code none;
    return !fs::is_directory(path, none);
  });
  return parents;
}

void find_cgroups(const Place& place, Lines& found) {
  for (const fs::path& parent : cgroup_parents(place)) {
    for (const auto& entry : fs::directory_iterator(parent)) {
      if (entry.is_directory()) found.push_back("cgroup " + entry.path().string());
    }
  }
}

/// Files and directories that a sandbox of no record left.
void find_files(const Place& place, Lines& found) {
  for (const char* part : {"volumes", "run", "objects"}) {
    std::error_code ignored;
    const fs::path root = fs::path(place.state_dir) / part;
    for (const auto& entry : fs::recursive_directory_iterator(root, ignored)) {
      found.push_back("file " + entry.path().string());
    }
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(place.state_dir) / "owners", ignored)) {
    // The token names the directory and stays.
    const std::string name = entry.path().filename().string();
    if (name != "token") found.push_back("owner file " + name);
  }
}

/// Sweeps until nothing is under way any more.
void settle(const cove::Cove& cove, Lines& found) {
  const auto until = std::chrono::steady_clock::now() + 90s;
  Lines busy;
  do {
    busy.clear();
    const auto swept = cove.sweep();
    if (!swept) busy.push_back("sweep: " + swept.error().describe());
    if (swept) {
      for (const std::string& error : swept->errors) busy.push_back("sweep: " + error);
    }
    for (const cove::Record& record : cove.list().value().records) {
      if (record.operation || !record.garbage.empty()) {
        busy.push_back("still busy: " + cove::to_json(record));
      }
    }
    if (busy.empty()) return;
    std::this_thread::sleep_for(500ms);  // a back-off passes
  } while (std::chrono::steady_clock::now() < until);
  found.insert(found.end(), busy.begin(), busy.end());
}

void check_files(const cove::Cove& cove, std::uint32_t user, const std::set<std::uint64_t>& files,
                 Lines& found) {
  auto workspace = cove.acquire(key_of(user));
  const std::string who = key_of(user).user_id;
  if (!workspace) {
    found.push_back(who + " cannot be woken: " + workspace.error().describe());
    return;
  }
  for (const std::uint64_t file : files) {
    const std::string name = file_name(file);
    const auto content = workspace->client().read_file("/workspace/" + name);
    if (!content) {
      found.push_back(who + " lost " + name + ": " + content.error().describe());
    } else if (std::string(reinterpret_cast<const char*>(content->data()), content->size()) !=
               name) {
      found.push_back(who + ": " + name + " is not what was written");
    }
  }
}

void destroy_all(const cove::Cove& cove, Lines& found) {
  for (const cove::Record& record : cove.list().value().records) {
    const auto destroyed = cove.destroy(record.sandbox_id);
    if (!destroyed) found.push_back("destroy: " + destroyed.error().describe());
  }
}

}  // namespace

std::vector<std::string> check_aftermath(const Place& place, const Written& written) {
  Lines found;
  auto cove = cove::Cove::open(place.config());
  if (!cove) return {"open: " + cove.error().describe()};
  settle(*cove, found);
  for (const auto& [user, files] : written) {
    if (!is_mortal(user)) check_files(*cove, user, files, found);
  }
  const auto orphans = cove->orphans();
  if (!orphans) found.push_back("orphans: " + orphans.error().describe());
  if (orphans) {
    for (const auto& volume : orphans->volumes) {
      found.push_back("orphan volume " + volume.sandbox.str() + " " + volume.generation.str());
    }
    for (const auto& instance : orphans->instances) {
      found.push_back("orphan instance of " + instance.volume.sandbox.str());
    }
  }
  destroy_all(*cove, found);
  const auto closed = cove->close();
  if (!closed) found.push_back("close: " + closed.error().describe());
  find_processes(place, found);
  find_cgroups(place, found);
  find_files(place, found);
  return found;
}

void remove_cgroup_parent(const Place& place) {
  for (const fs::path& parent : cgroup_parents(place)) static_cast<void>(::rmdir(parent.c_str()));
}

}  // namespace torture
