// What a program that is started quietly is handed.
#include "providers/local/instance/quiet_start.hpp"

#include <array>
#include <stdexcept>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "providers/local/instance/process.hpp"
#include "support/child_process.hpp"

using namespace cove;
using namespace cove::local;
using cove::test::ChildProcess;

namespace {

using namespace std::chrono_literals;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// An open file whose only byte is the last digit of its number.
int open_own_number() {
  const int fd = ::memfd_create("test", MFD_CLOEXEC);
  require(fd >= 0, "no file");
  const char digit = static_cast<char>('0' + fd % 10);
  require(::write(fd, &digit, 1) == 1, "not written");
  return fd;
}

std::string content_of(int fd) {
  std::array<char, 64> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(size > 0 ? size : 0)};
}

/// Runs `cat` on the descriptors from 3 on, in a process that has only what it needs.
/// `order[i]` is the number of what comes to be descriptor 3 + i.
std::string cat_in_order(std::span<const int> order, rlim_t limit) {
  ChildProcess child([&](int output) {
    require(::dup3(output, 2, 0) == 2, "no output");
    require(::close_range(3, ~0U, 0) == 0, "not closed");
    const rlimit few{limit, limit};
    require(::setrlimit(RLIMIT_NOFILE, &few) == 0, "no limit");
    const int program = ::open("/bin/cat", O_PATH | O_CLOEXEC);  // 3: to be moved away
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // 4
    const int written = ::memfd_create("output", MFD_CLOEXEC);   // 5
    require(program == 3 && null == 4 && written == 5, "other numbers than expected");
    while (open_own_number() < static_cast<int>(limit) - 6) {
    }
    std::vector<int> descriptors = {null, written, written};
    descriptors.insert(descriptors.end(), order.begin(), order.end());
    std::vector<std::string> arguments = {"cat"};
    for (std::size_t i = 0; i < order.size(); ++i) {
      arguments.push_back("/dev/fd/" + std::to_string(3 + i));
    }
    const auto started = start_quietly(program, arguments, descriptors);
    if (!started) throw std::runtime_error(started.error().describe());
    const auto process = Process::behind(**started).value();
    require(!process || process->has_ended(10s), "it did not end");
    reap_adopted(**started);
    const std::string text = content_of(written);
    require(::write(2, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "not told");
  });
  return child.wait();
}

}  // namespace

TEST_CASE("Quiet start: descriptors come to their numbers, whatever numbers they have",
          "[unit][local]") {
  CHECK(cat_in_order(std::array{6, 7, 8}, 64) == "678");
  CHECK(cat_in_order(std::array{8, 7, 6}, 64) == "876");
  CHECK(cat_in_order(std::array{6, 6, 6, 6, 6, 6}, 64) == "666666");
  CHECK(cat_in_order(std::array{9, 9, 8, 7, 6, 6}, 64) == "998766");
  CHECK(cat_in_order(std::array{57, 9, 8, 7, 6, 57, 20, 21}, 64) == "79876701");
}

TEST_CASE("Quiet start: it needs few descriptors beside those that it hands on", "[unit][local]") {
  std::vector<int> all;
  std::string expected;
  for (int fd = 44; fd >= 6; --fd) {
    all.push_back(fd);
    expected += static_cast<char>('0' + fd % 10);
  }
  CHECK(cat_in_order(all, 64) == expected);
}
