#include "support/local_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/local/instance/cgroups.hpp"
#include "providers/local/instance/instance_record.hpp"
#include "providers/local/instance/process.hpp"
#include "providers/local/state_directory.hpp"

namespace cove::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

local::LocalOptions with_tests_groups(local::LocalOptions options) {
  options.cgroup_parent = kTestCgroups;
  return options;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool mentions(const fs::path& file, const std::string& text) {
  return read_file(file).find(text) != std::string::npos;
}

void find_processes(const std::string& state_dir, std::vector<std::string>& found) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (pid == std::to_string(::getpid())) continue;
    const auto name = [&] { return pid + " " + read_file(entry.path() / "comm"); };
    if (mentions(entry.path() / "mountinfo", state_dir)) found.push_back("mount of " + name());
    for (const auto& fd : fs::directory_iterator(entry.path() / "fd", ignored)) {
      std::error_code gone;
      if (fs::read_symlink(fd.path(), gone).string().starts_with(state_dir)) {
        found.push_back("open file of " + name());
      }
    }
  }
}

}  // namespace

LocalMachine::LocalMachine() : LocalMachine(local::LocalOptions{}) {}

LocalMachine::LocalMachine(local::LocalOptions given)
    : options(with_tests_groups(std::move(given))), deployment(base::random_name(ids)) {
  if (options.state_dir.empty()) options.state_dir = directory.path() + "/state";
  const local::LocalRuntime runtime{loop, pool, clock, ids, nullptr};
  provider = local::open_local_provider(options, runtime).value();
}

LocalMachine::~LocalMachine() {
  const auto inventory = wait(provider->list(deployment, {}));
  if (!inventory) return;
  for (InstanceRef instance : inventory->instances) {
    static_cast<void>(stop(instance));
  }
  for (const VolumeRef& volume : inventory->volumes) static_cast<void>(remove(volume));
}

VolumeRef LocalMachine::new_volume() {
  return {deployment, SandboxId("app-" + base::random_name(ids)),
          Generation(base::random_name(ids))};
}

InstanceRef LocalMachine::start_new(const SandboxPolicy& policy) {
  const InstanceRef instance{new_volume(), Epoch{1}};
  create(instance.volume).value();
  start(instance, policy).value();
  return instance;
}

Result<void> LocalMachine::create(const VolumeRef& volume) {
  const CallContext call;
  return wait(provider->create_volume(volume, call));
}

Result<void> LocalMachine::remove(const VolumeRef& volume) {
  const CallContext call;
  return wait(provider->delete_volume(volume, call));
}

Result<void> LocalMachine::start(const InstanceRef& instance, const SandboxPolicy& policy,
                                 const CallContext& call) {
  return wait(provider->start_instance(instance, policy, call));
}

Result<void> LocalMachine::stop(const InstanceRef& instance, const CallContext& call) {
  return wait(provider->stop_instance(instance, call));
}

InstanceStatus LocalMachine::inspect(const InstanceRef& instance) {
  const CallContext call;
  return wait(provider->inspect(instance, call)).value();
}

Result<std::shared_ptr<Guest>> LocalMachine::connect(const InstanceRef& instance) {
  const CallContext call;
  return wait(provider->connect(instance, call));
}

ProviderInventory LocalMachine::list() {
  const CallContext call;
  return wait(provider->list(deployment, call)).value();
}

ExecResult LocalMachine::shell(const InstanceRef& instance, const std::string& line) {
  const auto guest = connect(instance).value();
  const CallContext call;
  const ExecSpec spec{.argv = {"/bin/sh", "-c", line}};
  const std::string session;
  return wait(guest->run(session, spec, call)).value();
}

std::string LocalMachine::output(const InstanceRef& instance, const std::string& line) {
  const ExecResult result = shell(instance, line);
  if (!result.succeeded()) {
    throw std::runtime_error("'" + line + "' ended with " + std::to_string(result.shell_code()) +
                             ": " + result.out.text() + result.err.text());
  }
  return result.out.text() + result.err.text();
}

std::string LocalMachine::path_of(const VolumeRef& volume) const {
  return options.state_dir + "/volumes/" + local::path_of(volume);
}

bool is_root() { return ::geteuid() == 0; }

InstanceProcesses processes_of(const LocalMachine& machine, const InstanceRef& instance) {
  const base::UniqueFd run(::open((machine.state_dir() + "/run").c_str(), O_RDONLY | O_CLOEXEC));
  const auto record = local::read_record(*run, instance.volume).value();
  if (!record) return {};
  const auto process = local::find_process(*record, local::this_pid_space().value());
  if (!process) return {};
  const auto children = process->children();
  return {process->pid(), children.empty() ? 0 : children.front().pid()};
}

bool is_alive(pid_t pid) {
  const auto facts = local::facts_of(pid);
  return facts && facts->state != 'Z' && facts->state != 'X';
}

bool eventually(const std::function<bool()>& done) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

std::vector<std::string> leftovers(const LocalMachine& machine) {
  std::vector<std::string> found;
  find_processes(machine.state_dir(), found);
  const auto groups = local::Cgroups::open(local::cgroup_mounts(), kTestCgroups);
  for (const auto& name : groups.find(machine.deployment.str().substr(0, 8))) {
    found.push_back("group " + name);
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(machine.state_dir() + "/run", ignored)) {
    found.push_back("run " + entry.path().filename().string());
  }
  return found;
}

OrdinaryUserRun run_as_ordinary_user() {
  OrdinaryUserRun run;
  if (!is_root()) run.skipped = "this run is an ordinary user's already";
  if (!fs::exists("/usr/bin/setpriv")) run.skipped = "setpriv is missing (apt install util-linux)";
  if (!run.skipped.empty()) return run;
  // A uid without a name; the build's own directory may be closed to it, so it gets a copy.
  constexpr unsigned kUser = 61'234;
  const TemporaryDirectory directory;
  const std::string binary = directory.path() + "/tests";
  fs::copy_file(fs::read_symlink("/proc/self/exe"), binary);
  if (::chmod(binary.c_str(), 0755) != 0 || ::chown(directory.path().c_str(), kUser, kUser) != 0) {
    throw std::runtime_error("the copy of the test program cannot be given away");
  }
  const std::string id = std::to_string(kUser);
  const std::string output = directory.path() + "/output";
  const std::string command = "TMPDIR=" + directory.path() + " setpriv --reuid=" + id +
                              " --regid=" + id + " --clear-groups " + binary + " '[any-user]' > " +
                              output + " 2>&1";
  const int status = std::system(command.c_str());
  run.output = read_file(output);
  run.passed = status == 0 && run.output.find("All tests passed") != std::string::npos;
  return run;
}

pid_t start_child(const std::string& name, const std::vector<std::string>& words, int output_fd) {
  std::string program = fs::read_symlink("/proc/self/exe");
  std::string joined = "COVE_TEST_CHILD=";
  for (const std::string& word : words) joined += word + "\x1f";
  std::string filter = name;
  std::vector<char*> arguments = {program.data(), filter.data(), nullptr};
  std::vector<char*> environment;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    environment.push_back(*variable);
  }
  environment.insert(environment.begin(), joined.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output_fd, 1);
  posix_spawn_file_actions_adddup2(&actions, output_fd, 2);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("the test program cannot be started again");
  return pid;
}

ChildResult run_child(const std::string& name, const std::vector<std::string>& words) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/output";
  const base::UniqueFd output(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ChildResult result;
  const pid_t pid = start_child(name, words, *output);
  while (::waitpid(pid, &result.status, 0) < 0 && errno == EINTR) {
  }
  result.output = read_file(path);
  return result;
}

std::vector<std::string> child_words() {
  const char* joined = std::getenv("COVE_TEST_CHILD");
  if (joined == nullptr) throw std::runtime_error("this case is run by others only");
  std::vector<std::string> words;
  std::istringstream stream(joined);
  for (std::string word; std::getline(stream, word, '\x1f');) words.push_back(word);
  return words;
}

}  // namespace cove::test
