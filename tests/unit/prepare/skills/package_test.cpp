// Packages of skills: what honest ones hold, and what is refused of others.
#include <clocale>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "prepare/skills/package/package_directory.hpp"
#include "prepare/skills/package/package_reader.hpp"
#include "prepare/skills/package/package_tar.hpp"
#include "prepare/skills/place/tree_comparison.hpp"
#include "support/fakes/byte_sources.hpp"
#include "support/fakes/stepped_scheduler.hpp"
#include "support/trees/hand_made_archive.hpp"
#include "support/trees/packed_package.hpp"
#include "support/trees/scratch_directory.hpp"

using namespace cove;
using namespace cove::prepare;
using test::HandMadeTar;
using test::pack;
using test::PackedFile;
using test::Packing;
using testing::ScratchDirectory;

namespace {

const std::vector<PackedFile> kFiles{{"SKILL.md", "text"},
                                     {"scripts/run.sh", "#!/bin/sh\n", 0755},
                                     {"scripts/数据.csv", "1,2\n"},
                                     {"empty", ""},
                                     {"latest", "scripts/run.sh", 0777, true}};

Package read(const Bytes& bytes, const PackageLimits& limits = {}) {
  const auto package = read_package("p", bytes, limits);
  if (!package) FAIL(package.error().describe());
  return *package;
}

void check_refused(const Bytes& bytes, ErrorCode code, const std::string& words,
                   const PackageLimits& limits = {}) {
  CAPTURE(words);
  const auto package = read_package("package 'p'", bytes, limits);
  REQUIRE_FALSE(package);
  CHECK(package.error().code() == code);
  CHECK_THAT(package.error().message(), Catch::Contains(words));
  CHECK_THAT(package.error().message(), Catch::Contains("package 'p'"));
}

void check_tar_refused(const HandMadeTar& tar, const std::string& words,
                       ErrorCode code = ErrorCode::kInvalidArgument) {
  check_refused(test::bytes_of_text(tar.tar()), code, words);
}

/// Says of all names of a zip that they are UTF-8, as most programs that pack one do.
Bytes with_utf8_flag(Bytes zip) {
  constexpr std::byte kUtf8{0x08};  // bit 11 of the flags
  const auto starts = [&](std::size_t at, char third, char fourth) {
    return zip[at] == std::byte{'P'} && zip[at + 1] == std::byte{'K'} &&
           zip[at + 2] == static_cast<std::byte>(third) &&
           zip[at + 3] == static_cast<std::byte>(fourth);
  };
  for (std::size_t at = 0; at + 12 < zip.size(); ++at) {
    if (starts(at, 3, 4)) zip[at + 7] |= kUtf8;
    if (starts(at, 1, 2)) zip[at + 9] |= kUtf8;
  }
  return zip;
}

std::vector<std::string> paths_of(const Package& package) {
  std::vector<std::string> paths;
  for (const auto& entry : package.entries) paths.push_back(entry.path);
  return paths;
}

}  // namespace

TEST_CASE("Package: zip, tar, tar.gz and tar.zst of the same files are the same",
          "[unit][prepare][skills]") {
  const Package zip = read(pack(Packing::kZip, kFiles));
  CHECK(paths_of(zip) == std::vector<std::string>{"SKILL.md", "empty", "latest", "scripts",
                                                  "scripts/run.sh", "scripts/数据.csv"});
  CHECK(text_of(*zip.find("SKILL.md")) == "text");
  CHECK(zip.find("scripts/run.sh")->executable);
  CHECK_FALSE(zip.find("SKILL.md")->executable);
  CHECK(zip.find("latest")->target == "scripts/run.sh");
  CHECK(zip.find("scripts")->type == PackageEntryType::kDirectory);
  CHECK(zip.content_bytes == 18);
  for (const Packing packing : {Packing::kTar, Packing::kTarGz, Packing::kTarZst}) {
    const Package other = read(pack(packing, kFiles));
    CHECK(other.hash == zip.hash);
    CHECK(paths_of(other) == paths_of(zip));
  }
}

TEST_CASE(
    "Package: the hash tells contents, names, targets and modes apart, not the archive's order",
    "[unit][prepare][skills]") {
  const std::string hash = read(pack(Packing::kTar, kFiles)).hash;
  std::vector<PackedFile> turned(kFiles.rbegin(), kFiles.rend());
  turned.push_back({"scripts/", ""});
  turned.push_back({"more/", ""});
  CHECK(read(pack(Packing::kTar, turned)).hash == hash);
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    std::vector<PackedFile> other = kFiles;
    other[i].path += "x";
    CHECK(read(pack(Packing::kTar, other)).hash != hash);
    other = kFiles;
    other[i].content += "x";
    CHECK(read(pack(Packing::kTar, other)).hash != hash);
  }
  std::vector<PackedFile> other = kFiles;
  other[0].mode = 0755;
  CHECK(read(pack(Packing::kTar, other)).hash != hash);
}

TEST_CASE("Package: what macOS adds is left out, and './' before names",
          "[unit][prepare][skills]") {
  const Package package = read(pack(
      Packing::kZip, {{"./SKILL.md", "x"}, {"__MACOSX/._SKILL.md", "y"}, {"a/.DS_Store", ""}}));
  CHECK(paths_of(package) == std::vector<std::string>{"SKILL.md"});
}

TEST_CASE("Package: names that lead out are refused", "[unit][prepare][skills][pain-70]") {
  check_tar_refused(HandMadeTar(false).add("/etc/x", '0'), "absolute");
  check_tar_refused(HandMadeTar(false).add("../x", '0'), "'..'");
  check_tar_refused(HandMadeTar(false).add("a/../../x", '0'), "'..'");
  check_tar_refused(HandMadeTar(false).add("a/..", '5'), "'..'");
  check_tar_refused(HandMadeTar(false).add("a//x", '0'), "empty part");
  check_tar_refused(HandMadeTar(false).add("a/./x", '0'), "'.'");
  check_tar_refused(HandMadeTar(false).add("C:\\x", '0'), "absolute");
  check_tar_refused(HandMadeTar(false).pax("path", std::string(256, 'n')).add("n", '0'),
                    "255 bytes");
  std::string deep = "x";
  for (int i = 0; i < 64; ++i) deep += "/x";
  check_tar_refused(HandMadeTar(false).pax("path", deep).add("n", '0'), "64 directories");
  check_refused(pack(Packing::kZip, {{"../x", "y"}}), ErrorCode::kInvalidArgument, "'..'");
}

TEST_CASE("Package: what is there twice, or below a file, is refused", "[unit][prepare][skills]") {
  check_tar_refused(HandMadeTar(false).add("a", '0').add("a", '0'), "twice");
  check_tar_refused(HandMadeTar(false).add("a", '0').add("./a", '0'), "twice");
  check_tar_refused(HandMadeTar(false).add("a", '0').add("a/", '5'), "twice");
  check_tar_refused(HandMadeTar(false).add("a", '0').add("a/b", '0'), "no directory");
  check_tar_refused(HandMadeTar(false).add("a", '2', "b").add("b/", '5').add("a/c", '0'),
                    "no directory");
  CHECK(read(test::bytes_of_text(HandMadeTar(false).add("a/", '5').add("a/", '5').tar()))
            .entries.size() == 1);
}

TEST_CASE("Package: links out, and links through links, are refused",
          "[unit][prepare][skills][pain-70]") {
  check_tar_refused(HandMadeTar(false).add("l", '2', "/etc/passwd"), "link out");
  check_tar_refused(HandMadeTar(false).add("l", '2', "../x"), "link out");
  check_tar_refused(HandMadeTar(false).add("d/", '5').add("d/l", '2', "../../x"), "link out");
  check_tar_refused(
      HandMadeTar(false).add("a/", '5').add("a/up", '2', "..").add("l", '2', "a/up/../../etc"),
      "link");
  check_tar_refused(HandMadeTar(false)
                        .add("a/", '5')
                        .add("a/b/", '5')
                        .add("a/b/up", '2', "../..")
                        .add("l", '2', "a/b/up/.."),
                    "through another link");
  check_tar_refused(HandMadeTar(false).add("h", '1', "/etc/passwd"), "no earlier file");
  check_tar_refused(HandMadeTar(false).add("h", '1', "later").add("later", '0'), "no earlier file");
  const Package package = read(test::bytes_of_text(HandMadeTar(false)
                                                       .add("d/", '5')
                                                       .add("f", '0', "", "text")
                                                       .add("d/l", '2', "../f")
                                                       .add("h", '1', "f")
                                                       .tar()));
  CHECK(package.find("d/l")->target == "../f");
  CHECK(text_of(*package.find("h")) == "text");
}

TEST_CASE("Package: a zip whose entries are packed by bzip2 is refused, and says so",
          "[unit][prepare][skills]") {
  constexpr std::string_view kZip =  // by Python's zipfile
      "504b03042e0000000c000000215ce7500a6c430000001f00000008000000534b494c4c2e6d64425a"
      "6839314159265359bcad7276000005d9800010400200103e23dc00200021a9ea320687a42869a600"
      "1ece5c101866304a6e44cc2ba0b93f177245385090bcad7276504b01022e032e0000000c00000021"
      "5ce7500a6c430000001f000000080000000000000000000000800100000000534b494c4c2e6d6450"
      "4b0506000000000100010036000000690000000000";
  Bytes bytes;
  for (std::size_t i = 0; i < kZip.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(kZip.substr(i, 2)), nullptr, 16)));
  }
  check_refused(bytes, ErrorCode::kUnsupported,
                "entry 'SKILL.md' of package 'p' is packed by bzip2");
}

TEST_CASE("Package: devices, FIFOs and what is no archive are refused", "[unit][prepare][skills]") {
  for (const char type : {'3', '4', '6'}) {
    check_tar_refused(HandMadeTar(false).add("x", type), "device, FIFO or socket",
                      ErrorCode::kUnsupported);
  }
  check_refused(test::bytes_of_text("not an archive at all, but long enough to be looked at"),
                ErrorCode::kInvalidArgument, "cannot be read");
  check_refused({}, ErrorCode::kInvalidArgument, "empty");
  Bytes cut = pack(Packing::kTarGz, kFiles);
  cut.resize(cut.size() / 2);
  check_refused(cut, ErrorCode::kInvalidArgument, "cannot be read");
  // Between two entries: the end is missing, nothing else.
  Bytes whole = pack(Packing::kTar, kFiles);
  const auto is_end = [](std::byte byte) { return byte == std::byte{0}; };
  while (std::all_of(whole.end() - 512, whole.end(), is_end)) whole.resize(whole.size() - 512);
  check_refused(whole, ErrorCode::kInvalidArgument, "cut short");
  Bytes zip = pack(Packing::kZip, {{"a", std::string(100'000, 'x')}});
  zip.resize(zip.size() / 2);
  check_refused(zip, ErrorCode::kInvalidArgument, "cannot be read");
}

TEST_CASE("Package: sizes, entries and the ratio are bounded by what is really there",
          "[unit][prepare][skills]") {
  PackageLimits limits;
  limits.content_bytes = 1000;
  check_refused(pack(Packing::kTar, {{"a", std::string(1001, 'x')}}), ErrorCode::kTooLarge, "1000",
                limits);
  limits = {};
  limits.entries = 2;
  check_refused(pack(Packing::kTar, {{"a", ""}, {"b", ""}, {"c", ""}}), ErrorCode::kTooLarge,
                "2 entries", limits);
  check_refused(pack(Packing::kTar, {{"a/b/c", ""}}), ErrorCode::kTooLarge, "2 entries", limits);
  limits = {};
  limits.packed_bytes = 100;
  check_refused(pack(Packing::kTar, kFiles), ErrorCode::kTooLarge, "may have 100", limits);
  // 20 MiB of nothing fit into some KiB.
  check_refused(pack(Packing::kTarGz, {{"bomb", std::string(20 << 20, '\0')}}),
                ErrorCode::kTooLarge, "200 times");
  // Also where it is a file that nobody wants.
  check_refused(pack(Packing::kTarGz, {{"__MACOSX/bomb", std::string(20 << 20, '\0')}}),
                ErrorCode::kTooLarge, "200 times");
}

TEST_CASE("Package: a directory of the host is the same package, and its links are not followed",
          "[unit][prepare][skills]") {
  ScratchDirectory scratch;
  const std::string top = scratch / "skill";
  std::filesystem::create_directories(top + "/scripts");
  const auto put = [&](const std::string& path, const std::string& text) {
    std::ofstream(top + "/" + path, std::ios::binary) << text;
  };
  put("SKILL.md", "text");
  put("scripts/run.sh", "#!/bin/sh\n");
  put("scripts/数据.csv", "1,2\n");
  put("empty", "");
  REQUIRE(::chmod((top + "/scripts/run.sh").c_str(), 0700) == 0);
  std::filesystem::create_symlink("scripts/run.sh", top + "/latest");
  const auto package = read_package_directory("p", top);
  REQUIRE(package);
  CHECK(package->hash == read(pack(Packing::kTar, kFiles)).hash);

  const std::string before = directory_signature("p", top).value();
  CHECK(directory_signature("p", top).value() == before);
  put("SKILL.md", "another");
  CHECK(directory_signature("p", top).value() != before);

  std::filesystem::create_symlink(top, scratch / "link");
  CHECK(read_package_directory("p", scratch / "link").error().code() ==
        ErrorCode::kFailedPrecondition);
  CHECK(read_package_directory("p", scratch / "none").error().code() == ErrorCode::kNotFound);
  std::filesystem::create_symlink("/etc/passwd", top + "/out");
  CHECK_THAT(read_package_directory("p", top).error().message(), Catch::Contains("link out"));
  std::filesystem::remove(top + "/out");
  REQUIRE(::mkfifo((top + "/pipe").c_str(), 0600) == 0);
  CHECK(read_package_directory("p", top).error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("Package: files are hashed while others come, with the same result",
          "[unit][prepare][skills]") {
  const auto add = [](PackageBuilder& builder, const std::string& name, const std::string& text) {
    REQUIRE(builder.begin(name, PackageEntryType::kFile).value());
    builder.expect(1U << 30U);  // a lie costs nothing
    REQUIRE(builder.append(test::bytes_of_text(text)));
  };
  PackageBuilder plain("p", {});
  PackageBuilder beside("p", {});
  for (PackageBuilder* const builder : {&plain, &beside}) {
    add(*builder, "b", "1");
    add(*builder, "a", "22");
  }
  auto hashes = beside.take_unhashed();
  REQUIRE(hashes.size() == 1);  // the last one may still grow
  for (PackageBuilder* const builder : {&plain, &beside}) {
    REQUIRE(builder->append(test::bytes_of_text("3")));
    add(*builder, "c", "");
  }
  work_out(hashes);
  beside.put_hashes(std::move(hashes));
  CHECK(beside.take_unhashed().size() == 1);  // not given back: hashed at the end
  const Package one = plain.finish().value();
  const Package other = beside.finish().value();
  CHECK(one.hash == other.hash);
  CHECK(other.find("a")->sha256 == one.find("a")->sha256);
  CHECK(text_of(*other.find("a")) == "223");
}

TEST_CASE("Package: names that are said to be UTF-8 come through in the C locale",
          "[unit][prepare][skills]") {
  REQUIRE(std::string(std::setlocale(LC_CTYPE, nullptr)) == "C");
  const std::vector<PackedFile> files{{"SKILL.md", "text"}, {"数据é.csv", "1,2\n"}};
  const auto wanted = paths_of(read(pack(Packing::kTar, files)));
  REQUIRE(wanted == std::vector<std::string>{"SKILL.md", "数据é.csv"});
  CHECK(paths_of(read(with_utf8_flag(pack(Packing::kZip, files)))) == wanted);
  HandMadeTar tar(false);
  tar.add("SKILL.md", '0', "", "text");
  tar.pax("path", "数据é.csv").add("data.csv", '0', "", "1,2\n");
  CHECK(paths_of(read(test::bytes_of_text(tar.tar()))) == wanted);
}

TEST_CASE("Package: as a tar stream it comes back whole", "[unit][prepare][skills]") {
  std::vector<PackedFile> files = kFiles;
  files.push_back({"large", std::string(1'000'000, 'x')});
  files.push_back({std::string(200, 'n') + "/" + std::string(200, 'm'), "long"});
  files.push_back({"caf\xe9", "latin"});
  const auto package = std::make_shared<const Package>(read(pack(Packing::kTar, files)));
  test::SteppedScheduler scheduler;
  const CallContext call;
  const auto tar = tar_of(package);
  const std::string all = scheduler.run(test::read_all(*tar, call)).value();
  // By the reader that the agent has.
  TreeComparison comparison(*package);
  REQUIRE(comparison.feed(test::bytes_of_text(all)));
  CHECK(comparison.finish().value().empty());
}
