// The parts that make a writable system layer: accounts, bases, what is covered, owners, ids.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/local/layer/accounts.hpp"
#include "providers/local/layer/ownership.hpp"
#include "providers/local/layer/subordinate_ids.hpp"
#include "providers/local/layer/system_base.hpp"
#include "providers/local/layer/unreadable_entries.hpp"
#include "providers/local/machine_facts.hpp"
#include "providers/local/sandbox/bubblewrap_command.hpp"
#include "providers/local/sandbox/root_capabilities.hpp"
#include "providers/local/sandbox/seccomp_filter.hpp"
#include "support/fixtures/agent_fixture.hpp"
#include "support/skip.hpp"

using namespace cove;
using namespace cove::local;
using Catch::Contains;
using cove::test::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

base::UniqueFd open_at(const std::string& path) {
  return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool has(const std::vector<std::string>& command, const std::vector<std::string>& words) {
  return std::search(command.begin(), command.end(), words.begin(), words.end()) != command.end();
}

std::ptrdiff_t count(const std::vector<std::string>& command, const char* word) {
  return std::count(command.begin(), command.end(), word);
}

SandboxSpec root_spec() {
  SandboxSpec spec;
  spec.bubblewrap = "/usr/bin/bwrap";
  spec.is_root = true;
  spec.system.own_etc = true;
  spec.system.entries = {{SystemEntry::Kind::kOwn, "/tmp/usr", "/usr"},
                         {SystemEntry::Kind::kEmpty, "", "/mnt"}};
  return spec;
}

/// What a call on a file that is not there ends with under a seccomp program.
int errno_under(const std::string& program, long call) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::vector<sock_filter> filter(program.size() / sizeof(sock_filter));
    std::memcpy(filter.data(), program.data(), program.size());
    const sock_fprog loaded{static_cast<unsigned short>(filter.size()), filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(255);
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &loaded) != 0) ::_exit(255);
    ::_exit(::syscall(call, "/not/there", "/not/there", 0, 0, 0) == 0 ? 0 : errno);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

void write(const std::string& path, fs::perms mode) {
  std::ofstream(path) << "text";
  fs::permissions(path, mode);
}

}  // namespace

TEST_CASE("bubblewrap command: root of its own system has what package managers need, no more",
          "[unit][local]") {
  SandboxSpec spec = root_spec();
  spec.user_namespace_fd = 64;
  const auto command = bubblewrap_command(spec);
  CHECK(has(command, {"--cap-drop", "ALL"}));
  CHECK(count(command, "--cap-add") == 10);  // those of commands, and SETPCAP to drop the others
  for (const char* kept :
       {"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETUID", "CAP_SETGID",
        "CAP_SETFCAP", "CAP_SYS_CHROOT", "CAP_KILL"}) {
    INFO(kept);
    CHECK(has(command, {"--cap-add", kept}));
  }
  CHECK(has(command, {"--bind", "/tmp/usr", "/usr"}));
  CHECK(has(command, {"--perms", "0755", "--dir", "/mnt"}));
  CHECK(has(command, {"--tmpfs", "/run"}));
  CHECK(has(command, {"--remount-ro", "/"}));
  CHECK_FALSE(has(command, {"--ro-bind", "/passwd", "/etc/passwd"}));
}

TEST_CASE("bubblewrap command: started as root of the namespace it makes none and names no ids",
          "[unit][local]") {
  SandboxSpec spec = root_spec();
  spec.in_user_namespace = true;
  const auto command = bubblewrap_command(spec);
  for (const char* word : {"--unshare-user", "--userns", "--uid", "--gid"}) {
    CHECK(count(command, word) == 0);
  }
  CHECK(has(command, {"--unshare-pid"}));
  CHECK(count(command, "--cap-add") == 10);
}

TEST_CASE("Root's capabilities: are the nine, as the agent reads them", "[unit][local]") {
  CHECK(root_capability_mask() == 0x8004'00fbULL);
}

TEST_CASE("seccomp filter: chroot alone comes back where commands are root", "[unit][local]") {
  const auto none = seccomp_program(AgentUid::kShared).value();
  const auto own = seccomp_program(AgentUid::kShared, SystemRoot::kOwn).value();
  CHECK(errno_under(none, SYS_chroot) == EPERM);
  CHECK(errno_under(own, SYS_chroot) == ENOENT);
  for (const long call : {SYS_mount, SYS_umount2, SYS_pivot_root, SYS_init_module}) {
    INFO(call);
    CHECK(errno_under(own, call) == errno_under(none, call));
    CHECK(errno_under(own, call) != ENOENT);
  }
}

TEST_CASE("System accounts: are the host's without its people, passwords and members",
          "[unit][local]") {
  const Accounts accounts = system_accounts(
      "root:$6$secret:0:0:The Admin,Room 5:/root:/bin/zsh\n"
      "messagebus:x:101:102:Bus,,,:/nonexistent:/usr/sbin/nologin\n"
      "ana:x:1001:1001:Ana Example:/home/ana:/bin/bash\n"
      "toor:x:0:0::/root:/bin/sh\n"
      "broken:x:12\nbad name:x:13:13::/:/bin/sh\nnobody:x:65534:65534:nobody:/x:/bin/false\n",
      "root:x:0:\nsudo:x:27:ana\nmessagebus:x:102:\nana:x:1001:\n");
  CHECK(accounts.passwd ==
        "root:x:0:0:root:/home/sandbox:/bin/sh\n"
        "sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/sh\n"
        "messagebus:x:101:102::/nonexistent:/usr/sbin/nologin\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        "_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n");
  CHECK(accounts.group ==
        "root:x:0:\nsandbox:x:1000:\nsudo:x:27:\nmessagebus:x:102:\nnogroup:x:65534:\n");
  CHECK_THAT(accounts.shadow, Contains("root:*:") && !Contains("secret") && !Contains("ana"));
  CHECK(std::count(accounts.shadow.begin(), accounts.shadow.end(), '\n') == 5);
  CHECK_THAT(accounts.gshadow, Contains("sudo:*::\n"));
}

TEST_CASE("System base: the host's is guarded, and without people, services and state",
          "[unit][local]") {
  const SystemBase base = host_system_base().value();
  CHECK(base.identity == "host");
  REQUIRE_FALSE(base.overlaid.empty());
  CHECK(base.overlaid.front().destination == "/usr");
  for (const OverlaidDirectory& directory : base.overlaid) {
    INFO(directory.destination);
    CHECK(directory.is_guarded);
    CHECK((directory.destination == "/var/lib/dpkg" ||
           directory.destination.find('/', 1) == std::string::npos));
    for (const char* never : {"/root", "/home", "/etc", "/var", "/run", "/srv", "/opt", "/boot"}) {
      CHECK(directory.destination != never);
    }
  }
  CHECK(base.made == std::vector<std::string>{"etc", "opt", "srv", "var"});
}

TEST_CASE("System base: of a tree every directory is the sandbox's, but never the host's root",
          "[unit][local]") {
  const base::UniqueFd root = open_at("/");
  CHECK(tree_system_base(*root, "/").error().code() == ErrorCode::kInvalidArgument);

  const TemporaryDirectory tree;
  for (const char* name : {"usr", "etc", "var", "proc", "root", "mnt"}) {
    fs::create_directory(tree.path() + "/" + name);
  }
  fs::create_directory_symlink("usr/bin", tree.path() + "/bin");
  const base::UniqueFd at = open_at(tree.path());
  const SystemBase base = tree_system_base(*at, "/trees/a").value();
  CHECK(base.identity == "tree /trees/a");
  std::vector<std::string> overlaid;
  for (const OverlaidDirectory& directory : base.overlaid) {
    CHECK_FALSE(directory.is_guarded);
    overlaid.push_back(directory.destination);
  }
  CHECK(overlaid == std::vector<std::string>{"/etc", "/mnt", "/usr", "/var"});
  CHECK(base.made.empty());
  using Kind = SystemEntry::Kind;
  const std::vector<SystemEntry> others = {{Kind::kSymlink, "usr/bin", "/bin"},
                                           {Kind::kSymlink, "/home/sandbox", "/root"},
                                           {Kind::kEmpty, "", "/boot"},
                                           {Kind::kEmpty, "", "/media"},
                                           {Kind::kEmpty, "", "/sys"}};
  CHECK(base.others == others);
  fs::create_directory(tree.path() + "/a b");
  CHECK(tree_system_base(*at, "/trees/a").error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("Unreadable entries: files and directories closed to others, and nothing below these",
          "[unit][local]") {
  const TemporaryDirectory top;
  const auto at = [&](const char* name) { return top.path() + "/" + name; };
  fs::create_directories(at("open/deep"));
  fs::create_directory(at("closed"));
  write(at("open/plain"), fs::perms(0644));
  write(at("open/deep/key"), fs::perms(0640));
  write(at("closed/plain"), fs::perms(0644));
  fs::create_symlink("key", at("open/deep/link"));
  fs::permissions(at("closed"), fs::perms(0750));
  auto found = unreadable_entries(*open_at(top.path())).value();
  std::sort(found.begin(), found.end(),
            [](const auto& one, const auto& other) { return one.path < other.path; });
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == "closed");
  CHECK(found[0].is_directory);
  CHECK(found[0].mode == 0750);
  CHECK(found[1].path == "open/deep/key");
  CHECK_FALSE(found[1].is_directory);
  CHECK(found[1].uid == ::geteuid());
}

TEST_CASE("Owners: what one user had another gets, links and other users' files stay",
          "[unit][local]") {
  if (::geteuid() != 0) return cove::test::skip("takes root");
  const TemporaryDirectory top;
  const std::string tree = top.path() + "/t";
  fs::create_directories(tree + "/a/b");
  write(tree + "/a/b/mine", fs::perms(04755));
  write(tree + "/a/other", fs::perms(0600));
  write(top.path() + "/outside", fs::perms(0600));
  fs::create_symlink("../../outside", tree + "/a/link");
  change_owner(*open_at(tree), 0, 7001).value();
  REQUIRE(::chown((tree + "/a/other").c_str(), 9, 7001) == 0);
  change_owner(*open_at(tree), 7001, 7002).value();
  const auto owner = [](const std::string& path) {
    struct stat info{};
    REQUIRE(::lstat(path.c_str(), &info) == 0);
    return std::pair(info.st_uid, info.st_gid);
  };
  using Ids = std::pair<uid_t, gid_t>;
  for (const char* name : {"", "/a", "/a/b", "/a/b/mine", "/a/link"}) {
    CHECK(owner(tree + name) == Ids{7002, 7002});
  }
  CHECK(owner(tree + "/a/other") == Ids{9, 7002});
  CHECK(owner(top.path() + "/outside") == Ids{0, 0});
  CHECK(fs::status(tree + "/a/b/mine").permissions() == fs::perms(04755));
}

TEST_CASE("Subordinate ids: the first range that is long enough counts, by name or number",
          "[unit][local]") {
  const char* const text =
      "# comment\nbob:300000:65536\nana:100000:1000\nana:200000:65536\n1005:400000:65535\n"
      "eve:x:65536\nmax:4294967000:65536\n";
  CHECK(subordinate_range(text, "ana", 1001) == 200'000U);
  CHECK(subordinate_range(text, "", 1005) == 400'000U);
  CHECK_FALSE(subordinate_range(text, "", 1001));
  CHECK_FALSE(subordinate_range(text, "eve", 1002));
  CHECK_FALSE(subordinate_range(text, "max", 1003));
}

TEST_CASE("A start that failed: for the system layer's sake is unsupported, with the remedy",
          "[unit][local]") {
  const auto said = [](const char* words) {
    return explain_start_failure(std::string("cove-launcher: ") + words);
  };
  const Error ids = said("map the ids of a system directory: Invalid argument");
  CHECK(ids.code() == ErrorCode::kUnsupported);
  CHECK_THAT(ids.message(), Contains("policy.root_tree"));
  const Error overlay = said("mount a directory of the system layer: Invalid argument");
  CHECK(overlay.code() == ErrorCode::kUnsupported);
  CHECK_THAT(overlay.message(), Contains("state_dir"));
  const Error mapping =
      said("map the subordinate ids of the user namespace: Operation not permitted");
  CHECK(mapping.code() == ErrorCode::kUnsupported);
  CHECK_THAT(mapping.message(), Contains("newuidmap"));
  CHECK(said("make a user namespace: Operation not permitted").code() == ErrorCode::kProvider);
}
