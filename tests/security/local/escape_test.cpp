// What a hostile program inside tries. Each case runs in a real sandbox and asserts the specific
// refusal; those tagged [any-user] hold whoever the host is.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fixtures/local_fixture.hpp"
#include "support/skip.hpp"

using namespace cove;
using Catch::Contains;
using cove::test::LocalMachine;
namespace fs = std::filesystem;

namespace {

/// One sandbox for the cases of this file that only look: starting one each would say no more.
struct Sandbox {
  LocalMachine machine;
  InstanceRef instance = machine.start_new();

  std::string output(const std::string& line) { return machine.output(instance, line); }
  ExecResult shell(const std::string& line) { return machine.shell(instance, line); }

  /// Compiled and run inside would need a compiler there: Python makes the calls by number.
  std::string python(const std::string& program) {
    return output(
        "python3 - <<'END'\nimport ctypes, os, errno\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*arguments):\n"
        "  ctypes.set_errno(0)\n"
        "  result = libc.syscall(*arguments)\n"
        "  return errno.errorcode.get(ctypes.get_errno(), 'OK') if result == -1 else 'OK'\n" +
        program + "\nEND");
  }
};

std::string field(const std::string& status, const std::string& name) {
  const auto at = status.find(name + ":\t");
  if (at == std::string::npos) return "missing";
  const auto begin = at + name.size() + 2;
  return status.substr(begin, status.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("Sandbox: commands have no capability, no privileges to gain, and the sandbox's ids",
          "[security][local][any-user]") {
  Sandbox sandbox;
  const std::string status = sandbox.output("cat /proc/self/status");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    CHECK(field(status, set) == "0000000000000000");
  }
  CHECK(field(status, "NoNewPrivs") == "1");
  CHECK(field(status, "Seccomp") == "2");
  CHECK(field(status, "Uid") == "1000\t1000\t1000\t1000");
  CHECK(field(status, "Gid") == "1000\t1000\t1000\t1000");
  if (cove::test::is_root()) {
    CHECK(field(status, "CapBnd") == "0000000000000000");
    CHECK(field(status, "Groups") == " ");
  }
}

TEST_CASE("Sandbox: the host's files are not there", "[security][local][any-user]") {
  Sandbox sandbox;
  const std::string secret = "/var/tmp/cove-secret-" + std::to_string(::getpid());
  std::ofstream(secret) << "secret";
  for (const std::string& path :
       {std::string("/etc/shadow"), std::string("/etc/gshadow"), std::string("/root/.bashrc"),
        std::string("/etc/ssh"), std::string("/var/lib/dpkg"), sandbox.machine.state_dir(), secret,
        std::string("/sys/kernel"), std::string("/var/run/docker.sock")}) {
    INFO(path);
    CHECK_THAT(sandbox.shell("ls -d " + path).err.text(), Contains("No such file"));
  }
  CHECK(sandbox.output("ls /") ==
        sandbox.output("ls -d /bin /dev /etc /home /lib* /proc /run /sbin /tmp /usr /var "
                       "/workspace | sed s,^/,,"));
  CHECK(sandbox.output("ls -A /home /run") == "/home:\nsandbox\n\n/run:\ncove-agent\n");
  fs::remove(secret);
}

TEST_CASE("Sandbox: only the volume, /tmp and /dev/shm can be written",
          "[security][local][any-user]") {
  Sandbox sandbox;
  for (const char* path : {"/x", "/usr/x", "/etc/x", "/run/x", "/var/x", "/home/x", "/dev/x"}) {
    INFO(path);
    CHECK_THAT(sandbox.shell(std::string("echo x > ") + path).err.text(),
               Contains("Read-only file system") || Contains("Permission denied"));
  }
  CHECK(sandbox.output("for d in /workspace /home/sandbox /tmp /dev/shm /var/tmp; do "
                       "echo x > $d/x && rm $d/x; done; stat -c %a /tmp") == "1777\n");
  CHECK_THAT(sandbox.shell("cp /bin/true /run/cove-agent").err.text(), Contains("cannot create"));
}

TEST_CASE("Sandbox: the host's environment and open files do not come in [pain-80]",
          "[security][local][any-user][pain-80]") {
  ::setenv("COVE_TEST_SECRET", "of-the-host", 1);
  int leak = ::open("/etc/passwd", O_RDONLY);  // not close-on-exec, as many hosts' are
  REQUIRE(leak >= 0);
  Sandbox sandbox;
  CHECK_THAT(sandbox.output("cat /proc/self/environ | tr '\\0' '\\n'"),
             !Contains("COVE_TEST_SECRET") && Contains("HOME=/home/sandbox"));
  // 3 is ls's own.
  CHECK(sandbox.output("ls /proc/self/fd") == "0\n1\n2\n3\n");
  ::close(leak);
  ::unsetenv("COVE_TEST_SECRET");
}

TEST_CASE("Sandbox: the agent cannot be looked into, traced or ended",
          "[security][local][any-user]") {
  Sandbox sandbox;
  CHECK(sandbox.output("cat /proc/1/comm") == "cove-agent\n");
  for (const char* name : {"environ", "mem", "maps"}) {
    INFO(name);
    CHECK_THAT(sandbox.shell(std::string("cat /proc/1/") + name).err.text(),
               Contains("Permission denied"));
  }
  CHECK_THAT(sandbox.shell("ls /proc/1/fd").err.text(), Contains("Permission denied"));
  CHECK_THAT(sandbox.shell("ls -l /proc/1/root").err.text(), Contains("Permission denied"));
  sandbox.shell("kill -9 1; kill -STOP 1; kill -TERM 1; kill -SEGV 1; true");
  CHECK(sandbox.output("echo answers") == "answers\n");
}

TEST_CASE("Sandbox: forbidden system calls fail with EPERM", "[security][local][any-user]") {
  Sandbox sandbox;
  // Numbers of x86_64; on arm64 the same names have others, so the program looks there.
  const std::string said = sandbox.python(R"(
import platform
x86 = platform.machine() == 'x86_64'
numbers = {
  'ptrace': (101, 117), 'mount': (165, 40), 'umount2': (166, 39), 'pivot_root': (155, 41),
  'unshare': (272, 97), 'setns': (308, 268), 'keyctl': (250, 219), 'add_key': (248, 217),
  'request_key': (249, 218), 'bpf': (321, 280), 'perf_event_open': (298, 241),
  'userfaultfd': (323, 282), 'io_uring_setup': (425, 425), 'open_tree': (428, 428),
  'move_mount': (429, 429), 'fsopen': (430, 430), 'fsmount': (432, 432),
  'mount_setattr': (442, 442), 'open_tree_attr': (467, 467), 'process_vm_readv': (310, 270),
  'process_vm_writev': (311, 271), 'pidfd_getfd': (438, 438), 'kcmp': (312, 272),
  'kexec_load': (246, 104), 'init_module': (175, 105), 'finit_module': (313, 273),
  'delete_module': (176, 106), 'swapon': (167, 224), 'reboot': (169, 142),
  'quotactl': (179, 60), 'name_to_handle_at': (303, 264), 'open_by_handle_at': (304, 265),
  'chroot': (161, 51), 'fanotify_init': (300, 262), 'settimeofday': (164, 170)}
for name, pair in numbers.items():
  got = call(pair[0] if x86 else pair[1], 0, 0, 0, 0, 0)
  if got != 'EPERM': print(name, got)
print('clone3', call(435, 0, 0))
for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
  got = call(56 if x86 else 220, flag | 17, 0, 0, 0, 0)
  if got != 'EPERM': print('clone', hex(flag), got)
print('personality', call(135 if x86 else 92, 0x0040000))
)");
  CHECK(said == "clone3 ENOSYS\npersonality EPERM\n");
}

TEST_CASE("Sandbox: terminals and exotic sockets are refused, also by arguments over 32 bits",
          "[security][local][any-user]") {
  Sandbox sandbox;
  const std::string said = sandbox.python(R"(
import platform
x86 = platform.machine() == 'x86_64'
ioctl, socket = (16, 41) if x86 else (29, 198)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
c = ctypes.c_long
for number in (TIOCSTI, TIOCLINUX):
  print(call(ioctl, c(0), c(number), c(0)), call(ioctl, c(0), c(number | 1 << 32), c(0)))
AF_UNIX, AF_INET, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK = 1, 2, 16, 17, 38, 40
for family in (AF_PACKET, AF_ALG, AF_VSOCK):
  print(call(socket, c(family), c(3), c(0)), call(socket, c(family | 1 << 32), c(3), c(0)))
print(call(socket, c(AF_NETLINK), c(3), c(9)), call(socket, c(AF_NETLINK), c(3), c(0)))
print(call(socket, c(AF_UNIX), c(1), c(0)), call(socket, c(AF_INET), c(1), c(0)))
)");
  CHECK(said ==
        "EPERM EPERM\nEPERM EPERM\n"
        "EPERM EPERM\nEPERM EPERM\nEPERM EPERM\n"
        "EPERM OK\nOK OK\n");
}

#if defined(__x86_64__)
TEST_CASE("Sandbox: system calls of the 32-bit ABI end the process",
          "[security][local][any-user]") {
  Sandbox sandbox;
  // mov eax, 20 (getpid); int 0x80; ret
  const ExecResult result = sandbox.shell(R"(python3 - <<'END'
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3')
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
print('ran', ctypes.CFUNCTYPE(ctypes.c_int)(address)())
END)");
  CHECK(result.shell_code() == 128 + SIGSYS);
  CHECK(result.out.text().empty());
}
#endif

TEST_CASE("Sandbox: no network but its own loopback", "[security][local][any-user]") {
  Sandbox sandbox;
  CHECK(sandbox.output("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '") == "lo\n");
  CHECK(sandbox.output("python3 - <<'END'\n"
                       "import socket\n"
                       "server = socket.create_server(('127.0.0.1', 0))\n"
                       "client = socket.create_connection(server.getsockname(), 5)\n"
                       "print('loopback works')\n"
                       "other = socket.socket(); other.settimeout(5)\n"
                       "try: other.connect(('192.0.2.1', 80))\n"
                       "except OSError as e: print(e.strerror)\n"
                       "END") == "loopback works\nNetwork is unreachable\n");
}

TEST_CASE("Sandbox: setuid programs and device files give nothing", "[security][local][any-user]") {
  Sandbox sandbox;
  CHECK(sandbox.output("cp /usr/bin/id /workspace/id && chmod 6755 /workspace/id && "
                       "/workspace/id -u") == "1000\n");
  CHECK_THAT(sandbox.output("grep -E ' /(workspace|usr|tmp|home/sandbox) ' /proc/self/mounts | "
                            "grep -vc nosuid || true"),
             Contains("0"));
  CHECK_THAT(sandbox.shell("mknod /workspace/disk b 8 0").err.text(),
             Contains("Operation not permitted"));
  CHECK_THAT(sandbox.shell("mknod /tmp/null c 1 3").err.text(),
             Contains("Operation not permitted"));
  // A whole file system tree of setuid programs is in /usr: none raises anything.
  CHECK_THAT(sandbox.shell("su -c id < /dev/null").err.text() +
                 sandbox.shell("su -c id < /dev/null").out.text(),
             !Contains("uid=0"));
}

TEST_CASE("Sandbox: another user's volume and the other generations are out of reach",
          "[security][local][any-user]") {
  LocalMachine machine;
  const InstanceRef mine = machine.start_new();
  const InstanceRef theirs = machine.start_new();
  machine.output(theirs, "echo private > only-theirs");
  CHECK(machine.output(mine, "find / -name only-theirs 2>/dev/null; echo done") == "done\n");
  CHECK_THAT(machine.shell(mine, "ls " + machine.path_of(theirs.volume)).err.text(),
             Contains("No such file"));
  // Processes of the host and of others are not there either.
  CHECK(machine.output(mine, "ls /proc | grep -c '^[0-9]' ").find_first_not_of("0123456789\n") ==
        std::string::npos);
  CHECK(machine.output(mine, "cat /proc/*/comm | sort -u | grep -c bwrap || true") == "0\n");
}

TEST_CASE("Sandbox: volumes belong to host uids of their own", "[security][local]") {
  if (!cove::test::is_root()) return cove::test::skip("an ordinary user has one uid only");
  LocalMachine machine;
  const InstanceRef one = machine.start_new();
  const InstanceRef two = machine.start_new();
  const auto owner_of = [&](const InstanceRef& instance) {
    machine.output(instance, "touch owned");
    struct stat info{};
    REQUIRE(::stat((machine.path_of(instance.volume) + "/workspace/owned").c_str(), &info) == 0);
    return info.st_uid;
  };
  CHECK(owner_of(one) != owner_of(two));
  CHECK(owner_of(one) % 65536 == 1000);
  // The agent itself is neither root outside nor the commands' user.
  const auto status = [&] {
    std::ifstream file("/proc/" + std::to_string(cove::test::processes_of(machine, one).agent) +
                       "/status");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  CHECK_THAT(field(status, "Uid"), Contains(std::to_string(owner_of(one) - 1000)));
}
