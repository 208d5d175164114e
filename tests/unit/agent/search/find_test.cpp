#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "search_fixture.hpp"

using namespace cove;
namespace fs = std::filesystem;
using agent::testing::Names;
using agent::testing::SearchFixture;

namespace {

using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

Time at_second(std::int64_t second) { return Time(std::chrono::seconds(second)); }

void set_time(const fs::path& path, std::int64_t second) {
  const timespec times[2] = {{second, 0}, {second, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

}  // namespace

TEST_CASE("Find: a glob finds names at any depth, a path's glob from the searched directory",
          "[unit][search]") {
  SearchFixture tree;
  tree.put("src/a_test.cpp", "");
  tree.put("src/deep/b_test.cc", "");
  tree.put("src/deep/c.cpp", "");
  tree.put("d_test.cpp", "");
  CHECK(tree.paths({.glob = "*_test.{cc,cpp}"}) ==
        Names{"d_test.cpp", "src/a_test.cpp", "src/deep/b_test.cc"});
  CHECK(tree.paths({.glob = "src/*.cpp"}) == Names{"src/a_test.cpp"});
  CHECK(tree.paths({.glob = "src/**"}) ==
        Names{"src/a_test.cpp", "src/deep", "src/deep/b_test.cc", "src/deep/c.cpp"});
  CHECK(tree.paths({.glob = "deep/*"}, "src") == Names{"deep/b_test.cc", "deep/c.cpp"});
  CHECK(tree.paths({.glob = "deep/"}) == Names{"src/deep"});
}

TEST_CASE("Find: types, sizes and times are filters", "[unit][search]") {
  SearchFixture tree;
  tree.put("dir/small", "12345");
  tree.put("dir/large", std::string(5'000, '.'));
  fs::create_symlink("small", tree.at("dir/link"));
  set_time(tree.at("dir/small"), 1'000);
  set_time(tree.at("dir/large"), 2'000);
  CHECK(tree.paths({.type = FileType::kDirectory}) == Names{"dir"});
  CHECK(tree.paths({.type = FileType::kSymlink}) == Names{"dir/link"});
  CHECK(tree.paths({.min_size = 5, .max_size = 5}) == Names{"dir/small"});
  CHECK(tree.paths({.min_size = 6}) == Names{"dir/large"});
  // 0 is no limit, so that directories and links are found too.
  CHECK(tree.paths({.min_size = 0}) == tree.paths({}));
  CHECK(tree.paths({.type = FileType::kDirectory, .min_size = 0}) == Names{"dir"});
  CHECK(tree.paths({.type = FileType::kRegular, .modified_from = at_second(1'500)}) ==
        Names{"dir/large"});
  CHECK(tree.paths({.type = FileType::kRegular, .modified_until = at_second(2'000)}) ==
        Names{"dir/small"});
}

TEST_CASE("Find: facts come where they are asked for", "[unit][search]") {
  SearchFixture tree;
  tree.put("f", "12345");
  fs::create_symlink("f", tree.at("link"));
  set_time(tree.at("f"), 1'000);
  const auto entries = tree.find({.facts = true}).value().entries;
  REQUIRE(entries.size() == 2);
  REQUIRE(entries[0].facts);
  CHECK(entries[0].facts->size == 5);
  CHECK(entries[0].facts->modified == at_second(1'000));
  CHECK(entries[1].type == FileType::kSymlink);
  CHECK(entries[1].facts->link_target == "f");
  CHECK(entries[0].facts->etag == tree.etag("f"));
  CHECK_FALSE(tree.find({}).value().entries.at(0).facts);
}

TEST_CASE("Find: the newest come first, those of one age in the order of their paths",
          "[unit][search]") {
  SearchFixture tree;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "d" + std::to_string(i % 3) + "/f" + std::to_string(10 + i);
    tree.put(name, "");
    set_time(tree.at(name), 1'000 + i / 2);
  }
  const Names all = tree.paths({.type = FileType::kRegular, .limit = 100, .newest_first = true});
  REQUIRE(all.size() == 20);
  CHECK(all[0] == "d0/f28");
  CHECK(all[1] == "d1/f29");
  CHECK(all[19] == "d1/f11");
  const Names few = tree.paths({.type = FileType::kRegular, .limit = 3, .newest_first = true});
  CHECK(few == Names(all.begin(), all.begin() + 3));
}

TEST_CASE("Find: depth and limit end the walk", "[unit][search]") {
  SearchFixture tree;
  tree.put("a/b/c/d", "");
  tree.put("e", "");
  CHECK(tree.paths({.max_depth = 1}) == Names{"a", "e"});
  CHECK(tree.paths({.max_depth = 2}) == Names{"a", "a/b", "e"});
  const auto limited = tree.find({.limit = 2}).value();
  CHECK(limited.entries.size() == 2);
  CHECK(limited.entries[1].path == "a/b");
  CHECK(limited.summary.ended == SearchEnd::kLimit);
}

TEST_CASE("Find: names are bytes", "[unit][search]") {
  SearchFixture tree;
  tree.put("new\nline", "");
  tree.put("\xff\xfe", "");
  tree.put(std::string(255, 'n'), "");
  CHECK(tree.paths({}) == Names{"new\nline", std::string(255, 'n'), "\xff\xfe"});
  CHECK(tree.paths({.glob = "*\xfe"}) == Names{"\xff\xfe"});
}

TEST_CASE("Find: a query whose filters exclude each other is refused", "[unit][search]") {
  CHECK_FALSE(check(FindQuery{.min_size = 2, .max_size = 1}));
  CHECK_FALSE(check(FindQuery{.type = FileType::kDirectory, .min_size = 1}));
  CHECK_FALSE(check(FindQuery{.max_depth = 0}));
  CHECK_FALSE(check(FindQuery{.limit = 0}));
  CHECK_FALSE(check(FindQuery{.limit = std::nullopt, .newest_first = true}));
  CHECK_FALSE(check(FindQuery{.modified_from = at_second(2), .modified_until = at_second(1)}));
  CHECK(check(FindQuery{}));
}
