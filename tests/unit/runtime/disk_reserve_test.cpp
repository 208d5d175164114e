#include "runtime/assembly/disk_reserve.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "support/skip.hpp"
#include "support/trees/small_disk.hpp"

using cove::runtime::DiskReserve;

namespace {

bool has_reserve(int directory) {
  struct stat info{};
  return ::fstatat(directory, "reserve", &info, 0) == 0 && info.st_blocks > 0;
}

}  // namespace

TEST_CASE("DiskReserve: it is lent to a full disk and comes back when there is room",
          "[unit][runtime][pain-77]") {
  const auto disk = cove::test::make_small_disk("16m");
  if (!disk) return cove::test::skip("this user can make no small disk");
  const DiskReserve reserve(*disk);
  REQUIRE(reserve.restore());
  CHECK(has_reserve(*disk));
  CHECK_FALSE(reserve.lend());  // there is room

  const std::string filler = cove::test::path_of(disk) + "/filler";
  cove::test::fill_disk(filler);
  REQUIRE(cove::test::free_blocks(disk) == 0);
  CHECK(reserve.lend());
  CHECK_FALSE(has_reserve(*disk));
  CHECK(cove::test::free_blocks(disk) > 0);
  CHECK_FALSE(reserve.restore());  // it is needed now

  REQUIRE(::unlink(filler.c_str()) == 0);
  CHECK(reserve.restore());
  CHECK(has_reserve(*disk));
}

TEST_CASE("DiskReserve: a disk that is small has none", "[unit][runtime]") {
  const auto disk = cove::test::make_small_disk("4m");
  if (!disk) return cove::test::skip("this user can make no small disk");
  CHECK_FALSE(DiskReserve(*disk).restore());
  CHECK_FALSE(has_reserve(*disk));
}
