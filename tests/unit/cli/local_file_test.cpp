#include "cli/machine/local_file.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_clock.hpp"

using cove::CallContext;
using cove::ErrorCode;
using namespace cove::cli;
namespace fs = std::filesystem;

namespace {

class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "cove-local-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }
  std::string text(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  fs::path path_;
};

cove::ByteView bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("Local file: appears whole by commit, or not at all", "[unit][cli]") {
  const Directory d;
  {
    auto dropped = LocalFile::create(d / "f", "x");
    REQUIRE(dropped);
    REQUIRE(dropped->write(bytes_of("half")));
    CHECK_FALSE(fs::exists(d / "f"));
  }
  CHECK(d.entries() == 0);
  auto file = LocalFile::create(d / "f", "x");
  REQUIRE(file->write(bytes_of("who")));
  REQUIRE(file->write(bytes_of("le")));
  REQUIRE(file->commit());
  CHECK(d.text("f") == "whole");
  CHECK(d.entries() == 1);
}

TEST_CASE("Local file: a directory takes it under its own name", "[unit][cli]") {
  const Directory d;
  fs::create_directory(d / "out");
  CHECK(LocalFile::create(d / "out", "chart.svg")->path() ==
        fs::canonical(d / "out") / "chart.svg");
  CHECK(LocalFile::create(d / "none/", "chart.svg").error().code() == ErrorCode::kNotFound);
  CHECK(last_name("a/b/c.txt") == "c.txt");
  CHECK(last_name("c.txt") == "c.txt");
  CHECK(last_name("a/dir//") == "dir");
  CHECK(last_name("/") == "");
}

TEST_CASE("Local file: a link stays a link, and a mode stays", "[unit][cli]") {
  const Directory d;
  std::ofstream(d / "real") << "old";
  fs::permissions(d / "real", fs::perms(0640));
  fs::create_symlink("real", d / "link");
  auto file = LocalFile::create(d / "link", "x");
  REQUIRE(file->write(bytes_of("new")));
  REQUIRE(file->commit());
  CHECK(fs::is_symlink(d / "link"));
  CHECK(d.text("real") == "new");
  CHECK((fs::status(d / "real").permissions() & fs::perms::mask) == fs::perms(0640));
}

TEST_CASE("Local file: a link that leads to nothing, or in a circle, is refused and stays",
          "[unit][cli]") {
  const Directory d;
  fs::create_symlink("nowhere", d / "dangling");
  fs::create_symlink("circle", d / "circle");
  const auto dangling = LocalFile::create(d / "dangling", "x");
  CHECK(dangling.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(dangling.error().message().find("dangling' is a link that leads to nothing; remove it") !=
        std::string::npos);
  const auto circle = LocalFile::create(d / "circle", "x");
  CHECK(circle.error().code() == ErrorCode::kInvalidArgument);
  CHECK(circle.error().message().find("follow the link") == 0);
  CHECK(fs::is_symlink(d / "dangling"));
  CHECK(d.entries() == 2);
}

TEST_CASE("Local file: a FIFO is written into, not replaced", "[unit][cli]") {
  const Directory d;
  REQUIRE(::mkfifo((d / "fifo").c_str(), 0600) == 0);
  const cove::base::UniqueFd reader(
      ::open((d / "fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  {
    auto file = LocalFile::create(d / "fifo", "x");
    REQUIRE(file->write(bytes_of("through")));
    REQUIRE(file->commit());
  }
  CHECK(fs::is_fifo(d / "fifo"));
  char text[16] = {};
  CHECK(::read(*reader, text, sizeof text) == 7);
}

TEST_CASE("Local file: reading ends at the end, at a limit, or when stopped", "[unit][cli]") {
  const Directory d;
  std::ofstream(d / "f") << "text";
  std::ofstream(d / "long") << std::string(300'000, 'x');
  const CallContext never;
  const auto at_most = [&](std::size_t limit) {
    return read_all(**open_local(d / "long"), "'long'", limit, never);
  };
  CHECK(at_most(300'000).value().size() == 300'000);
  CHECK(at_most(299'999).error().code() == ErrorCode::kTooLarge);
  const auto file = open_local(d / "f");
  CHECK(read_piece(**file, "'f'", never).value().size() == 4);
  CHECK(read_piece(**file, "'f'", never).value().empty());
  fs::create_directory(d / "dir");
  CHECK(open_local(d / "dir").error().code() == ErrorCode::kFailedPrecondition);
  CHECK(open_local(d / "none").error().code() == ErrorCode::kNotFound);
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const cove::base::UniqueFd read_end(ends[0]);
  const cove::base::UniqueFd write_end(ends[1]);
  std::stop_source stop;
  stop.request_stop();
  const CallContext stopped{.deadline = {}, .stop = stop.get_token()};
  CHECK(read_piece(*read_end, "stdin", stopped).error().code() == ErrorCode::kCancelled);
}

TEST_CASE("Local file: a FIFO without another end holds nobody up", "[unit][cli]") {
  const Directory d;
  REQUIRE(::mkfifo((d / "fifo").c_str(), 0600) == 0);
  CHECK(LocalFile::create(d / "fifo", "x").error().code() == ErrorCode::kFailedPrecondition);
  const CallContext over{.deadline = cove::base::SystemClock().now(), .stop = {}};
  const auto fd = open_local(d / "fifo");
  REQUIRE(fd);
  CHECK(read_piece(**fd, "'fifo'", over).error().code() == ErrorCode::kTimeout);
}
