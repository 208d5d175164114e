// The system part of a volume: made where asked for, kept over a stop, gone with the volume.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cove/grants/writable_system.hpp>

#include "providers/local/volume/volumes.hpp"
#include "support/fixtures/local_fixture.hpp"
#include "support/skip.hpp"

using namespace cove;
using Catch::Contains;
using cove::test::LocalMachine;
namespace fs = std::filesystem;

namespace {

SandboxPolicy writable(const std::string& tree = {}) {
  SandboxPolicy policy;
  policy.allow(grants::WritableSystem{});
  policy.root_tree = tree;
  return policy;
}

InstanceRef next(const InstanceRef& instance) {
  return {instance.volume, Epoch{number_of(instance.epoch) + 1}};
}

/// Starts; false, and said, where this machine cannot have a writable system.
bool start(LocalMachine& machine, const InstanceRef& instance, const SandboxPolicy& policy) {
  const auto started = machine.start(instance, policy);
  if (!started && started.error().code() == ErrorCode::kUnsupported) {
    cove::test::skip(started.error().message());
    return false;
  }
  if (!started) FAIL(started.error().describe());
  return true;
}

bool is_host_root() {
  if (cove::test::is_root()) return true;
  cove::test::skip("a writable system over the host's takes root");
  return false;
}

/// A small root file system below `directory`: the programs named, with their libraries. Its path.
std::string make_tree(const std::string& directory) {
  std::string tree = directory + "/tree";
  fs::create_directory(tree);
  const std::string line =
      "set -e; cd '" + tree +
      "'; mkdir -p usr/bin usr/lib etc var/lib opt; "
      "for l in bin lib lib64; do ln -s usr/$l $l; done; mkdir -p usr/lib64; "
      "for p in sh cat ls id touch chown chmod rm mkdir mv; do "
      "  f=$(readlink -f $(command -v $p)); cp \"$f\" usr/bin/$p; "
      "  for d in $(ldd \"$f\" | grep -o '/[^ ]*'); do "
      "    t=$(echo \"$d\" | sed 's,^/lib,usr/lib,; s,^/usr,usr,'); mkdir -p \"$(dirname $t)\"; "
      "    cp -L \"$d\" \"$t\"; done; done; "
      "echo root:x:0:0::/root:/bin/sh > etc/passwd; echo 'root:*:1::::::' > etc/shadow; "
      "chmod 600 etc/shadow";
  REQUIRE(std::system(line.c_str()) == 0);
  return tree;
}

}  // namespace

TEST_CASE("System layer: lasts over stop and start, and goes with the volume",
          "[integration][local][system]") {
  if (!is_host_root()) return;
  LocalMachine machine;
  const InstanceRef first{machine.new_volume(), Epoch{1}};
  machine.create(first.volume).value();
  CHECK_FALSE(fs::exists(machine.path_of(first.volume) + "/system"));
  if (!start(machine, first, writable())) return;
  CHECK(machine.output(first, "id -u; echo $HOME $USER") == "0\n/home/sandbox root\n");
  // Files of several owners, a directory without permissions, a hard link, a removed file.
  machine.output(
      first,
      "mkdir -p /usr/lib/own/closed && echo kept > /usr/lib/own/file && "
      "chown 123:456 /usr/lib/own/file && ln /usr/lib/own/file /usr/lib/own/link && "
      "chmod 000 /usr/lib/own/closed && echo x > /etc/own && echo y > /var/lib/own && "
      "mv /usr/share/common-licenses /usr/share/licenses && rm -r /usr/share/base-files");
  machine.stop(first).value();

  const InstanceRef second = next(first);
  machine.start(second, writable()).value();
  CHECK(machine.output(second,
                       "cat /usr/lib/own/file /etc/own /var/lib/own; "
                       "stat -c '%u %g %h' /usr/lib/own/file; "
                       "test ! -e /usr/share/base-files && test -d /usr/share/licenses && "
                       "test ! -e /usr/share/common-licenses && echo whole") ==
        "kept\nx\ny\n123 456 2\nwhole\n");
  machine.stop(second).value();
  machine.remove(first.volume).value();
  CHECK_FALSE(fs::exists(machine.path_of(first.volume)));
  CHECK(cove::test::leftovers(machine).empty());
}

TEST_CASE("System layer: is not there where it is not asked for, and hides nothing then",
          "[integration][local][system]") {
  if (!is_host_root()) return;
  LocalMachine machine;
  const InstanceRef first{machine.new_volume(), Epoch{1}};
  machine.create(first.volume).value();
  if (!start(machine, first, writable())) return;
  machine.output(first, "touch /usr/own /workspace/by-root && echo mine > /home/sandbox/f");
  machine.stop(first).value();

  const InstanceRef second = next(first);
  machine.start(second).value();
  CHECK(machine.output(second,
                       "id -u; test ! -e /usr/own && echo x >> /workspace/by-root && "
                       "echo x >> /home/sandbox/f && stat -c %u /workspace/by-root") ==
        "1000\n1000\n");
  CHECK_FALSE(machine.shell(second, "touch /usr/own").succeeded());
  machine.stop(second).value();

  const InstanceRef third = next(second);
  machine.start(third, writable()).value();
  CHECK(machine.output(third, "stat -c %u /workspace/by-root /home/sandbox /usr/own") ==
        "0\n0\n0\n");
}

TEST_CASE("System layer: two sandboxes do not see each other's", "[integration][local][system]") {
  if (!is_host_root()) return;
  LocalMachine machine;
  const InstanceRef one{machine.new_volume(), Epoch{1}};
  const InstanceRef other{machine.new_volume(), Epoch{1}};
  machine.create(one.volume).value();
  machine.create(other.volume).value();
  if (!start(machine, one, writable())) return;
  machine.start(other, writable()).value();
  machine.output(one, "echo one > /usr/lib/own; echo one > /etc/own");
  CHECK(machine.output(other, "ls /usr/lib/own /etc/own 2>/dev/null | wc -l") == "0\n");
}

TEST_CASE("System layer: over a tree all of it is the sandbox's, and the tree stays as it was",
          "[integration][local][system]") {
  if (!is_host_root()) return;
  LocalMachine machine;
  const std::string tree = make_tree(machine.directory.path());
  const InstanceRef first{machine.new_volume(), Epoch{1}};
  machine.create(first.volume).value();
  if (!start(machine, first, writable(tree))) return;
  machine.output(first,
                 "cat /etc/shadow && echo user:x:1:1::/:/bin/sh >> /etc/passwd && "
                 "touch /usr/own /opt/own && chown 5:6 /opt/own && rm /usr/bin/touch");
  CHECK(fs::exists(tree + "/usr/bin/touch"));
  CHECK_FALSE(fs::exists(tree + "/usr/own"));
  machine.stop(first).value();

  // Over another base the changes would mean something else.
  const InstanceRef second = next(first);
  const auto moved = machine.start(second, writable());
  REQUIRE_FALSE(moved);
  CHECK(moved.error().code() == ErrorCode::kFailedPrecondition);
  CHECK_THAT(moved.error().message(), Contains(tree));
  machine.start(second, writable(tree)).value();
  CHECK(machine.output(second, "ls -n /opt/own | cat; cat /etc/passwd") ==
        machine.output(second, "ls -n /opt/own") +
            "root:x:0:0::/root:/bin/sh\nuser:x:1:1::/:/bin/sh\n");
}

TEST_CASE("System layer: the host's own root is never a tree", "[integration][local][system]") {
  if (!is_host_root()) return;
  LocalMachine machine;
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  machine.create(instance.volume).value();
  const auto refused = machine.start(instance, writable("/usr/.."));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  CHECK_FALSE(fs::exists(machine.path_of(instance.volume) + "/system"));
}

TEST_CASE("System layer: an ordinary user without a tree is told what it takes",
          "[integration][local][any-user][system]") {
  if (cove::test::is_root()) return;  // this program runs these cases again as an ordinary user
  LocalMachine machine;
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  machine.create(instance.volume).value();
  const auto no_tree = machine.start(instance, writable());
  REQUIRE_FALSE(no_tree);
  CHECK(no_tree.error().code() == ErrorCode::kUnsupported);
  CHECK_THAT(no_tree.error().message(), Contains("policy.root_tree"));
  const std::string tree = make_tree(machine.directory.path());
  const auto no_ids = machine.start(instance, writable(tree));
  REQUIRE_FALSE(no_ids);
  CHECK(no_ids.error().code() == ErrorCode::kUnsupported);
  CHECK_THAT(no_ids.error().message(), Contains("usermod --add-subuids") || Contains("uidmap"));
  const auto of_another = machine.start(instance, writable("/"));
  REQUIRE_FALSE(of_another);
  CHECK(of_another.error().code() == ErrorCode::kUnsupported);
  CHECK_THAT(of_another.error().message(), Contains("unpack it as this user"));
}

// Run by the next case as an ordinary user who has subordinate ids.
TEST_CASE("System layer of an ordinary user with subordinate ids", "[.][system-of-user]") {
  LocalMachine machine;
  const std::string tree = make_tree(machine.directory.path());
  const InstanceRef first{machine.new_volume(), Epoch{1}};
  machine.create(first.volume).value();
  machine.start(first, writable(tree)).value();
  machine.output(first,
                 "id; touch /usr/own && chown 33:33 /usr/own && mkdir -p /workspace/d/e && "
                 "echo x > /workspace/d/e/f && chmod 700 /workspace/d && chown 42:42 /workspace/d");
  machine.stop(first).value();

  const InstanceRef second = next(first);
  machine.start(second, writable(tree)).value();
  CHECK_THAT(machine.output(second, "ls -ln /usr/own"), Contains(" 33 "));
  CHECK(machine.output(second, "cat /workspace/d/e/f") == "x\n");
  machine.stop(second).value();

  // For an archive the host's user can read all of it.
  const CallContext call;
  auto offline =
      machine.wait(machine.provider->open_volume(first.volume, VolumeAccess::kRead, call));
  REQUIRE(offline);
  struct stat info{};
  REQUIRE(::fstatat((*offline)->workspace(), "d/e/f", &info, 0) == 0);
  CHECK(info.st_uid == ::geteuid());
  offline->reset();
  machine.remove(first.volume).value();
  CHECK_FALSE(fs::exists(machine.path_of(first.volume)));
}

// Run by the next case as such a user, over a tree in which one file is not this user's.
TEST_CASE("System layer of an ordinary user over a foreign tree", "[.][foreign-tree-of-user]") {
  const std::vector<std::string> words = cove::test::child_words();
  LocalMachine machine;
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  machine.create(instance.volume).value();
  const auto refused = machine.start(instance, writable(words.at(0)));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnsupported);
  CHECK_THAT(refused.error().message(),
             Contains("'" + words.at(1) + "' of the root tree '" + words.at(0) +
                      "' belongs to user " + words.at(2)) &&
                 Contains("chown -R -h " + std::to_string(::geteuid()) + ":"));
  CHECK_FALSE(fs::exists(machine.path_of(instance.volume) + "/system"));
}

TEST_CASE("System layer: a user whose tree holds what is another's is told what to do",
          "[integration][local][system]") {
  if (!is_host_root()) return;
  struct Foreign {
    std::string path;
    uid_t uid;
    gid_t gid;
  };
  const uid_t own = cove::test::kOrdinaryUser;
  const std::vector<Foreign> cases = {
      {"usr", 0, 0}, {"etc/passwd", 0, 0}, {"usr/bin/sh", own, 50}, {"usr/lib64", 70'000, own}};
  for (const Foreign& foreign : cases) {
    INFO(foreign.path);
    const cove::test::TemporaryDirectory directory;
    const std::string tree = make_tree(directory.path());
    fs::permissions(directory.path(), fs::perms(0755));
    const std::string id = std::to_string(own);
    REQUIRE(std::system(("chown -R -h " + id + ":" + id + " '" + tree + "'").c_str()) == 0);
    REQUIRE(::lchown((tree + "/" + foreign.path).c_str(), foreign.uid, foreign.gid) == 0);
    const auto run = cove::test::run_as_user_with_subordinate_ids(
        "[foreign-tree-of-user]",
        {tree, foreign.path,
         std::to_string(foreign.uid) + " and group " + std::to_string(foreign.gid)});
    if (!run.skipped.empty()) return cove::test::skip(run.skipped);
    INFO(run.output);
    CHECK(run.passed);
  }
}

TEST_CASE("System layer: a tree of ids that a sandbox does not have is refused to root too",
          "[integration][local][system]") {
  if (!is_host_root()) return;
  LocalMachine machine;
  const std::string tree = make_tree(machine.directory.path());
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  machine.create(instance.volume).value();
  REQUIRE(::lchown((tree + "/usr").c_str(), 70'000, 70'000) == 0);
  const auto refused = machine.start(instance, writable(tree));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnsupported);
  CHECK_THAT(refused.error().message(), Contains("unpack it as root"));
  CHECK_FALSE(fs::exists(machine.path_of(instance.volume) + "/system"));
  // An odd file does not count.
  REQUIRE(::lchown((tree + "/usr").c_str(), 0, 0) == 0);
  REQUIRE(::lchown((tree + "/etc/passwd").c_str(), 70'000, 70'000) == 0);
  if (start(machine, instance, writable(tree))) CHECK(machine.output(instance, "id -u") == "0\n");
}

TEST_CASE("System layer: an ordinary user has one over a tree of its own",
          "[integration][local][system]") {
  if (!cove::test::is_root()) {
    return cove::test::skip("root starts it as a user with subordinate ids of its own making");
  }
  const auto run = cove::test::run_as_user_with_subordinate_ids("[system-of-user]");
  if (!run.skipped.empty()) return cove::test::skip(run.skipped);
  INFO(run.output);
  CHECK(run.passed);
}
