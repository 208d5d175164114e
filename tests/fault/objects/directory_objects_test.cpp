// A directory store and the processes around it: those that were killed, and those that race.
#include "objects/directory/directory_objects.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fakes/blocking_objects.hpp"
#include "support/trees/scratch_tree.hpp"

using cove::Bytes;
using cove::CallContext;
using cove::ErrorCode;
using cove::Result;
using cove::Task;
using cove::base::IoLoop;
using cove::base::WorkerPool;
using cove::test::BlockingObjects;
using cove::test::ScratchTree;

namespace {

struct Opened {
  explicit Opened(const std::string& path, bool unnamed = true)
      : store(cove::objects::open_directory_objects(path, pool, loop, {.unnamed_files = unnamed})
                  .value()) {}

  IoLoop loop;
  WorkerPool pool{2};  // ends before the loop that it posts to
  std::unique_ptr<cove::ObjectStore> store;
  BlockingObjects objects{*store, loop};
};

/// Gives two pieces, says so through a pipe, and goes on when it is told to.
class WaitingSource final : public cove::ByteSource {
 public:
  WaitingSource(int say, int hear) : say_(say), hear_(hear) {}

  Task<Result<Bytes>> next(const CallContext&) override {
    if (++pieces_ == 3) {
      char byte = 'x';
      if (::write(say_, &byte, 1) != 1 || ::read(hear_, &byte, 1) != 1) ::_exit(3);
    }
    co_return Bytes(pieces_ > 3 ? 0 : 1000);
  }

 private:
  int say_;
  int hear_;
  int pieces_ = 0;
};

/// A process in the middle of a put of `a/b`. Forked before this process has a thread.
class Writer {
 public:
  Writer(const std::string& path, bool unnamed) {
    REQUIRE(::pipe2(said_, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(heard_, O_CLOEXEC) == 0);
    child_ = ::fork();
    if (child_ != 0) return;
    Opened opened(path, unnamed);
    WaitingSource source(said_[1], heard_[0]);
    ::_exit(opened.objects.put("a/b", source) ? 0 : 1);
  }

  void wait_until_half_written() const {
    char byte = 0;
    REQUIRE(::read(said_[0], &byte, 1) == 1);
  }
  void go_on() const { REQUIRE(::write(heard_[1], "x", 1) == 1); }
  void kill() const { ::kill(child_, SIGKILL); }
  int status() const {
    int status = 0;
    ::waitpid(child_, &status, 0);
    return status;
  }

 private:
  int said_[2] = {};
  int heard_[2] = {};
  pid_t child_ = 0;
};

std::size_t staged(const std::string& store) {
  std::error_code none;
  const std::filesystem::directory_iterator files(store + "/tmp~", none);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

TEST_CASE("DirectoryObjects: a writer that was killed leaves nothing, and the key is free",
          "[fault][objects]") {
  const bool unnamed = GENERATE(true, false);
  const ScratchTree scratch;
  const std::string path = scratch.path("store");
  const Writer writer(path, unnamed);
  writer.wait_until_half_written();
  writer.kill();
  CHECK(WIFSIGNALED(writer.status()));
  CHECK(staged(path) == (unnamed ? 0 : 1));

  Opened opened(path, unnamed);
  CHECK(staged(path) == 0);
  CHECK(opened.objects.keys().empty());
  CHECK(opened.objects.stat("a/b").error().code() == ErrorCode::kNotFound);
  CHECK(opened.objects.put("a/b", "mine"));
}

TEST_CASE("DirectoryObjects: directories that a killed process left empty go with a list",
          "[fault][objects]") {
  const ScratchTree scratch;
  const std::string path = scratch.path("store");
  Opened opened(path);
  REQUIRE(opened.objects.put("a/kept", "x"));
  std::filesystem::create_directories(path + "/a+/died+/here+");
  std::filesystem::create_directories(path + "/b+/died+");
  CHECK(opened.objects.list("a/", "", 10).value().objects.size() == 1);
  CHECK_FALSE(std::filesystem::exists(path + "/a+/died+"));
  CHECK(std::filesystem::exists(path + "/b+/died+"));  // nobody asked for it
  CHECK(opened.objects.list("", "", 10).value().objects.size() == 1);
  CHECK_FALSE(std::filesystem::exists(path + "/b+"));
  CHECK(opened.objects.get("a/kept"));
}

TEST_CASE("DirectoryObjects: opening does not disturb a writer that lives", "[fault][objects]") {
  const bool unnamed = GENERATE(true, false);
  const ScratchTree scratch;
  const std::string path = scratch.path("store");
  const Writer writer(path, unnamed);
  writer.wait_until_half_written();
  {
    Opened opened(path, unnamed);
    CHECK(opened.objects.keys().empty());
  }
  writer.go_on();
  CHECK(writer.status() == 0);
  Opened opened(path, unnamed);
  CHECK(opened.objects.get("a/b").value() == std::string(3000, '\0'));
  CHECK(staged(path) == 0);
}

TEST_CASE("DirectoryObjects: of eight processes that put one key, one wins", "[fault][objects]") {
  const bool unnamed = GENERATE(true, false);
  const ScratchTree scratch;
  const std::string path = scratch.path("store");
  std::vector<pid_t> children;
  for (char c = 'a'; c < 'i'; ++c) {
    const pid_t child = ::fork();
    if (child == 0) {
      Opened opened(path, unnamed);
      const auto put = opened.objects.put("k/e/y", std::string(300'000, c));
      const bool refused = !put && put.error().code() == ErrorCode::kAlreadyExists;
      ::_exit(put ? 0 : refused ? 1 : 2);
    }
    children.push_back(child);
  }
  int ended[3] = {};
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) <= 2);
    ++ended[WEXITSTATUS(status)];
  }
  CHECK(ended[0] == 1);
  CHECK(ended[1] == 7);
  Opened opened(path, unnamed);
  const std::string text = opened.objects.get("k/e/y").value();
  CHECK(text == std::string(300'000, text.at(0)));
}

TEST_CASE("DirectoryObjects: links and strange files in the store are no objects",
          "[fault][objects]") {
  const ScratchTree scratch;
  const std::string path = scratch.path("store");
  Opened opened(path);
  REQUIRE(opened.objects.put("a/b", "x"));
  std::filesystem::create_symlink("/etc/passwd", path + "/link");
  std::filesystem::create_directory_symlink("/etc", path + "/etc+");
  std::filesystem::create_directory(path + "/lost+found");
  REQUIRE(::mkfifo((path + "/fifo").c_str(), 0600) == 0);
  CHECK(opened.objects.keys() == std::vector<std::string>{"a/b"});
  CHECK_FALSE(opened.objects.get("link"));
  CHECK_FALSE(opened.objects.get("etc/passwd"));
  CHECK_FALSE(opened.objects.put("etc/x", "y"));
  CHECK(opened.objects.get("fifo").error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("DirectoryObjects: opens only an absolute path, and makes what is missing",
          "[fault][objects]") {
  const ScratchTree scratch;
  IoLoop loop;
  WorkerPool pool(1);
  const auto open = [&](const std::string& path) {
    return cove::objects::open_directory_objects(path, pool, loop);
  };
  CHECK(open("").error().code() == ErrorCode::kInvalidArgument);
  CHECK(open("relative/store").error().code() == ErrorCode::kInvalidArgument);
  CHECK(open(scratch.path("x//y/z/")));
  CHECK((std::filesystem::status(scratch.path("x/y/z")).permissions() &
         std::filesystem::perms::all) == std::filesystem::perms::owner_all);
  {
    std::ofstream(scratch.path("file")) << "x";
  }
  CHECK(open(scratch.path("file/store")).error().code() == ErrorCode::kFailedPrecondition);
}
