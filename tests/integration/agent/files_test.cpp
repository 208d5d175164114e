// Files through a real agent: what the wire, the worker threads and two hosts add.
#include <algorithm>
#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"

using namespace cove;
using Catch::Matchers::Contains;
using cove::test::AgentFixture;

namespace {

Task<Result<std::string>> drain(ByteSource& source) {
  const CallContext call;
  std::string text;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source.next(call));
    if (piece.empty()) co_return text;
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
}

GuestPath at(const std::string& path) { return {"", path}; }

/// Bytes that are there already, in small pieces.
class Pieces final : public ByteSource {
 public:
  explicit Pieces(std::string text) : text_(std::move(text)) {}
  Task<Result<Bytes>> next(const CallContext&) override {
    const auto rest = std::as_bytes(std::span(text_)).subspan(at_);
    const auto piece = rest.first(std::min<std::size_t>(rest.size(), 100'000));
    at_ += piece.size();
    co_return Bytes(piece.begin(), piece.end());
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

Result<FileInfo> write(AgentFixture& f, Guest& guest, const std::string& path,
                       const std::string& text, const WriteOptions& options = {}) {
  Pieces content(text);
  return f.wait(guest.write_file(at(path), content, options, {}));
}

}  // namespace

TEST_CASE("Guest: a read says what the file is", "[integration][guest][files]") {
  AgentFixture f;
  f.agent.put("a.txt", std::string(10'000, 'x') + "end");
  f.agent.put("b.png", std::string("\x89PNG\r\n\x1a\n\0\0\0\r", 12));
  auto file = f.wait(f.guest->read_file(at("a.txt"), {.offset = 10'000, .length = {}}, {})).value();
  CHECK(file.content_type == "text/plain; charset=utf-8");
  CHECK(file.info.size == 10'003);
  CHECK(file.length == 3);
  CHECK(file.info.etag == f.wait(f.guest->stat(at("a.txt"), {})).value().etag);
  CHECK(f.wait(drain(*file.content)).value() == "end");
  CHECK(f.wait(f.guest->read_file(at("b.png"), {}, {})).value().content_type == "image/png");
  f.agent.put("empty", "");
  auto empty = f.wait(f.guest->read_file(at("empty"), {}, {})).value();
  CHECK(f.wait(drain(*empty.content)).value().empty());
}

TEST_CASE("Guest: lines come over the wire, more than one window of them too",
          "[integration][guest][files]") {
  AgentFixture f;
  std::string text;
  while (text.size() < 3'000'000) text += std::to_string(text.size()) + "\n";
  f.agent.put("large", text);
  const LineRange range{.first = 1, .count = 1'000'000, .max_bytes = 8U << 20U};
  const LineSlice all = f.wait(f.guest->read_lines(at("large"), range, {})).value();
  CHECK(all.text == text);
  CHECK_FALSE(all.next);
  const LineSlice some =
      f.wait(f.guest->read_lines(at("large"), {.first = 2, .count = 1}, {})).value();
  CHECK(some.text == "2\n");
  CHECK(some.next == 3U);
  CHECK(f.wait(f.guest->read_lines(at("none"), {}, {})).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Guest: edits of two hosts at once all apply, and a conflict is a clear one",
          "[integration][guest][files][threads]") {
  AgentFixture f;
  const auto other = f.connect();
  std::string text;
  for (int i = 0; i < 40; ++i) text += "<" + std::to_string(i) + ">\n";
  f.agent.put("shared", text);
  std::atomic<int> failed = 0;
  const auto work = [&](Guest& guest, int from) {
    for (int i = from; i < 40; i += 2) {
      const std::vector<Edit> edits{{"<" + std::to_string(i) + ">", "[" + std::to_string(i) + "]"}};
      if (!f.wait(guest.edit_file(at("shared"), edits, {}, {}))) ++failed;
    }
  };
  std::thread one([&] { work(*f.guest, 0); });
  std::thread two([&] { work(*other, 1); });
  one.join();
  two.join();
  CHECK(failed == 0);
  CHECK(f.agent.get("shared").find('<') == std::string::npos);
  const std::string etag = f.wait(f.guest->stat(at("shared"), {})).value().etag;
  const std::vector<Edit> edits{{"[0]", "zero"}};
  REQUIRE(f.wait(f.guest->edit_file(at("shared"), edits, {.if_unchanged_since = etag}, {})));
  const std::vector<Edit> later{{"[1]", "one"}};
  const auto stale =
      f.wait(other->edit_file(at("shared"), later, {.if_unchanged_since = etag}, {}));
  CHECK(stale.error().code() == ErrorCode::kConflict);
  CHECK_THAT(stale.error().message(), Contains(etag));
}

TEST_CASE("Guest: an edit that fails says which and where, and large texts go through",
          "[integration][guest][files]") {
  AgentFixture f;
  f.agent.put("a", "one\ntwo\n");
  const std::vector<Edit> wrong{{"one", "1"}, {"twoo", "2"}};
  const auto refused = f.wait(f.guest->edit_file(at("a"), wrong, {}, {}));
  REQUIRE(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK_THAT(refused.error().message(), Contains("line 2 is 'two'"));
  REQUIRE(refused.error().context().size() == 1);
  CHECK(refused.error().context()[0].second == "2");
  CHECK(f.agent.get("a") == "one\ntwo\n");
  const std::string large(5'000'000, 'x');
  const std::vector<Edit> growing{{"one", large}, {"two", "2"}};
  const auto result = f.wait(f.guest->edit_file(at("a"), growing, {}, {})).value();
  CHECK(result.edits[1].first_line == 2);
  CHECK(f.agent.get("a") == large + "\n2\n");
  const std::vector<Edit> empty{{"", "x"}};
  CHECK(f.wait(f.guest->edit_file(at("a"), empty, {}, {})).error().code() ==
        ErrorCode::kInvalidArgument);
  const std::vector<Edit> many(1001, Edit{"a", "b"});
  CHECK(f.wait(f.guest->edit_file(at("a"), many, {}, {})).error().code() == ErrorCode::kTooLarge);
}

TEST_CASE("Guest: writes obey their conditions", "[integration][guest][files]") {
  AgentFixture f;
  const auto made = write(f, *f.guest, "a", "one", {.if_absent = true}).value();
  CHECK(write(f, *f.guest, "a", "two", {.if_absent = true}).error().code() ==
        ErrorCode::kAlreadyExists);
  CHECK(write(f, *f.guest, "a", "+two", {.append = true}).value().size == 7);
  CHECK(write(f, *f.guest, "a", "x", {.if_unchanged_since = made.etag}).error().code() ==
        ErrorCode::kConflict);
  CHECK(f.agent.get("a") == "one+two");
}

TEST_CASE("Guest: a tree is listed, copied, moved, downloaded and uploaded",
          "[integration][guest][files]") {
  AgentFixture f;
  for (int i = 0; i < 50; ++i) {
    REQUIRE(write(f, *f.guest, "from/d" + std::to_string(i % 5) + "/" + std::to_string(i),
                  std::string(20'000, 'x')));
  }
  const ListOptions deep{.after = "", .limit = 1000, .depth = 0};
  CHECK(f.wait(f.guest->list(at("from"), deep, {})).value().entries.size() == 55);
  CHECK(f.wait(f.guest->copy(at("from"), at("copy"), {}, {})).value().entries == 56);
  CHECK(f.wait(f.guest->move(at("copy"), at("moved"), {}, {})).value().path == "moved");
  CHECK(f.wait(f.guest->set_mode(at("moved"), 0700, {})).value().mode == 0700);
  CHECK(f.wait(f.guest->make_symlink(at("link"), "moved", {})).value().link_target == "moved");
  const auto source = f.wait(f.guest->read_tree(at("moved"), {})).value();
  const std::string archive = f.wait(drain(*source)).value();
  CHECK(archive.size() > 1'000'000);
  Pieces content(archive);
  const auto counts = f.wait(f.guest->write_tree(at("in/deep"), content, {})).value();
  CHECK(counts.entries == 55);
  CHECK(counts.bytes == 1'000'000);
  CHECK(f.agent.get("in/deep/d4/49") == std::string(20'000, 'x'));
  CHECK(f.wait(f.guest->read_tree(at("none"), {})).error().code() == ErrorCode::kNotFound);
  CHECK(f.wait(f.guest->copy(at("from"), at("moved"), {}, {})).error().code() ==
        ErrorCode::kAlreadyExists);
}

TEST_CASE("Guest: an archive that stops in the middle is an error, and the guest goes on",
          "[integration][guest][files]") {
  AgentFixture f;
  Pieces junk(std::string(5'000'000, 'x'));
  CHECK(f.wait(f.guest->write_tree(at("in"), junk, {})).error().code() ==
        ErrorCode::kInvalidArgument);
  CHECK(f.wait(f.guest->stat(at("in"), {})).value().type == FileType::kDirectory);
}

TEST_CASE("Guest: a watch tells what commands do, and ends with its object",
          "[integration][guest][files]") {
  AgentFixture f;
  const std::size_t before = f.agent.open_descriptors();
  {
    const auto watch = f.wait(f.guest->watch(at(""), {}, {})).value();
    REQUIRE(f.shell("mkdir -p d/e && echo x > d/e/file"));
    std::vector<std::string> created;
    while (std::ranges::find(created, "d/e/file") == created.end()) {
      for (const FileEvent& event : f.wait(watch->next({})).value()) {
        if (event.change == FileChange::kCreated) created.push_back(event.path);
      }
    }
    CHECK(created.front() == "d");
    CHECK(f.agent.open_descriptors() > before);
  }
  REQUIRE(f.wait(f.guest->status({})));
  CHECK(f.wait(f.guest->watch(at("none"), {}, {})).error().code() == ErrorCode::kNotFound);
  const WatchOptions one{.recursive = true, .max_directories = 1};
  CHECK(f.wait(f.guest->watch(at(""), one, {})).error().code() == ErrorCode::kQuotaExceeded);
}

TEST_CASE("Guest: a watch that nobody reads costs no memory and says what it lost",
          "[integration][guest][files][slow]") {
  AgentFixture f;
  const auto watch = f.wait(f.guest->watch(at(""), {}, {})).value();
  REQUIRE(f.shell("i=0; while [ $i -lt 60000 ]; do : > n$i; i=$((i+1)); done"));
  bool overflow = false;
  for (;;) {
    const CallContext soon{.deadline = f.clock.now() + std::chrono::seconds(2)};
    const auto events = f.wait(watch->next(soon));
    if (!events) break;
    for (const FileEvent& event : *events) {
      overflow = overflow || event.change == FileChange::kOverflow;
    }
  }
  CHECK(overflow);
}

TEST_CASE("Guest: HOME's builtin directory is read and never written",
          "[integration][guest][files]") {
  test::TemporaryDirectory home;
  wire::AgentBoot boot;
  boot.environment["HOME"] = home.path();
  AgentFixture f(boot);
  REQUIRE(f.shell("mkdir -p $HOME/.cove/builtin && echo skill > $HOME/.cove/builtin/s"));
  auto file = f.wait(f.guest->read_file(at(home.path() + "/.cove/builtin/s"), {}, {})).value();
  CHECK(f.wait(drain(*file.content)).value() == "skill\n");
  CHECK(write(f, *f.guest, home.path() + "/.cove/builtin/s", "x").error().code() ==
        ErrorCode::kPermissionDenied);
  CHECK(write(f, *f.guest, home.path() + "/other", "x").error().code() == ErrorCode::kPathEscape);
}
