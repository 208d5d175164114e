#include "runtime/assembly/owner_files.hpp"

#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/system_clock.hpp"
#include "base/text/hex.hpp"
#include "support/trees/scratch_directory.hpp"

using cove::OwnerId;
using cove::base::SystemIds;
using cove::base::UniqueFd;
using cove::runtime::OwnerFiles;
using cove::testing::ScratchDirectory;

namespace {

struct State {
  ScratchDirectory scratch;
  UniqueFd fd{::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  SystemIds ids;

  std::unique_ptr<OwnerFiles> open() { return OwnerFiles::open(*fd, ids).value(); }

  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "owners")) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
};

/// A child that holds an owner file until it is killed; its owner id.
struct Child {
  explicit Child(State& state) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid = ::fork();
    if (pid == 0) {
      const auto owner = state.open();
      const std::string mine = owner->self().str();
      if (::write(ends[1], mine.data(), mine.size()) != static_cast<ssize_t>(mine.size()))
        ::_exit(1);
      for (;;) ::pause();
    }
    std::string text(65, '\0');
    REQUIRE(::read(ends[0], text.data(), text.size()) == 65);
    id = OwnerId(text);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void kill() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    pid = -1;
  }
  ~Child() { kill(); }

  pid_t pid = -1;
  OwnerId id;
};

}  // namespace

TEST_CASE("owner files: two of one directory are two owners of one node, both alive",
          "[unit][runtime]") {
  State state;
  const auto first = state.open();
  const auto second = state.open();
  CHECK(first->node() == second->node());
  CHECK(first->self() != second->self());
  CHECK(first->self().str().size() == 65);
  CHECK_FALSE(first->certainly_dead(second->self()));
  CHECK_FALSE(first->certainly_dead(first->self()));
}

TEST_CASE("owner files: an owner that closed is dead, and its file is gone", "[unit][runtime]") {
  State state;
  const auto first = state.open();
  auto second = state.open();
  const OwnerId id = second->self();
  second.reset();
  CHECK(first->certainly_dead(id));
  CHECK(state.names().size() == 2);  // the token and the first's own
}

TEST_CASE("owner files: a process is dead once it is killed, not before", "[unit][runtime]") {
  State state;
  Child child(state);
  const auto owner = state.open();
  CHECK_FALSE(owner->certainly_dead(child.id));
  child.kill();
  CHECK(owner->certainly_dead(child.id));
}

TEST_CASE("owner files: what the dead left is removed by the next, what lives is kept",
          "[unit][runtime]") {
  State state;
  Child dead(state);
  const Child alive(state);
  std::ofstream(state.scratch / "owners/0123456789abcdef0123456789abcdef.new");
  std::ofstream(state.scratch / "owners/somebody's notes");
  dead.kill();
  const auto owner = state.open();
  CHECK(owner->certainly_dead(dead.id));
  const auto names = state.names();
  CHECK(names.count(alive.id.str().substr(33)) == 1);
  CHECK(names.count(dead.id.str().substr(33)) == 0);
  CHECK(names.count("0123456789abcdef0123456789abcdef.new") == 0);
  CHECK(names.count("somebody's notes") == 1);
}

TEST_CASE("owner files: an owner of another directory, machine or form is never certainly dead",
          "[unit][runtime]") {
  State here;
  State there;
  const auto owner = here.open();
  const auto other = there.open();
  CHECK(owner->node() != other->node());
  CHECK_FALSE(owner->certainly_dead(other->self()));
  CHECK_FALSE(
      owner->certainly_dead(OwnerId("0123456789abcdef0123456789abcdef/" + std::string(32, '0'))));
  CHECK_FALSE(owner->certainly_dead(OwnerId(owner->node() + "/../token")));
  CHECK_FALSE(owner->certainly_dead(OwnerId("")));
  CHECK(owner->certainly_dead(OwnerId(owner->node() + "/" + std::string(32, '0'))));
}

TEST_CASE("owner files: a copy of the directory is another node", "[unit][runtime]") {
  State state;
  const auto owner = state.open();
  State copy;
  std::filesystem::copy(state.scratch / "owners", copy.scratch / "owners",
                        std::filesystem::copy_options::recursive);
  const auto other = copy.open();
  CHECK(other->node() != owner->node());
  CHECK_FALSE(other->certainly_dead(owner->self()));
}

TEST_CASE("owner files: a child of fork() leaves its parent's file alone", "[unit][runtime]") {
  State state;
  const auto owner = state.open();
  const pid_t pid = ::fork();
  if (pid == 0) {
    // What a child does that lets its copy of the parent's objects go.
    const_cast<OwnerFiles&>(*owner).~OwnerFiles();
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  CHECK(state.names().count(owner->self().str().substr(33)) == 1);
  const auto other = state.open();
  CHECK_FALSE(other->certainly_dead(owner->self()));
}

TEST_CASE("owner files: twenty processes that open at once get twenty files", "[unit][runtime]") {
  State state;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 20; ++i) children.push_back(std::make_unique<Child>(state));
  const auto owner = state.open();
  std::set<std::string> ids;
  for (const auto& child : children) {
    ids.insert(child->id.str());
    CHECK_FALSE(owner->certainly_dead(child->id));
  }
  CHECK(ids.size() == 20);
  CHECK(state.names().size() == 22);
}

TEST_CASE("OwnerFiles: many that open an absent directory at once are of one node",
          "[unit][runtime][threads]") {
  for (int round = 0; round < 20; ++round) {
    State state;
    std::vector<std::future<cove::Result<std::string>>> opened;
    for (int i = 0; i < 8; ++i) {
      opened.push_back(std::async(std::launch::async, [&]() -> cove::Result<std::string> {
        SystemIds ids;
        COVE_TRY(const auto owner, OwnerFiles::open(*state.fd, ids));
        return owner->node();
      }));
    }
    std::set<std::string> nodes;
    for (auto& one : opened) nodes.insert(one.get().value());
    CHECK(nodes.size() == 1);
  }
}
