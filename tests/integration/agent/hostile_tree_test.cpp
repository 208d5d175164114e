// A directory that is downloaded: whatever the agent sends, the archive that is passed on puts
// nothing outside the directory that a host unpacks it in.
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/tar/tar_entry.hpp"
#include "support/fixtures/hostile_agent.hpp"
#include "support/trees/hand_made_archive.hpp"
#include "wire/reply.hpp"

using namespace cove;
using base::TarEntry;
using base::TarType;
using test::Attacker;
using test::Fate;
using test::HandMadeTar;
using test::HostCall;

namespace {

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return Bytes(bytes.begin(), bytes.end());
}

/// Sends an archive in pieces that are cut anywhere, and its count.
test::Part sending(const std::string& archive) {
  return [archive](const Attacker& at) {
    constexpr std::size_t kPiece = 700;
    at.say(test::event(wire::encode_nothing()));
    for (std::size_t begin = 0; begin < archive.size(); begin += kPiece) {
      at.say(test::data(bytes_of(std::string_view(archive).substr(begin, kPiece))));
    }
    at.say(test::answer(wire::encode_count({archive.size(), ""})));
  };
}

/// Downloads; what was passed on is added to `passed`.
HostCall download(std::string& passed) {
  const auto run = [&passed](base::IoLoop& loop, Guest& guest,
                             const CallContext& call) -> std::optional<Error> {
    const GuestPath path{"", "d"};
    const auto tree = base::sync_wait(loop, guest.read_tree(path, call));
    if (!tree) return tree.error();
    for (;;) {
      const auto piece = base::sync_wait(loop, (*tree)->next(call));
      if (!piece) return piece.error();
      if (piece->empty()) return std::nullopt;
      // SAFETY: bytes seen as characters.
      passed.append(reinterpret_cast<const char*>(piece->data()), piece->size());
    }
  };
  return {"read_tree", run, [](const wire::Request&) { return test::Script(); }};
}

/// Empty: the archive ended in a provider error, and `secret` was not passed on.
std::string try_archive(const std::string& archive, const std::string& secret) {
  std::string passed;
  const std::string wrong =
      test::try_one(download(passed), {secret, Fate::kProvider, sending(archive)});
  const bool is_told = passed.find(secret) != std::string::npos;
  return is_told ? wrong + "it was passed on: " + secret + "\n" : wrong;
}

HandMadeTar made() { return HandMadeTar(false); }

/// The entry that must not be passed on is named `bad`.
std::vector<std::string> bad_trees() {
  return {
      made().add("../bad", '0').tar(),
      made().add("d/../../bad", '0').tar(),
      made().add("/bad", '0').tar(),
      made().add("./bad", '0').tar(),
      made().add("d//bad", '0').tar(),
      made().add("..", '5').tar(),
      made().add("d/..", '5').tar(),
      made().add("bad/../", '5').tar(),
      made().pax("path", "../bad").add("f", '0').tar(),
      made().pax("path", std::string("bad\0f", 5)).add("f", '0').tar(),
      made().pax("path", "/bad").add("f", '0').tar(),
      made().add("././@LongLink", 'L', "", "../bad").add("f", '0').tar(),
      made().add("d/bad", '0').tar(),  // d is no directory that came
      made().add("l", '2', "/etc").add("l/bad", '0').tar(),
      made().add("f", '0').add("f/bad", '0').tar(),
      made().add("d/", '5').add("l", '2', "/").add("d/bad", '0').tar(),
      made().add("l", '2', "/etc").add("l", '0', "", "bad").tar(),
      made().add("bbb", '0').add("bad", '0').tar(),
      made().add("d/", '5').add("d/f", '0').add("d/", '5').add("d/bad", '0').tar(),
      made().add("bad", '1', "/etc/passwd").tar(),
      made().add("bad", '1', "../f").tar(),
      made().add("bad", '1', "d/../../f").tar(),
      made().add("bad", '1', "").tar(),
      made().add("a", '2', "/etc").add("bad", '1', "a/passwd").tar(),
      made().add("a", '2', "/etc/passwd").add("bad", '1', "a").tar(),
      made().add("d/", '5').add("d/l", '2', "/").add("e", '1', "d/l/bad/f").tar(),
      made().add("bad", '2', "").tar(),
      made().pax("linkpath", std::string("bad\0f", 5)).add("l", '2', "x").tar(),
      made().add("bad", '3').tar(),
      made().add("bad", '6').tar(),
      made().add("bad", 'S').tar(),
      made().pax("GNU.sparse.name", "../bad").add("f", '0').tar(),
      made().add("f", '0').tar() + "bad",
      made().add("f", '0', "", "bad").tar().substr(0, 512),
      std::string(1024, 'x') + "bad",
      "bad",
      "",
  };
}

}  // namespace

TEST_CASE("Guest: a tree that leads out is refused before the entry is passed on",
          "[integration][guest][security]") {
  std::size_t number = 0;
  for (const std::string& archive : bad_trees()) {
    CAPTURE(number++);
    CHECK(try_archive(archive, "bad") == "");
  }
}

TEST_CASE("Guest: a tree passes as an honest agent sends it", "[integration][guest][security]") {
  std::string good;
  const auto put = [&](const TarEntry& entry) { base::append_tar_header(good, entry); };
  put({.type = TarType::kDirectory, .path = "a/", .mode = 0700, .seconds = -5, .nanoseconds = 7});
  put({.type = TarType::kDirectory, .path = "a/b/"});
  put({.path = "a/b/" + std::string(200, 'c'), .mode = 04755, .size = 700});
  good += std::string(700, 'x') + std::string(base::tar_padding(700), '\0');
  put({.type = TarType::kSymlink, .path = "a/l", .target = "../../etc"});
  put({.type = TarType::kHardLink, .path = "a/m", .target = "a/b/" + std::string(200, 'c')});
  put({.path = "a-", .size = 512});
  good += std::string(512, 'y');
  put({.path = "b\xff"});
  good.append(2 * base::kTarBlock, '\0');
  std::string passed;
  CHECK(test::try_one(download(passed), {"good", Fate::kEither, sending(good)}) == "");
  CHECK(passed == good);
}

TEST_CASE("Guest: what an unpacker may take for more than Cove does is not passed on",
          "[integration][guest][security]") {
  const std::string tree = made()
                               .add("g", 'g', "", "24 LIBARCHIVE.hidden=1\n")
                               .pax("SCHILY.xattr.hidden", "1")
                               .add("f", '0', "", "content")
                               .tar();
  std::string passed;
  CHECK(test::try_one(download(passed), {"more", Fate::kEither, sending(tree)}) == "");
  CHECK(passed.find("content") != std::string::npos);
  CHECK(passed.find("hidden") == std::string::npos);
}

TEST_CASE("Guest: a tree without end ends with its call's deadline",
          "[integration][guest][security]") {
  std::string header;
  base::append_tar_header(header, {.path = "f", .size = 1ULL << 50U});
  const auto part = [&](const Attacker& at) {
    at.say(test::event(wire::encode_nothing()));
    at.say(test::data(bytes_of(header)));
    at.say_for_ever({test::data(Bytes(64 * 1024))});
  };
  std::string passed;
  CHECK(test::try_one(download(passed), {"for ever", Fate::kAnyError, part}) == "");
  CHECK(passed.size() > header.size());
}

TEST_CASE("Guest: an archive without entries or without an end is refused",
          "[integration][guest][security]") {
  const std::string header = made().pax("comment", std::string(60'000, 'x')).tar();
  const std::string pax = header.substr(0, header.size() - 1024);
  const std::string zeros(64 * 1024, '\0');
  for (const std::string& piece : {pax, zeros}) {
    const auto part = [&](const Attacker& at) {
      at.say(test::event(wire::encode_nothing()));
      at.say_for_ever({test::data(bytes_of(piece))});
    };
    std::string passed;
    CHECK(test::try_one(download(passed), {"for ever", Fate::kProvider, part}) == "");
    CHECK(passed.empty());
  }
}
