// The parts that make a sandbox: command line, system view, seccomp, cgroups, records, processes.
#include <algorithm>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "providers/local/instance/cgroups.hpp"
#include "providers/local/instance/instance_record.hpp"
#include "providers/local/sandbox/bubblewrap_command.hpp"
#include "providers/local/sandbox/seccomp_filter.hpp"
#include "providers/local/sandbox/system_view.hpp"
#include "support/fixtures/agent_fixture.hpp"

using namespace cove;
using namespace cove::local;
namespace fs = std::filesystem;

namespace {

SandboxSpec example_spec() {
  SandboxSpec spec;
  spec.bubblewrap = "/usr/bin/bwrap";
  spec.seccomp_fd = 7;
  spec.boot_fd = 8;
  spec.workspace = "/state/w";
  spec.home = "/state/h";
  spec.agent = "/state/a";
  spec.etc = "/state/e";
  return spec;
}

bool has(const std::vector<std::string>& command, const std::vector<std::string>& words) {
  return std::search(command.begin(), command.end(), words.begin(), words.end()) != command.end();
}

}  // namespace

TEST_CASE("bubblewrap command: unshares everything and drops every capability", "[unit][local]") {
  const auto command = bubblewrap_command(example_spec());
  for (const char* option : {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
                             "--unshare-net", "--unshare-cgroup-try", "--new-session"}) {
    CHECK(has(command, {option}));
  }
  CHECK(has(command, {"--cap-drop", "ALL"}));
  CHECK_FALSE(has(command, {"--cap-add"}));
  CHECK_FALSE(has(command, {"--die-with-parent"}));
  CHECK(has(command, {"--uid", "1000", "--gid", "1000"}));
  CHECK(has(command, {"--seccomp", "7"}));
  CHECK(has(command, {"--", kAgentPath, "guest", "8"}));
}

TEST_CASE("bubblewrap command: in a uid range only the agent's own capabilities are kept",
          "[unit][local]") {
  SandboxSpec spec = example_spec();
  spec.user_namespace_fd = 9;
  const auto command = bubblewrap_command(spec);
  CHECK(has(command, {"--userns", "9", "--uid", "0", "--gid", "0"}));
  CHECK_FALSE(has(command, {"--unshare-user"}));
  CHECK(std::count(command.begin(), command.end(), "--cap-add") == 4);
}

TEST_CASE("bubblewrap command: the host's network comes by a grant only", "[unit][local]") {
  SandboxSpec spec = example_spec();
  spec.host_network = true;
  const auto command = bubblewrap_command(spec);
  CHECK_FALSE(has(command, {"--unshare-net"}));
  CHECK(has(command, {"--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"}));
  CHECK_FALSE(has(bubblewrap_command(example_spec()), {"/etc/resolv.conf"}));
}

TEST_CASE("System view: the host's has no directory of people, services or secrets",
          "[unit][local]") {
  const SystemView view = host_system_view().value();
  for (const SystemEntry& entry : view.entries) {
    for (const char* never : {"/root", "/home", "/etc", "/var", "/run", "/srv", "/opt", "/boot"}) {
      CHECK(entry.destination != never);
    }
  }
  CHECK(view.entries.front().destination == "/usr");
}

TEST_CASE("System view: a root tree gives its own directories and nothing of the host's",
          "[unit][local]") {
  const cove::test::TemporaryDirectory tree;
  const base::UniqueFd at(::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(tree_system_view(*at, "/stage/tree").error().code() == ErrorCode::kInvalidArgument);
  for (const char* name : {"usr", "etc", "proc", "tmp", "home", "opt"}) {
    fs::create_directory(tree.path() + "/" + name);
  }
  fs::create_directory_symlink("usr/bin", tree.path() + "/bin");
  const SystemView view = tree_system_view(*at, "/stage/tree").value();
  using Kind = SystemEntry::Kind;
  const std::vector<SystemEntry> expected = {{Kind::kSymlink, "usr/bin", "/bin"},
                                             {Kind::kBind, "/stage/tree/etc", "/etc"},
                                             {Kind::kBind, "/stage/tree/opt", "/opt"},
                                             {Kind::kBind, "/stage/tree/usr", "/usr"}};
  CHECK(view.entries == expected);
  CHECK(view.own_etc);
  CHECK_FALSE(view.has_passwd);
}

TEST_CASE("seccomp filter: is a program of whole instructions, larger where the uid is shared",
          "[unit][local]") {
  const auto own = seccomp_program(AgentUid::kOwn).value();
  const auto shared = seccomp_program(AgentUid::kShared).value();
  CHECK(own.size() % 8 == 0);
  CHECK(own.size() < shared.size());
  CHECK(shared.size() / 8 < 4096);  // the kernel's limit
}

TEST_CASE("Cgroup mounts: are read of both versions", "[unit][local]") {
  const CgroupMounts v1 = parse_cgroup_mounts(
      "31 23 0:28 / /sys/fs/cgroup rw shared:9 - tmpfs tmpfs rw,mode=755\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
      "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n");
  CHECK(v1 == CgroupMounts{"/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids",
                           "/sys/fs/cgroup/cpu,cpuacct", ""});
  const CgroupMounts v2 = parse_cgroup_mounts(
      "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\nnonsense\n");
  CHECK(v2 == CgroupMounts{"", "", "", "/sys/fs/cgroup"});
}

TEST_CASE("Cgroups: where none is mounted the obstacle is said", "[unit][local]") {
  const Cgroups none = Cgroups::open({}, "cove").value();
  CHECK_FALSE(none.limits());
  CHECK_THAT(none.obstacle(), Catch::Contains("no cgroup hierarchy"));
  const cove::test::TemporaryDirectory plain;
  const Cgroups no_controllers = Cgroups::open({"", "", "", plain.path()}, "cove").value();
  CHECK_FALSE(no_controllers.limits());
  CHECK_FALSE(no_controllers.obstacle().empty());
}

TEST_CASE("Instance record: comes back with what the launcher adds", "[unit][local]") {
  const InstanceRecord record{{{DeploymentId("d"), SandboxId("s"), Generation("g")}, Epoch{7}},
                              "d-s-7",
                              {"boot", 42},
                              0,
                              0};
  const std::string text = record_prefix(record) + "\"pid\":123,\"start_time\":456}";
  const InstanceRecord read = parse_instance_record(text).value();
  CHECK(read.instance == record.instance);
  CHECK(read.cgroup == "d-s-7");
  CHECK(read.space == record.space);
  CHECK(read.pid == 123);
  CHECK(read.start_time == 456);
  for (const std::string& bad : {std::string(), record_prefix(record), std::string("{}"),
                                 record_prefix(record) + "\"pid\":99999999999,\"start_time\":1}"}) {
    CHECK(parse_instance_record(bad).error().code() == ErrorCode::kIntegrity);
  }
}

TEST_CASE("Process: a recycled pid is not taken for the one that was recorded", "[unit][local]") {
  const auto facts = facts_of(::getpid()).value();
  REQUIRE(facts);
  CHECK(Process::find(::getpid(), facts->start_time).value());
  CHECK_FALSE(Process::find(::getpid(), facts->start_time + 1).value());
  CHECK_FALSE(Process::find(0, 0).value());
  CHECK_FALSE(Process::find(1, facts_of(1).value()->start_time).value());
  const PidSpace here = this_pid_space().value();
  InstanceRecord record{{}, "", here, ::getpid(), facts->start_time};
  CHECK(find_process(record, here).value());
  record.space.boot_id = "another boot";
  CHECK_FALSE(find_process(record, here).value());
}
