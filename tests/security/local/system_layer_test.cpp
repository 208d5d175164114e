// What a hostile root of a writable system tries. Each case runs in a real sandbox and asserts the
// specific refusal.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cove/grants/writable_system.hpp>

#include "support/fixtures/local_fixture.hpp"
#include "support/skip.hpp"

using namespace cove;
using Catch::Contains;
using cove::test::LocalMachine;
namespace fs = std::filesystem;

namespace {

SandboxPolicy writable() {
  SandboxPolicy policy;
  policy.allow(grants::WritableSystem{});
  return policy;
}

/// A sandbox over the host's system; none, and said, where this machine cannot have one.
struct RootSandbox {
  LocalMachine machine;
  InstanceRef instance{machine.new_volume(), Epoch{1}};
  bool is_there = false;

  RootSandbox() {
    if (!cove::test::is_root()) {
      cove::test::skip("a writable system over the host's takes root");
      return;
    }
    machine.create(instance.volume).value();
    const auto started = machine.start(instance, writable());
    if (!started && started.error().code() == ErrorCode::kUnsupported) {
      cove::test::skip(started.error().message());
      return;
    }
    if (!started) FAIL(started.error().describe());
    is_there = true;
  }

  std::string output(const std::string& line) { return machine.output(instance, line); }
  ExecResult shell(const std::string& line) { return machine.shell(instance, line); }
};

std::string field(const std::string& status, const std::string& name) {
  const auto at = status.find(name + ":\t");
  if (at == std::string::npos) return "missing";
  const auto begin = at + name.size() + 2;
  return status.substr(begin, status.find('\n', begin) - begin);
}

/// Directories and files of the host below /usr for as long as a test runs.
class HostFiles {
 public:
  HostFiles() {
    fs::create_directory(top());
    fs::permissions(top(), fs::perms(0755));
  }
  ~HostFiles() {
    std::error_code ignored;
    fs::remove_all(top(), ignored);
  }
  HostFiles(const HostFiles&) = delete;
  HostFiles& operator=(const HostFiles&) = delete;

  std::string top() const { return "/usr/local/lib/cove-test-" + std::to_string(::getpid()); }

  std::string put(const std::string& name, mode_t mode, uid_t owner = 0, gid_t group = 0) {
    const std::string path = top() + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "host-secret";
    if (::chown(path.c_str(), owner, group) != 0 || ::chmod(path.c_str(), mode) != 0) {
      throw std::runtime_error("a file of the host cannot be made");
    }
    return path;
  }
};

}  // namespace

TEST_CASE("Writable system: commands are root with exactly what package managers need",
          "[security][local][system]") {
  RootSandbox sandbox;
  if (!sandbox.is_there) return;
  const std::string status = sandbox.output("cat /proc/self/status");
  for (const char* set : {"CapPrm", "CapEff", "CapBnd"}) {
    INFO(set);
    CHECK(field(status, set) == "00000000800400fb");
  }
  for (const char* set : {"CapInh", "CapAmb"}) CHECK(field(status, set) == "0000000000000000");
  CHECK(field(status, "Uid") == "0\t0\t0\t0");
  CHECK(field(status, "Groups") == " ");
  CHECK(field(status, "NoNewPrivs") == "1");
  CHECK(field(status, "Seccomp") == "2");
  // Outside it is an id of the volume's range, never the host's root.
  CHECK_THAT(sandbox.output("cat /proc/self/uid_map"), !Contains(" 0          0"));
}

TEST_CASE("Writable system: the host's secrets, people and state are not there for root either",
          "[security][local][system]") {
  RootSandbox sandbox;
  if (!sandbox.is_there) return;
  const std::string secret = "/var/tmp/cove-secret-" + std::to_string(::getpid());
  std::ofstream(secret) << "secret";
  const std::string ours = sandbox.machine.state_dir();
  for (const std::string& path :
       {secret, std::string("/etc/ssh/ssh_host_rsa_key"), std::string("/etc/ssl/private"),
        std::string("/root/.ssh"), std::string("/root/.bashrc"), ours, std::string("/var/lib/cove"),
        std::string("/var/lib/cove-uid-ranges"), std::string("/var/lib/docker"),
        std::string("/var/lib/postgresql/15"), std::string("/var/log/syslog"),
        std::string("/sys/kernel"), std::string("/var/run/docker.sock")}) {
    INFO(path);
    CHECK_THAT(sandbox.shell("ls -d " + path).err.text(), Contains("No such file"));
  }
  fs::remove(secret);
  CHECK(sandbox.output("ls -A /home") == "sandbox\n");
  CHECK(sandbox.output("ls -A /root/") == sandbox.output("ls -A /home/sandbox"));
  // Its own shadow, not the host's: every password is locked.
  CHECK(sandbox.output("grep -cv ':\\*:' /etc/shadow || true") == "0\n");
  std::ifstream host("/etc/passwd");
  for (std::string line; std::getline(host, line);) {
    const std::string name = line.substr(0, line.find(':'));
    std::istringstream fields(line);
    std::string skipped;
    std::string uid;
    std::getline(fields, skipped, ':');
    std::getline(fields, skipped, ':');
    std::getline(fields, uid, ':');
    if (uid.empty() || std::stoul(uid) < 1000 || std::stoul(uid) == 65534) continue;
    INFO(name);
    CHECK_FALSE(sandbox.shell("grep -q '^" + name + ":' /etc/passwd").succeeded());
  }
}

TEST_CASE("Writable system: what the world cannot read in the host's directories root cannot read",
          "[security][local][system]") {
  if (!cove::test::is_root()) {
    return cove::test::skip("a writable system over the host's takes root");
  }
  HostFiles host;
  host.put("before/key", 0600);
  RootSandbox sandbox;
  if (!sandbox.is_there) return;
  // Made when the sandbox runs: there is no placeholder over these, so the guard itself is asked.
  const std::string readable = host.put("readable", 0644);
  const std::vector<std::string> closed = {host.put("key", 0600), host.put("group", 0640, 0, 42),
                                           host.put("users", 0600, 1000, 1000),
                                           host.put("program", 0711), host.put("suid", 04750)};
  const std::string inner = host.put("closed/open", 0644);
  REQUIRE(::chmod((host.top() + "/closed").c_str(), 0700) == 0);

  CHECK(sandbox.output("cat " + readable) == "host-secret");
  for (const std::string& path : closed) {
    INFO(path);
    for (const char* way :
         {"cat %", "cp % /tmp/copy", "dd if=% bs=1", "chmod 644 %; cat %", "chown 1:1 %; cat %",
          "ln % /tmp/copy; cat /tmp/copy", "mv % %.moved; cat %.moved", "echo >> %; cat %",
          "tail -c 4 < %", "setcap cap_chown+ep %; cat %"}) {
      std::string line = way;
      for (auto at = line.find('%'); at != std::string::npos; at = line.find('%')) {
        line.replace(at, 1, path);
      }
      INFO(line);
      const ExecResult result = sandbox.shell(line);
      CHECK_THAT(result.out.text() + result.err.text(), !Contains("host-secret"));
    }
    CHECK_THAT(sandbox.shell("cat " + path).err.text(), Contains("Permission denied"));
  }
  CHECK_THAT(sandbox.shell("cat " + inner).err.text(), Contains("Permission denied"));
  CHECK_THAT(sandbox
                 .shell("mv " + host.top() + "/closed " + host.top() + "/opened; chmod 755 " +
                        host.top() + "/opened; cat " + host.top() + "/opened/open")
                 .out.text(),
             !Contains("host-secret"));
  // It had its placeholder: empty, and the sandbox's own.
  CHECK(sandbox.output("cat " + host.top() + "/before/key | wc -c") == "0\n");
}

TEST_CASE("Writable system: no file of the host that others may not read can be read by root",
          "[security][local][system]") {
  RootSandbox sandbox;
  if (!sandbox.is_there) return;
  // Every file of the allow-listed directories, as the host has it: empty placeholders inside.
  FILE* const list =
      ::popen("find /usr /var/lib/dpkg -xdev -type f ! -perm -o+r -size +0 2>/dev/null", "r");
  REQUIRE(list != nullptr);
  std::string paths;
  char piece[4096];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, list)) paths.append(piece, got);
  ::pclose(list);
  std::istringstream lines(paths);
  for (std::string path; std::getline(lines, path);) {
    INFO(path);
    CHECK(sandbox.shell("cat '" + path + "'").out.text().empty());
  }
}

TEST_CASE("Writable system: what root changes stays in the sandbox", "[security][local][system]") {
  if (!cove::test::is_root()) {
    return cove::test::skip("a writable system over the host's takes root");
  }
  HostFiles host;
  const std::string path = host.put("file", 0644);
  RootSandbox sandbox;
  if (!sandbox.is_there) return;
  sandbox.output("echo changed > " + path + " && rm -rf /usr/share/base-files && touch " +
                 host.top() + "/new /etc/new /var/lib/dpkg/new && chmod 4755 " + path);
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "host-secret");
  CHECK(fs::status(path).permissions() == fs::perms(0644));
  CHECK(fs::exists("/usr/share"));
  for (const std::string& made :
       {host.top() + "/new", std::string("/etc/new"), std::string("/var/lib/dpkg/new")}) {
    CHECK_FALSE(fs::exists(made));
  }
  // No device, and no program with its owner's rights, is one on these mounts.
  CHECK_THAT(sandbox.shell("mknod /usr/null c 1 3").err.text(), Contains("not permitted"));
  CHECK_THAT(sandbox.output("grep ' /usr ' /proc/self/mountinfo"),
             Contains("nosuid") && Contains("nodev"));
}

TEST_CASE("Writable system: the agent is out of root's reach", "[security][local][system]") {
  RootSandbox sandbox;
  if (!sandbox.is_there) return;
  for (const char* name : {"environ", "mem", "maps"}) {
    INFO(name);
    CHECK_THAT(sandbox.shell(std::string("cat /proc/1/") + name).err.text(),
               Contains("Permission denied"));
  }
  CHECK_THAT(sandbox.shell("ls /proc/1/fd").err.text(), Contains("Permission denied"));
  for (const char* line :
       {"prlimit --pid 1 --nofile=3", "chrt -p -i 0 1", "taskset -p 1 1", "renice -n 19 -p 1",
        "ionice -c 3 -p 1", "echo 1000 > /proc/1/oom_score_adj", "cp /bin/true /run/cove-agent",
        "rm /run/cove-agent", "umount /run/cove-agent", "mount -t tmpfs none /mnt",
        "unshare -U true"}) {
    INFO(line);
    CHECK_FALSE(sandbox.shell(line).succeeded());
  }
  sandbox.shell("kill -9 1; kill -STOP 1; kill -TERM 1; true");
  CHECK(sandbox.output("echo answers") == "answers\n");
}

TEST_CASE("Writable system: chroot is there, and leads nowhere else", "[security][local][system]") {
  RootSandbox sandbox;
  if (!sandbox.is_there) return;
  CHECK(sandbox.output("mkdir -p /opt/r && chroot / /bin/echo in") == "in\n");
  CHECK_THAT(sandbox.shell("cd / && chroot /proc/1/root /bin/true").err.text(),
             Contains("Permission denied"));
}
