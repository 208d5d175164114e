// Limits of one command, and how a sandbox's commands end with it.
#include <filesystem>

#include <catch2/catch.hpp>

#include "providers/local/instance/cgroups.hpp"
#include "support/fixtures/local_fixture.hpp"

using namespace cove;
using namespace std::chrono_literals;
using cove::test::eventually;
using cove::test::LocalMachine;

namespace {

ExecSpec line(const std::string& text) {
  ExecSpec spec;
  spec.shell_line = text;
  spec.kill_grace = 200ms;
  return spec;
}

/// Groups of single commands in the tests' part of this machine: directories below `commands`.
int command_groups() {
  int count = 0;
  const local::CgroupMounts mounts = local::cgroup_mounts().value();
  for (const auto& mount : {mounts.memory, mounts.pids}) {
    const auto top = std::filesystem::path(mount) / cove::test::kTestCgroups;
    std::error_code ended;  // a sandbox of another test may go meanwhile
    for (std::filesystem::recursive_directory_iterator at(top, ended), end; !ended && at != end;
         at.increment(ended)) {
      if (at->path().parent_path().filename() == "commands" && at->is_directory(ended)) ++count;
    }
  }
  return count;
}

struct Sandbox {
  Sandbox() : instance(machine.start_new()), guest(machine.connect(instance).value()) {}

  /// A group for a command needs the provider's groups, and their first version.
  bool has_groups() {
    return machine.provider->capabilities().limits && !run(probe()).usage.best_effort;
  }

  static ExecSpec probe() {
    ExecSpec spec = line("true");
    spec.limits.processes = 100;
    return spec;
  }

  ExecResult run(const ExecSpec& spec) {
    const CallContext call;
    return machine.wait(guest->run("", spec, call)).value();
  }

  LocalMachine machine;
  InstanceRef instance;
  std::shared_ptr<Guest> guest;
};

}  // namespace

TEST_CASE("Command: its own memory limit ends it as out of memory [pain-56]",
          "[security][local][any-user][pain-56]") {
  Sandbox sandbox;
  ExecSpec spec = line("python3 -c 'x = bytearray(200 << 20); print(len(x))'; echo $?");
  spec.limits.memory_bytes = 100 << 20;
  const ExecResult result = sandbox.run(spec);
  CHECK(result.out.head != "209715200\n0\n");
  if (sandbox.has_groups()) {
    spec = line("python3 -c 'x = bytearray(200 << 20); print(len(x))'");
    spec.limits.memory_bytes = 100 << 20;
    const ExecResult told = sandbox.run(spec);
    CHECK(std::holds_alternative<OutOfMemory>(told.outcome));
    CHECK_FALSE(told.usage.best_effort);
    CHECK(told.usage.peak_memory_bytes <= (100U << 20));
    CHECK(told.usage.peak_memory_bytes > (50U << 20));
  }
  CHECK(sandbox.run(line("echo works")).out.head == "works\n");
}

TEST_CASE("Command: its own limit of processes holds for its tree only",
          "[security][local][any-user]") {
  Sandbox sandbox;
  if (!sandbox.has_groups()) return;
  ExecSpec spec = line("for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; wait");
  spec.limits.processes = 5;
  spec.timeout = 1s;
  const ExecResult result = sandbox.run(spec);
  CHECK(result.err.text().find("fork") != std::string::npos);
  CHECK(sandbox.run(line("for i in 1 2 3 4 5 6 7 8 9; do true & done; wait; echo fine")).out.head ==
        "fine\n");
}

TEST_CASE("Command: a fork bomb in a group of its own is gone after its timeout [pain-40]",
          "[security][local][any-user][pain-40]") {
  Sandbox sandbox;
  ExecSpec spec = line(
      "python3 -c '\nimport os\nwhile True:\n  try:\n    if os.fork() == 0: os.setsid()\n"
      "  except OSError: pass\n'");
  spec.limits.processes = 50;
  spec.timeout = 500ms;
  const ExecResult result = sandbox.run(spec);
  CHECK(std::holds_alternative<TimedOut>(result.outcome));
  CHECK(sandbox.run(line("ls -d /proc/[0-9]* | wc -l; echo works")).out.head.ends_with("works\n"));
  const CallContext call;
  CHECK(eventually([&] {
    return sandbox.machine.wait(sandbox.guest->status(call)).value().running_commands == 0;
  }));
}

TEST_CASE("Command: a group goes with its command", "[security][local][any-user]") {
  Sandbox sandbox;
  if (!sandbox.has_groups()) return;
  for (int i = 0; i < 20; ++i) sandbox.run(Sandbox::probe());
  CHECK(eventually([] { return command_groups() == 0; }));
  REQUIRE(sandbox.machine.stop(sandbox.instance));
  CHECK(cove::test::leftovers(sandbox.machine) == std::vector<std::string>{});
}

TEST_CASE("Stop: commands get SIGTERM and their grace, and then all is gone",
          "[security][local][any-user]") {
  Sandbox sandbox;
  const CallContext call;
  ExecSpec polite =
      line("trap 'sleep 0.3; echo bye > /workspace/bye; exit 0' TERM; echo up; sleep 1000 & wait");
  polite.kill_grace = 8s;
  const auto info =
      sandbox.machine.wait(sandbox.guest->start_process("", polite, {}, call)).value();
  const ExecSpec stubborn = line("trap '' TERM; while :; do sleep 0.1; done");
  REQUIRE(sandbox.machine.wait(sandbox.guest->start_process("", stubborn, {}, call)));
  OutputRequest request;
  request.wait_for = 20s;
  REQUIRE(sandbox.machine.wait(sandbox.guest->process_output(info.id, request, call)));
  REQUIRE(sandbox.machine.stop(sandbox.instance));
  CHECK(cove::test::leftovers(sandbox.machine) == std::vector<std::string>{});
  const InstanceRef again{sandbox.instance.volume, next(sandbox.instance.epoch)};
  REQUIRE(sandbox.machine.start(again));
  CHECK(sandbox.machine.output(again, "cat /workspace/bye") == "bye\n");
}

TEST_CASE("Stop: a command inside cannot ask the agent to end", "[security][local][any-user]") {
  Sandbox sandbox;
  sandbox.run(line("kill -TERM 1"));
  CHECK(sandbox.run(line("echo works")).out.head == "works\n");
  const CallContext call;
  CHECK(sandbox.machine.wait(sandbox.guest->status(call)));
}

TEST_CASE("Terminal: a sandbox has one to give", "[security][local][any-user]") {
  Sandbox sandbox;
  ExecSpec spec = line("tty && stty size");
  spec.terminal = TerminalSize{33, 44};
  const ExecResult result = sandbox.run(spec);
  CHECK(result.out.head.find("33 44") != std::string::npos);
  CHECK(result.succeeded());
}
