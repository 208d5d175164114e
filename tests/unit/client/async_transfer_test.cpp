// Downloads that pause and uploads that are given their pieces, without a thread for either.
#include <atomic>
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

/// What a callback is given, once.
template <class T>
struct Once {
  std::promise<Result<T>> promise;
  std::function<void(Result<T>)> callback() {
    return [this](Result<T> result) { promise.set_value(std::move(result)); };
  }
  Result<T> value() { return promise.get_future().get(); }
};

}  // namespace

TEST_CASE("Transfers: a download gives its pieces, and waits where it is paused",
          "[unit][client][transfers]") {
  Client c;
  const std::string text(300'000, 'x');
  c.file("big") = text;
  std::string taken;
  std::vector<std::uint64_t> told;
  std::promise<void> paused;
  Once<void> done;
  DownloadCallbacks callbacks;
  callbacks.on_piece = [&](ByteView piece) {
    const bool is_first = taken.empty();
    taken += text_of(piece);
    if (is_first) paused.set_value();
    return is_first ? Flow::kPause : Flow::kContinue;
  };
  callbacks.on_progress = [&](std::uint64_t so_far, std::optional<std::uint64_t> total) {
    told.push_back(so_far);
    CHECK(total == 300'000U);
  };
  callbacks.on_done = done.callback();
  const DownloadHandle download = c.client.download_async("big", std::move(callbacks));
  paused.get_future().get();
  download.resume();
  REQUIRE(done.value());
  CHECK(taken == text);
  REQUIRE(told.size() > 2);
  CHECK(told.front() == 0);
  CHECK(told.back() == 300'000U);
}

TEST_CASE("Transfers: a paused download can be called off by its handle, and by its token",
          "[unit][client][transfers]") {
  Client c;
  c.file("big") = std::string(300'000, 'x');
  std::promise<void> paused;
  Once<void> done;
  DownloadCallbacks callbacks;
  callbacks.on_piece = [&](ByteView /*piece*/) {
    paused.set_value();
    return Flow::kPause;
  };
  callbacks.on_done = done.callback();
  std::stop_source stop;
  const DownloadHandle download = c.client.download_async(
      "big", std::move(callbacks), {.deadline = {}, .stop = stop.get_token()});
  paused.get_future().get();
  SECTION("its handle") { download.cancel(); }
  SECTION("its token") { stop.request_stop(); }
  CHECK(done.value().error().code() == ErrorCode::kCancelled);
}

TEST_CASE("Transfers: a tree is downloaded too, and what is not there is its error",
          "[unit][client][transfers]") {
  Client c;
  c.file("a") = "one";
  const auto pour = [&](auto start) {
    std::string taken;
    Once<void> done;
    DownloadCallbacks callbacks;
    callbacks.on_piece = [&](ByteView piece) {
      taken += text_of(piece);
      return Flow::kContinue;
    };
    callbacks.on_done = done.callback();
    start(std::move(callbacks));
    const Result<void> ended = done.value();
    return ended ? taken : std::string(name_of(ended.error().code()));
  };
  CHECK(pour([&](DownloadCallbacks callbacks) {
          c.client.download_tree_async("", std::move(callbacks));
        }) == "one");
  CHECK(pour([&](DownloadCallbacks callbacks) {
          c.client.download_async("none", std::move(callbacks));
        }) == "not_found");
  CHECK(pour([&](DownloadCallbacks callbacks) {
          callbacks.on_piece = [](ByteView) -> Flow { throw std::runtime_error("oh"); };
          c.client.download_async("a", std::move(callbacks));
        }) == "internal");
}

TEST_CASE("Transfers: an upload writes what it is given, in order, once it is finished",
          "[unit][client][transfers]") {
  Client c;
  Once<FileInfo> done;
  const UploadHandle upload = c.client.upload_async("up", {}, done.callback());
  REQUIRE(upload.write(bytes_of("one ")));
  REQUIRE(upload.write({}));  // an empty piece is no end
  Once<void> second;
  upload.write_async(bytes_of("two"), {}, second.callback());
  REQUIRE(second.value());
  upload.finish();
  CHECK(done.value().value().size == 7);
  CHECK(c.file("up") == "one two");
  CHECK(upload.write(bytes_of("late")).error().code() == ErrorCode::kFailedPrecondition);

  Once<TreeCounts> tree;
  const UploadHandle archive = c.client.upload_tree_async("t", tree.callback());
  REQUIRE(archive.write(bytes_of("tar")));
  archive.finish();
  CHECK(tree.value().value().bytes == 3);
}

TEST_CASE("Transfers: an upload that nobody can finish any more is cancelled",
          "[unit][client][transfers]") {
  Client c;
  c.file("up") = "old";
  Once<FileInfo> done;
  std::optional<UploadHandle> upload = c.client.upload_async("up", {}, done.callback());
  REQUIRE(upload->write(bytes_of("new")));
  SECTION("its handle went") { upload.reset(); }
  SECTION("it was cancelled") { upload->cancel(); }
  CHECK(done.value().error().code() == ErrorCode::kCancelled);
  CHECK(c.file("up") == "old");
}

TEST_CASE("Transfers: what ends an upload refuses the pieces that wait and those that come",
          "[unit][client][transfers]") {
  Client c;
  c.file("up") = "old";
  Once<FileInfo> done;
  const UploadHandle upload = c.client.upload_async("up", {.if_absent = true}, done.callback());
  CHECK(done.value().error().code() == ErrorCode::kAlreadyExists);
  CHECK(upload.write(bytes_of("new")).error().code() == ErrorCode::kFailedPrecondition);
  upload.finish();  // harmless
}

TEST_CASE("Transfers: a closed gate answers once, and asks nothing of what is gone",
          "[unit][client][transfers]") {
  Client c;
  c.link->admission->close();
  Once<FileInfo> done;
  const UploadHandle upload = c.client.upload_async("up", {}, done.callback());
  CHECK(done.value().error().code() == ErrorCode::kFailedPrecondition);
  CHECK(upload.write(bytes_of("x")).error().code() == ErrorCode::kFailedPrecondition);
}
