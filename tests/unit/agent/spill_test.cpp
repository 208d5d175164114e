#include "agent/exec/spill.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "agent/exec/output_ring.hpp"
#include "agent/exec/process_output.hpp"
#include "support/fixtures/agent_fixture.hpp"

using namespace cove;
using agent::OutputRing;
using agent::SpillStore;
namespace fs = std::filesystem;

namespace {

std::string name_of(int number) {
  const std::string digits = std::to_string(number);
  return std::string(32 - digits.size(), '0') + digits + ".out";
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("OutputRing: it holds the last bytes, by their offset", "[unit][agent]") {
  OutputRing ring(10);
  ring.append("abcdef");
  CHECK(ring.begin() == 0);
  CHECK(ring.at(2, 3) == "cde");
  CHECK(ring.overflows_with(5));
  CHECK_FALSE(ring.overflows_with(4));
  ring.append("ghijkl");
  CHECK(ring.begin() == 2);
  CHECK(ring.end() == 12);
  CHECK(std::string(ring.at(2, 100)) + std::string(ring.at(10, 100)) == "cdefghijkl");
  ring.append("0123456789ABCDEF");
  CHECK(ring.begin() == 18);
  CHECK(ring.end() == 28);
  CHECK(std::string(ring.at(18, 100)) + std::string(ring.at(20, 100)) == "6789ABCDEF");
  CHECK(ring.at(28, 1).empty());
}

TEST_CASE("SpillFile: it ends at its limit, and is read at any offset", "[unit][agent]") {
  const test::TemporaryDirectory home;
  SpillStore store(home.path(), {.file_bytes = 10, .total_bytes = 100});
  CHECK_FALSE(fs::exists(home.path() + "/.cove"));
  const auto file = store.create(name_of(1)).value();
  file->append("01234567");
  file->append("89abc");
  CHECK(file->path() == home.path() + "/.cove/spill/" + name_of(1));
  CHECK(content_of(file->path()) == "0123456789");
  CHECK(file->read(8, 100) == "89");
  CHECK(file->read(10, 100).empty());
  CHECK(store.create(name_of(1)).error().code() == ErrorCode::kAlreadyExists);
  const std::string path = file->path();
  file->remove();
  CHECK(file->path().empty());
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("SpillStore: where room is needed the oldest file goes", "[unit][agent]") {
  const test::TemporaryDirectory home;
  SpillStore store(home.path(), {.file_bytes = 10, .total_bytes = 25});
  const auto first = store.create(name_of(1)).value();
  const auto second = store.create(name_of(2)).value();
  first->append("0123456789");
  second->append("0123456789");
  auto third = store.create(name_of(3)).value();
  third->append("0123");
  CHECK_FALSE(first->path().empty());
  third->append("4567");
  CHECK(first->path().empty());
  CHECK(first->read(0, 10).empty());
  first->append("more");
  CHECK(fs::exists(second->path()));
  CHECK(content_of(third->path()) == "01234567");
}

TEST_CASE("SpillStore: what an agent before left counts, and nothing else is touched",
          "[unit][agent]") {
  const test::TemporaryDirectory home;
  const std::string directory = home.path() + "/.cove/spill/";
  fs::create_directories(directory);
  std::ofstream(directory + name_of(1)) << "0123456789";
  std::ofstream(directory + "notes.out") << "a user's own";
  fs::create_symlink("/etc/passwd", directory + name_of(2));
  SpillStore store(home.path(), {.file_bytes = 10, .total_bytes = 15});
  const auto file = store.create(name_of(3)).value();
  file->append("0123456789");
  CHECK_FALSE(fs::exists(directory + name_of(1)));
  CHECK(fs::exists(directory + "notes.out"));
  CHECK(fs::is_symlink(directory + name_of(2)));
  CHECK(store.create(name_of(2)).error().code() == ErrorCode::kAlreadyExists);
}

TEST_CASE("SpillStore: a link in place of its directory is not followed", "[unit][agent]") {
  const test::TemporaryDirectory home;
  const test::TemporaryDirectory other;
  fs::create_directory(home.path() + "/.cove");
  fs::create_symlink(other.path(), home.path() + "/.cove/spill");
  SpillStore store(home.path());
  CHECK_FALSE(store.create(name_of(1)));
  CHECK(fs::is_empty(other.path()));
}

TEST_CASE("ProcessOutput: a file that the sandbox cut is not trusted", "[unit][agent]") {
  const test::TemporaryDirectory home;
  SpillStore store(home.path());
  agent::ProcessOutput output(store, name_of(1));
  output.append(std::string(1'000'000, 'a'));
  CHECK(output.spill_path().empty());
  output.append(std::string(1'000'000, 'b'));
  REQUIRE_FALSE(output.spill_path().empty());
  CHECK(output.read(999'999, 2).bytes == "ab");
  fs::resize_file(output.spill_path(), 10);
  const auto slice = output.read(20, 5);
  CHECK(slice.offset == 2'000'000 - 1024 * 1024);
  CHECK(slice.bytes == "aaaaa");
  CHECK(output.read(2'000'000, 5).bytes.empty());
}
