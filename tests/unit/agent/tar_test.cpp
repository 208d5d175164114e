// Trees as tar streams: what goes out comes in again, and nothing hostile gets out of its
// directory.
#include <cstdlib>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "agent/trees/tree_packer.hpp"
#include "agent/trees/tree_unpacker.hpp"
#include "base/tar/tar_reader.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"
#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
namespace fs = std::filesystem;
using cove::agent::testing::bytes_of;
using cove::agent::testing::make_disk;
using cove::agent::testing::WorkspaceFixture;
using cove::test::TreeBuilder;

namespace {

Result<std::string> pack(const Files& files, const std::string& path, std::size_t room = 65'536) {
  COVE_TRY(const auto packer, files.begin_pack({"", path}));
  std::string all;
  for (;;) {
    COVE_TRY(const Bytes piece, packer->next(room));
    if (piece.empty()) return all;
    all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
}

Result<TreeCounts> unpack(const Files& files, const std::string& path, const std::string& archive,
                          std::size_t piece = 65'536) {
  COVE_TRY(const auto unpacker, files.begin_unpack({"", path}));
  for (std::size_t at = 0; at < archive.size(); at += piece) {
    COVE_TRY_VOID(
        unpacker->feed(bytes_of(archive).subspan(at, std::min(piece, archive.size() - at))));
  }
  return unpacker->finish();
}

std::string with_end(std::string archive) { return archive.append(1024, '\0'); }

std::string file_entry(const std::string& path, const std::string& content) {
  std::string archive;
  base::append_tar_header(archive, {.path = path, .mode = 0644, .size = content.size()});
  archive += content;
  return archive.append(base::tar_padding(content.size()), '\0');
}

std::string link_entry(base::TarType type, const std::string& path, const std::string& target) {
  std::string archive;
  base::append_tar_header(archive, {.type = type, .path = path, .target = target, .mode = 0777});
  return archive;
}

/// A ustar header with another type, and the checksum that goes with it.
std::string entry_of_type(char type, const std::string& path) {
  std::string block = file_entry(path, "");
  block[156] = type;
  block.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum & 0777777U);
  return block.replace(148, 7, digits, 7);
}

int run(const std::string& command) { return std::system(command.c_str()); }

}  // namespace

TEST_CASE("Tar: a tree comes back as it was, in pieces of any size", "[unit][agent][files]") {
  const WorkspaceFixture w;
  TreeBuilder tree(w.workspace().string());
  tree.directory("from");
  tree.directory("from/d", 0700);
  tree.file("from/d/run", "#!/bin/sh\n", 0755);
  tree.file("from/empty", "", 0600);
  tree.file("from/block", std::string(512, 'x'));
  tree.file("from/large", std::string(300'001, 'y'));
  tree.file("from/\xff\xfe\n", "bytes");
  tree.file("from/数据.csv", "text");
  const std::string long_name(200, 'n');
  tree.directory("from/" + long_name);
  tree.file("from/" + long_name + "/" + long_name, "deep");
  tree.symlink("from/link", "/etc/passwd");
  tree.symlink("from/far", std::string(300, 't'));
  tree.hard_link("from/z", "from/d/run");
  tree.time("from/d/run", 1'000'000'000, 123'456'789);
  tree.time("from/empty", -5, 250'000'000);
  tree.time("from/large", 20'000'000'000, 0);
  tree.mode("from/d", 0500);
  tree.time("from/d", 1'200'000'000, 7);
  const std::string archive = pack(w.files(), "from").value();
  CHECK(archive == pack(w.files(), "from", 700).value());
  CHECK(archive.size() % 512 == 0);
  for (const std::size_t piece : {std::size_t{100'000}, std::size_t{511}}) {
    const std::string to = "to" + std::to_string(piece);
    const auto counts = unpack(w.files(), to, archive, piece).value();
    CHECK(counts.entries == 12);
    auto before = test::describe_tree(tree.at("from"));
    auto after = test::describe_tree(tree.at(to));
    before.erase("");  // the directory itself is not in it
    after.erase("");
    CHECK(before == after);
  }
}

TEST_CASE("Tar: GNU tar reads what we write, and we read what it writes", "[unit][agent][files]") {
  if (run("tar --version > /dev/null 2>&1") != 0) return;  // no tar on this machine
  const WorkspaceFixture w;
  TreeBuilder tree(w.workspace().string());
  tree.directory("from");
  const std::string long_name(180, 'n');
  tree.file("from/" + long_name, "long");
  tree.file("from/\xe9", "bytes", 0640);
  tree.symlink("from/link", long_name);
  tree.hard_link("from/twin", "from/" + long_name);
  tree.time("from/\xe9", 1'000'000'000, 5);
  auto expected = test::describe_tree(tree.at("from"));
  expected.erase("");
  const std::string top = w.workspace().string();
  w.put(w.outside() / "a.tar", pack(w.files(), "from").value());
  REQUIRE(run("mkdir " + top + "/gnu && tar -C " + top + "/gnu -xpf " +
              (w.outside() / "a.tar").string()) == 0);
  auto read_by_gnu = test::describe_tree(tree.at("gnu"), {.with_owners = false});
  read_by_gnu.erase("");
  auto without_owners = test::describe_tree(tree.at("from"), {.with_owners = false});
  without_owners.erase("");
  CHECK(read_by_gnu == without_owners);
  for (const std::string format : {"gnu", "pax"}) {
    const std::string file = (w.outside() / (format + ".tar")).string();
    REQUIRE(run("tar --format=" + format + " -C " + top + "/from -cf " + file + " .") == 0);
    REQUIRE(unpack(w.files(), "in-" + format, w.get(file)));
    auto names = w.names("in-" + format);
    CHECK(names == w.names("from"));
    CHECK(w.get(w.workspace() / ("in-" + format) / long_name) == "long");
    CHECK(fs::hard_link_count(w.workspace() / ("in-" + format) / "twin") == 2);
  }
}

TEST_CASE("Tar: a hostile archive writes nothing outside its directory [pain-70]",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  const std::string outside = w.outside().string();
  const auto refused = [&](const std::string& archive, ErrorCode code) {
    CHECK(w.code_of(unpack(w.files(), "in", with_end(archive))) == code);
    CHECK(w.get(w.outside() / "secret") == "outside");
    CHECK_FALSE(fs::exists(w.outside() / "new"));
    CHECK_FALSE(fs::exists(w.workspace() / "new"));
  };
  refused(file_entry("../new", "x"), ErrorCode::kPathEscape);
  refused(file_entry("a/../../new", "x"), ErrorCode::kPathEscape);
  refused(file_entry(outside + "/new", "x"), ErrorCode::kPathEscape);
  refused(link_entry(base::TarType::kSymlink, "out", outside) + file_entry("out/new", "x"),
          ErrorCode::kPathEscape);
  refused(link_entry(base::TarType::kSymlink, "up", "..") + file_entry("up/new", "x"),
          ErrorCode::kPathEscape);
  refused(link_entry(base::TarType::kHardLink, "mine", "../../outside/secret"),
          ErrorCode::kPathEscape);
  refused(link_entry(base::TarType::kSymlink, "out", outside) +
              link_entry(base::TarType::kHardLink, "mine", "out/secret"),
          ErrorCode::kInvalidArgument);
  refused(link_entry(base::TarType::kSymlink, "s", outside + "/secret") +
              link_entry(base::TarType::kHardLink, "mine", "s"),
          ErrorCode::kInvalidArgument);
  // A link at the very place of a file is replaced, not written through.
  REQUIRE(unpack(w.files(), "in",
                 with_end(link_entry(base::TarType::kSymlink, "f", outside + "/secret") +
                          file_entry("f", "mine"))));
  CHECK(w.get(w.outside() / "secret") == "outside");
  CHECK(w.get(w.workspace() / "in/f") == "mine");
}

TEST_CASE("Tar: a link in the target directory is not written through [pain-70]",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  fs::create_directory(w.workspace() / "in");
  fs::create_directory_symlink("../../outside", w.workspace() / "in/d");
  CHECK(w.code_of(unpack(w.files(), "in", with_end(file_entry("d/new", "x")))) ==
        ErrorCode::kPathEscape);
  CHECK_FALSE(fs::exists(w.outside() / "new"));
  fs::create_directory_symlink("../outside", w.workspace() / "way");
  CHECK(w.code_of(unpack(w.files(), "way/x", with_end(file_entry("new", "x")))) ==
        ErrorCode::kPathEscape);
}

TEST_CASE("Tar: devices, FIFOs, sparse and unknown entries are refused", "[unit][agent][files]") {
  const WorkspaceFixture w;
  for (const char type : {'3', '4', '6', 'S', 'V', 'Z'}) {
    CHECK(w.code_of(unpack(w.files(), "in", with_end(entry_of_type(type, "odd")))) ==
          ErrorCode::kUnsupported);
  }
  CHECK(w.names("in").empty());
}

TEST_CASE("Tar: what is no archive, damaged or cut short is refused", "[unit][agent][files]") {
  const WorkspaceFixture w;
  const std::string good = with_end(file_entry("a", "content"));
  const auto code = [&](const std::string& archive) {
    return w.code_of(unpack(w.files(), "in", archive));
  };
  CHECK(code("") == ErrorCode::kInvalidArgument);
  CHECK(code(std::string(2000, 'x')) == ErrorCode::kInvalidArgument);
  CHECK(code(good.substr(0, 300)) == ErrorCode::kInvalidArgument);
  CHECK(code(good.substr(0, 600)) == ErrorCode::kInvalidArgument);
  CHECK(code(good.substr(0, 1024)) == ErrorCode::kInvalidArgument);
  CHECK(code(good + "more") == ErrorCode::kInvalidArgument);
  std::string damaged = good;
  damaged[0] = 'b';
  CHECK(code(damaged) == ErrorCode::kInvalidArgument);
  CHECK(code(with_end(file_entry(std::string(300, 'x'), ""))) == ErrorCode::kInvalidArgument);
  std::string huge = entry_of_type('L', "././@LongLink");
  huge.replace(124, 11, "77777777777");
  CHECK(code(with_end(huge)) == ErrorCode::kInvalidArgument);  // its checksum is wrong by now
  CHECK(w.names().size() == 1);
}

TEST_CASE("Tar: files replace files, directories are merged, other kinds are refused",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "in/keep", "kept");
  w.put(w.workspace() / "in/a", "old");
  w.put(w.workspace() / "in/d/x", "");
  const std::string archive = with_end(file_entry("./a", "new") + file_entry("d/y", "y"));
  CHECK(unpack(w.files(), "in", archive).value().bytes == 4);
  CHECK(w.get(w.workspace() / "in/a") == "new");
  CHECK(w.names("in") == std::vector<std::string>{"a", "d", "keep"});
  CHECK(w.names("in/d") == std::vector<std::string>{"x", "y"});
  CHECK(w.code_of(unpack(w.files(), "in", with_end(file_entry("d", "")))) ==
        ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(unpack(w.files(), "in", with_end(file_entry("a/x", "")))) ==
        ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(unpack(w.files(), "in/a", with_end(""))) == ErrorCode::kAlreadyExists);
}

TEST_CASE("Tar: on a full disk the error is clear and no half file stays [pain-76]",
          "[unit][agent][files]") {
  base::UniqueFd root = make_disk("1m");
  if (!root) return;  // this user may not make a file system
  const Files files(base::UniqueFd(::fcntl(*root, F_DUPFD_CLOEXEC, 0)), "/workspace");
  const std::string archive = with_end(file_entry("a", std::string(300'000, 'x')) +
                                       file_entry("b", std::string(900'000, 'x')));
  const auto result = unpack(files, "in", archive);
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == ErrorCode::kQuotaExceeded);
  const FilePage page = files.list({"", "in"}, {}).value();
  REQUIRE(page.entries.size() == 1);
  CHECK(page.entries[0].size == 300'000);
}
