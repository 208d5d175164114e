// What lies in a sandbox, compared with the package that was placed there.
#include "prepare/skills/place/tree_comparison.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "prepare/skills/package/package_reader.hpp"
#include "prepare/skills/package/package_tar.hpp"
#include "support/fakes/byte_sources.hpp"
#include "support/fakes/stepped_scheduler.hpp"
#include "support/trees/packed_package.hpp"

using namespace cove;
using namespace cove::prepare;
using test::pack;
using test::PackedFile;
using test::Packing;

namespace {

const std::vector<PackedFile> kFiles{{"SKILL.md", "text"},
                                     {"scripts/run.sh", "#!/bin/sh\n", 0755},
                                     {"empty", ""},
                                     {"latest", "scripts/run.sh", 0777, true},
                                     {"large", std::string(10'000, 'x')}};

Package package() { return read_package("p", pack(Packing::kTar, kFiles)).value(); }

/// What is said of a tar that comes in pieces of `size`.
Result<std::string> compare(const Package& expected, ByteView tar, std::size_t size) {
  TreeComparison comparison(expected);
  while (!tar.empty()) {
    const ByteView piece = tar.first(std::min(size, tar.size()));
    COVE_TRY_VOID(comparison.feed(piece));
    tar = tar.subspan(piece.size());
  }
  return comparison.finish();
}

/// The same by contents and by hashes, in pieces of many sizes: the answer is one.
std::string difference(const std::vector<PackedFile>& files) {
  const Package whole = package();
  const Package outline = whole.outline();
  // As a guest gives it: with its directories.
  auto placed = std::make_shared<const Package>(
      read_package("p", pack(Packing::kTar, files), {.check_links = false}).value());
  test::SteppedScheduler scheduler;
  const CallContext call;
  const auto source = tar_of(placed);
  const Bytes tar = test::bytes_of_text(scheduler.run(test::read_all(*source, call)).value());
  const std::string found = compare(whole, tar, tar.size()).value();
  for (const std::size_t size : {1U, 511U, 512U, 4096U}) {
    CHECK(compare(whole, tar, size).value() == found);
    CHECK(compare(outline, tar, size).value() == found);
  }
  return found;
}

std::string changed(std::size_t index, const std::function<void(PackedFile&)>& change) {
  std::vector<PackedFile> other = kFiles;
  change(other[index]);
  return difference(other);
}

}  // namespace

TEST_CASE("TreeComparison: what the package has counts, not what lies beside it",
          "[unit][prepare][skills]") {
  CHECK(difference(kFiles).empty());
  std::vector<PackedFile> more = kFiles;
  more.push_back({"scripts/__pycache__/x.pyc", "cache"});
  more.push_back({"out", "/etc/passwd", 0777, true});
  CHECK(difference(more).empty());
  CHECK_THAT(changed(0, [](PackedFile& file) { file.content = "owned"; }),
             Catch::Contains("'SKILL.md' has another content"));
  CHECK_THAT(changed(0, [](PackedFile& file) { file.content = "texT"; }),
             Catch::Contains("'SKILL.md' has another content"));
  CHECK_THAT(changed(0, [](PackedFile& file) { file.path = "skill.txt"; }),
             Catch::Contains("'SKILL.md' is missing"));
  CHECK_THAT(changed(1, [](PackedFile& file) { file.mode = 0644; }), Catch::Contains("mode"));
  CHECK_THAT(changed(2, [](PackedFile& file) { file.content = "x"; }),
             Catch::Contains("'empty' has another content"));
  CHECK_THAT(changed(2, [](PackedFile& file) { file.path = "empty/"; }),
             Catch::Contains("'empty' is of another kind"));
  CHECK_THAT(changed(3, [](PackedFile& file) { file.content = "empty"; }),
             Catch::Contains("'latest' leads elsewhere"));
  CHECK_THAT(changed(4, [](PackedFile& file) { file.content[9'999] = 'y'; }),
             Catch::Contains("'large' has another content"));
}

TEST_CASE("TreeComparison: a stream that does not say it is no answer", "[unit][prepare][skills]") {
  const Package whole = package();
  const auto header = [](const base::TarEntry& entry) {
    std::string text;
    base::append_tar_header(text, entry);
    return text;
  };
  const std::string twice = header({.path = "empty", .mode = 0644});
  const std::string linked =
      header({.type = base::TarType::kHardLink, .path = "empty", .target = "x", .mode = 0644});
  CHECK_FALSE(compare(whole, test::bytes_of_text(twice + twice), 512));
  CHECK_FALSE(compare(whole, test::bytes_of_text(linked), 512));
  CHECK_FALSE(compare(whole, test::bytes_of_text(twice), 512));  // cut short
  CHECK_FALSE(compare(whole, test::bytes_of_text(std::string(512, 'x')), 512));
  // What is beside the package may have two names.
  const std::string other =
      header({.type = base::TarType::kHardLink, .path = "y", .target = "x", .mode = 0644});
  CHECK_THAT(compare(whole, test::bytes_of_text(other + std::string(1024, '\0')), 512).value(),
             Catch::Contains("is missing"));
}
