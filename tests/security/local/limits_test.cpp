// Limits, and what a sandbox leaves in its volume for the host to stumble over.
#include <filesystem>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/beneath.hpp"
#include "support/fixtures/local_fixture.hpp"

using namespace cove;
using cove::test::LocalMachine;
namespace fs = std::filesystem;

namespace {

SandboxPolicy small_policy() {
  SandboxPolicy policy;
  policy.limits.memory_bytes = 128 << 20;
  policy.limits.processes = 64;
  return policy;
}

}  // namespace

TEST_CASE("Sandbox: a memory hog is ended and the next command works",
          "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new(small_policy());
  const ExecResult result =
      machine.shell(instance, "exec python3 -c 'x = bytearray(512 << 20); print(len(x))'");
  CHECK_FALSE(result.succeeded());
  if (machine.provider->capabilities().limits) {
    CHECK(std::holds_alternative<OutOfMemory>(result.outcome));
  }
  CHECK(machine.output(instance, "echo works") == "works\n");
}

TEST_CASE("Sandbox: a fork bomb ends at its limit, the next command works, a stop ends it",
          "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new(small_policy());
  const ExecResult result =
      machine.shell(instance,
                    "python3 - <<'END'\nimport os, time\ncount = 0\ntry:\n  while count < 500:\n"
                    "    if os.fork() == 0: time.sleep(1000)\n    count += 1\n"
                    "except OSError as e: print(e.strerror, count < 64)\nEND");
  CHECK(result.out.text() == "Resource temporarily unavailable True\n");
  CHECK(machine.output(instance, "echo works") == "works\n");
  const auto guest = machine.connect(instance).value();
  const CallContext call;
  CHECK(machine.wait(guest->status(call)));
  REQUIRE(machine.stop(instance));
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Sandbox: /tmp has a bound", "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new(small_policy());
  const std::string size = machine.output(instance, "df -k --output=size /tmp | tail -1");
  CHECK(std::stoul(size) == (32 << 10));
}

TEST_CASE("Volume: links that a sandbox leaves do not lead the host out",
          "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  machine.output(instance,
                 "ln -s /etc/passwd absolute; ln -s ../marker up; mkdir d; ln -s / d/root; "
                 "mkfifo pipe; echo fine > file");
  REQUIRE(machine.stop(instance));
  const CallContext call;
  const auto opened =
      machine.wait(machine.provider->open_volume(instance.volume, VolumeAccess::kRead, call))
          .value();
  const auto refused = [&](const char* path) {
    return base::open_in_volume(opened->workspace(), path, O_RDONLY).error_number;
  };
  CHECK(refused("absolute") == ELOOP);
  CHECK(refused("up") == ELOOP);
  CHECK(refused("d/root/etc/passwd") == ELOOP);
  CHECK(refused("../marker") == EXDEV);
  CHECK(refused("pipe") == 0);  // opens without waiting; its type is the caller's to check
  CHECK(refused("file") == 0);
}

TEST_CASE("Volume: whatever a sandbox leaves can be deleted", "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  machine.output(instance, R"(python3 - <<'END'
import os
for i in range(2000):
  os.mkdir('deep'); os.chdir('deep')
os.chdir('/workspace')
os.makedirs('closed/inner'); open('closed/inner/file', 'w').close()
os.chmod('closed/inner', 0); os.chmod('closed', 0)
os.symlink('/etc', 'link'); os.mkfifo('pipe')
open(b'\xff\xfe name', 'w').close()
for i in range(3000): open(f'f{i}', 'w').close()
os.chmod('/workspace', 0)
END)");
  REQUIRE(machine.stop(instance));
  REQUIRE(machine.remove(instance.volume));
  CHECK_FALSE(fs::exists(machine.path_of(instance.volume)));
  CHECK(fs::exists("/etc/passwd"));
}

TEST_CASE("Volume: a workspace whose root was closed can still be opened and started",
          "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  machine.output(instance, "echo kept > note; chmod 000 /workspace");
  REQUIRE(machine.stop(instance));
  const CallContext call;
  REQUIRE(machine.wait(machine.provider->open_volume(instance.volume, VolumeAccess::kRead, call)));
  CHECK(machine.start({instance.volume, Epoch{2}}));
}

TEST_CASE("Sandbox: a workspace that a command closed is opened again by the next call",
          "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  const auto guest = machine.connect(instance).value();
  const CallContext call;
  const auto close_it = [&] { machine.output(instance, "echo kept > note; chmod 000 /workspace"); };
  close_it();
  CHECK(machine.wait(guest->sync(call)));
  CHECK(machine.output(instance, "stat -c %a .; cat note") == "700\nkept\n");
  close_it();
  CHECK(machine.output(instance, "cat note") == "kept\n");
  close_it();
  CHECK(machine.wait(guest->list({"", ""}, {}, call)).value().entries.size() == 1);
  close_it();
  CHECK(machine.wait(guest->make_directory({"", "made/below"}, call)));
  close_it();
  CHECK(machine.wait(guest->stat({"", "note"}, call)).value().size == 5);
  // Only the workspace itself: what else a command closed stays as it is.
  machine.output(instance, "mkdir shut; chmod 000 shut");
  CHECK(machine.wait(guest->stat({"", "shut/file"}, call)).error().code() ==
        ErrorCode::kPermissionDenied);
  close_it();
  REQUIRE(machine.stop(instance));
  CHECK(machine.wait(machine.provider->open_volume(instance.volume, VolumeAccess::kRead, call)));
}

TEST_CASE("Sandbox: a command that stops every process it may does not outlive its timeout",
          "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  const auto guest = machine.connect(instance).value();
  const CallContext call{.deadline = machine.clock.now() + std::chrono::seconds(60)};
  // An ordinary user's commands may signal what watches over them.
  CHECK(machine.output(instance, "kill -STOP -1; echo done") == "done\n");
  const ExecSpec spec{.shell_line = "kill -STOP -1; kill -STOP $$",
                      .timeout = std::chrono::milliseconds(300),
                      .kill_grace = std::chrono::milliseconds(50)};
  const auto result = machine.wait(guest->run("", spec, call));
  REQUIRE(result);
  CHECK(std::holds_alternative<TimedOut>(result->outcome));
  const ExecSpec endless{.shell_line = "kill -STOP -1; kill -STOP $$"};
  const auto process = machine.wait(guest->start("", endless, false, call));
  REQUIRE(process);
  REQUIRE(machine.stop(instance, call));
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}
