#include <future>

#include <catch2/catch.hpp>

#include "support/fakes/fake_link.hpp"

using namespace cove;
using cove::testing::bytes_of;
using cove::testing::FakeLink;
using cove::testing::text_of;

namespace {

struct Client {
  std::shared_ptr<FakeLink> link = std::make_shared<FakeLink>();
  SandboxClient client = client::make_client(link, "s");

  std::string& file(const std::string& name) { return link->fake->files["s/" + name]; }
};

/// The value that a callback is given.
template <class T, class Start>
Result<T> await(Start start) {
  std::promise<Result<T>> promise;
  start([&](Result<T> result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

}  // namespace

TEST_CASE("SandboxFiles: read gives what is said of a file with its bytes",
          "[unit][client][files]") {
  Client c;
  c.file("a") = "text";
  const FileContent content = c.client.read("a", {.offset = 1, .length = 2}).value();
  CHECK(text_of(content.bytes) == "ex");
  CHECK(content.info.size == 4);
  CHECK_FALSE(content.info.etag.empty());
  CHECK(content.content_type == "text/plain; charset=utf-8");
  c.file("l") = "1\n2\n3\n";
  CHECK(c.client.read_lines("l", {.first = 2, .count = 1}).value().text == "2\n");
}

TEST_CASE("SandboxFiles: names are changed in the session's paths", "[unit][client][files]") {
  Client c;
  c.file("a") = "text";
  REQUIRE(c.client.move("a", "b"));
  REQUIRE(c.client.copy("b", "c"));
  CHECK(c.client.set_mode("c", 0755).value().mode == 0755);
  CHECK(c.client.make_symlink("l", "c").value().link_target == "c");
  CHECK(c.client.move("b", "c").error().code() == ErrorCode::kAlreadyExists);
  CHECK(c.link->fake->files ==
        std::map<std::string, std::string>{{"s/b", "text"}, {"s/c", "text"}});
}

TEST_CASE("SandboxFiles: a batch keeps its order, and each entry has its own result",
          "[unit][client][files]") {
  Client c;
  c.file("a") = "one two";
  c.file("b") = "x";
  const std::vector<FileEdit> batch{{"a", {{"one", "1"}}},
                                    {"none", {{"x", "y"}}},
                                    {"b", {{"not there", ""}}},
                                    {"a", {{"1", "I"}, {"two", "2"}}}};
  const auto results = c.client.edit_files(batch).value();
  REQUIRE(results.size() == 4);
  CHECK(results[0].value().edits.size() == 1);
  CHECK(results[1].error().code() == ErrorCode::kNotFound);
  CHECK(results[2].error().code() == ErrorCode::kFailedPrecondition);
  CHECK(results[3].value().edits.size() == 2);
  CHECK(c.file("a") == "I 2");
  // Both entries of `a` were one change of it.
  CHECK(c.link->fake->log.calls == std::vector<std::string>(3, "edit_file"));
}

TEST_CASE("SandboxFiles: entries of one file fail together, and say which was wrong",
          "[unit][client][files]") {
  Client c;
  c.file("a") = "one two";
  const std::vector<FileEdit> batch{
      {"a", {{"one", "1"}}}, {"a", {{"two", "2"}, {"three", "3"}}}, {"a", {{"two", "2"}}}};
  const auto results = c.client.edit_files(batch).value();
  CHECK(c.file("a") == "one two");
  CHECK(results[0].error().code() == ErrorCode::kFailedPrecondition);
  CHECK(results[0].error().message() == "nothing was changed: entry 2 for the same file failed");
  REQUIRE(results[1].error().context().size() == 1);
  CHECK(results[1].error().context()[0].second == "2");
  CHECK(results[2].error().message() == results[0].error().message());
  const std::vector<FileEdit> torn{{"a", {{"one", "1"}}, {.if_unchanged_since = "x"}},
                                   {"a", {{"two", "2"}}, {.if_unchanged_since = "y"}}};
  CHECK(c.client.edit_files(torn).value()[1].error().code() == ErrorCode::kInvalidArgument);
  CHECK(c.client.edit_files({}).value().empty());
}

TEST_CASE("SandboxFiles: transfers tell how far they are", "[unit][client][files]") {
  Client c;
  c.file("a") = std::string(200'000, 'x');
  std::vector<std::uint64_t> done;
  std::optional<std::uint64_t> all;
  const Progress progress = [&](std::uint64_t bytes, std::optional<std::uint64_t> total) {
    done.push_back(bytes);
    all = total;
  };
  const ByteSink sink = [](ByteView) { return ok(); };
  REQUIRE(c.client.download("a", sink, {}, progress));
  CHECK(done.back() == 200'000);
  CHECK(done.size() == 4);
  CHECK(all == 200'000U);
  done.clear();
  int pieces = 3;
  const ByteFeed source = [&]() -> Result<Bytes> { return pieces-- > 0 ? Bytes(10) : Bytes(); };
  REQUIRE(c.client.upload("b", source, {}, {}, progress));
  CHECK(done == std::vector<std::uint64_t>{10, 20, 30});
  CHECK_FALSE(all);
}

TEST_CASE("SandboxFiles: a progress callback that throws ends the transfer and nothing hangs",
          "[unit][client][files]") {
  Client c;
  c.file("a") = "text";
  c.file("b") = "old";
  const Progress thrower = [](std::uint64_t, std::optional<std::uint64_t>) {
    throw std::runtime_error("x");
  };
  const ByteSink sink = [](ByteView) { return ok(); };
  CHECK(c.client.download("a", sink, {}, thrower).error().code() == ErrorCode::kInternal);
  const ByteFeed source = []() -> Result<Bytes> { return Bytes(10); };
  CHECK(c.client.upload("b", source, {}, {}, thrower).error().code() == ErrorCode::kInternal);
  CHECK(c.file("b") == "old");
}

TEST_CASE("SandboxFiles: trees go both ways as streams", "[unit][client][files]") {
  Client c;
  c.file("a") = "one";
  c.file("b") = "two";
  std::string got;
  const ByteSink sink = [&](ByteView piece) {
    got += text_of(piece);
    return ok();
  };
  REQUIRE(c.client.download_tree("", sink));
  CHECK(got == "onetwo");
  bool given = false;
  const ByteFeed source = [&]() -> Result<Bytes> {
    return std::exchange(given, true) ? Bytes() : bytes_of("archive");
  };
  CHECK(c.client.upload_tree("t", source).value().bytes == 7);
  CHECK(c.file("t") == "archive");
}

TEST_CASE("SandboxFiles: a watch tells its events until it is answered false",
          "[unit][client][files]") {
  Client c;
  c.link->fake->events = {
      {FileChange::kCreated, "a"}, {FileChange::kModified, "b"}, {FileChange::kRemoved, "c"}};
  std::vector<std::string> told;
  const auto on_event = [&](const FileEvent& event) {
    told.push_back(event.path);
    return told.size() < 2;
  };
  REQUIRE(c.client.watch("", {}, on_event));
  CHECK(told == std::vector<std::string>{"a", "b"});
}

TEST_CASE("SandboxFiles: a watch with callbacks ends by its handle or by its call",
          "[unit][client][files][threads]") {
  Client c;
  c.link->fake->events = {{FileChange::kCreated, "a"}};
  std::promise<std::string> told;
  std::promise<Result<void>> done;
  const WatchHandle handle = c.client.watch_async(
      "", {},
      {.on_events = [&](std::vector<FileEvent> events) { told.set_value(events.at(0).path); },
       .on_done = [&](Result<void> result) { done.set_value(std::move(result)); }});
  CHECK(told.get_future().get() == "a");
  handle.cancel();
  CHECK(done.get_future().get().error().code() == ErrorCode::kCancelled);
  std::stop_source stop;
  std::promise<Result<void>> stopped;
  c.client.watch_async(
      "", {}, {.on_done = [&](Result<void> result) { stopped.set_value(std::move(result)); }},
      {.stop = stop.get_token()});
  stop.request_stop();
  CHECK(stopped.get_future().get().error().code() == ErrorCode::kCancelled);
}

TEST_CASE("SandboxFiles: the forms with callbacks do what the blocking ones do",
          "[unit][client][files][threads]") {
  Client c;
  c.file("a") = "one\ntwo\n";
  const SandboxClient& files = c.client;
  CHECK(await<FileContent>([&](auto done) { files.read_async("a", {}, {}, done); })
            .value()
            .info.size == 8);
  CHECK(await<LineSlice>([&](auto done) { files.read_lines_async("a", {}, {}, done); })
            .value()
            .total_lines == 2U);
  CHECK(await<EditResult>(
            [&](auto done) { files.edit_file_async("a", {{"one", "1"}}, {}, {}, done); })
            .value()
            .edits.size() == 1);
  CHECK(await<std::vector<Result<EditResult>>>([&](auto done) {
          files.edit_files_async({{"a", {{"two", "2"}}}, {"b", {{"x", "y"}}}}, {}, done);
        })
            .value()
            .size() == 2);
  CHECK(await<FileInfo>([&](auto done) { files.move_async("a", "b", {}, {}, done); }));
  CHECK(await<TreeCounts>([&](auto done) { files.copy_async("b", "c", {}, {}, done); }));
  CHECK(await<FileInfo>([&](auto done) { files.set_mode_async("c", 0700, {}, done); }));
  CHECK(await<FileInfo>([&](auto done) { files.make_symlink_async("l", "c", {}, done); }));
  CHECK(c.file("c") == "1\n2\n");
}

TEST_CASE("SandboxFiles: spellings of one path are one change, links and .. aside",
          "[unit][client][files]") {
  Client c;
  c.file("a") = "one two";
  const std::vector<FileEdit> batch{{"a", {{"one", "1"}}},
                                    {"./a", {{"two", "2"}}},
                                    {".//./a", {{"1", "I"}}},
                                    {"/workspace/s/a", {{"2", "II"}}},
                                    {"/workspace//s/./a", {{"not there", ""}}}};
  const auto results = c.client.edit_files(batch).value();
  for (const auto& result : results) CHECK(result.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(c.file("a") == "one two");
  CHECK(c.link->fake->log.calls == std::vector<std::string>(1, "edit_file"));
  const std::vector<FileEdit> apart{
      {"a", {{"one", "1"}}}, {"x/../a", {{"two", "2"}}}, {"a/", {{"two", "2"}}}};
  CHECK(c.client.edit_files(apart).value()[0]);
  CHECK(c.link->fake->log.calls.size() == 4);
}
