#include "metadata/sqlite/waiting_line.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "support/fixtures/metadata_stores.hpp"

using namespace std::chrono_literals;
using cove::ErrorCode;
using cove::Instant;
using cove::metadata::sqlite::WaitingLine;
using cove::test::StoreDirectory;

namespace {

constexpr Instant kStart{100s};

}  // namespace

TEST_CASE("WaitingLine: with nobody in it all are first", "[unit][metadata]") {
  const StoreDirectory directory;
  auto a = WaitingLine::open(directory.file("line")).value();
  auto b = WaitingLine::open(directory.file("line")).value();
  CHECK(a.is_first(kStart).value());
  CHECK(b.is_first(kStart).value());
}

TEST_CASE("WaitingLine: who came earlier goes first, and newcomers after all", "[unit][metadata]") {
  const StoreDirectory directory;
  auto a = WaitingLine::open(directory.file("line")).value();
  auto b = WaitingLine::open(directory.file("line")).value();
  auto newcomer = WaitingLine::open(directory.file("line")).value();
  REQUIRE(b.join(kStart + 1ms));
  REQUIRE(a.join(kStart + 2ms));
  CHECK(b.is_first(kStart + 3ms).value());
  CHECK_FALSE(a.is_first(kStart + 3ms).value());
  CHECK_FALSE(newcomer.is_first(kStart + 3ms).value());
  b.leave();
  CHECK(a.is_first(kStart + 4ms).value());
  CHECK_FALSE(newcomer.is_first(kStart + 4ms).value());
  a.leave();
  CHECK(newcomer.is_first(kStart + 5ms).value());
}

TEST_CASE("WaitingLine: a second join keeps the first place", "[unit][metadata]") {
  const StoreDirectory directory;
  auto a = WaitingLine::open(directory.file("line")).value();
  auto b = WaitingLine::open(directory.file("line")).value();
  REQUIRE(a.join(kStart));
  REQUIRE(b.join(kStart + 1ms));
  REQUIRE(a.join(kStart + 2ms));
  CHECK(a.is_first(kStart + 3ms).value());
  CHECK_FALSE(b.is_first(kStart + 3ms).value());
}

TEST_CASE("WaitingLine: two that come at the same moment both get a place", "[unit][metadata]") {
  const StoreDirectory directory;
  auto a = WaitingLine::open(directory.file("line")).value();
  auto b = WaitingLine::open(directory.file("line")).value();
  REQUIRE(a.join(kStart));
  REQUIRE(b.join(kStart));
  CHECK(a.is_first(kStart).value());
  CHECK_FALSE(b.is_first(kStart).value());
}

TEST_CASE("WaitingLine: the place of one that is gone is free", "[unit][metadata]") {
  const StoreDirectory directory;
  auto b = WaitingLine::open(directory.file("line")).value();
  {
    auto a = WaitingLine::open(directory.file("line")).value();
    REQUIRE(a.join(kStart));
    CHECK_FALSE(b.is_first(kStart + 1ms).value());
  }
  CHECK(b.is_first(kStart + 2ms).value());
}

TEST_CASE("WaitingLine: a place that was kept for too long no longer counts", "[unit][metadata]") {
  const StoreDirectory directory;
  auto stuck = WaitingLine::open(directory.file("line")).value();
  auto a = WaitingLine::open(directory.file("line")).value();
  REQUIRE(stuck.join(kStart));
  CHECK_FALSE(a.is_first(kStart + 4s).value());
  CHECK(a.is_first(kStart + 6s).value());
  REQUIRE(a.join(kStart + 4s));
  CHECK(a.is_first(kStart + 6s).value());
  CHECK(stuck.is_first(kStart + 6s).value());
}

TEST_CASE("WaitingLine: its file is the owner's alone", "[unit][metadata]") {
  const StoreDirectory directory;
  const auto line = WaitingLine::open(directory.file("line")).value();
  struct stat status{};
  REQUIRE(::stat(directory.file("line").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600U);
}

TEST_CASE("WaitingLine: a directory that is not there is an error that names it",
          "[unit][metadata]") {
  const StoreDirectory directory;
  const auto line = WaitingLine::open(directory.file("none/line"));
  REQUIRE_FALSE(line);
  CHECK(line.error().code() == ErrorCode::kNotFound);
  CHECK(line.error().message().find("none/line") != std::string::npos);
}
