// What a host's stores may answer, and what is made of answers that cannot be.
#include "part_fixture.hpp"
#include "parts/content.hpp"
#include "parts/objects.hpp"
#include "support/fakes/byte_sources.hpp"

using namespace std::chrono_literals;
using namespace cove;
using part::document;
using part::StoreOfHost;

namespace {

void give(cove_done* done, const cove_document* found) {
  cove_done_document(done, found, nullptr);
  cove_done_free(done);
}

Result<DocumentPage> ask_page(StoreOfHost& its, std::vector<cove_document> answer,
                              std::int32_t is_last, std::uint32_t limit = 2) {
  its.host.query = [&](const cove_document_query*, cove_done* done) {
    cove_done_documents(done, answer.data(), answer.size(), is_last, nullptr);
    cove_done_free(done);
  };
  const DocumentQuery query{.limit = limit};
  const CallContext call;
  return its.wait(its.store->query(query, call));
}

Result<Version> swap(StoreOfHost& its, std::uint64_t expected) {
  const DocumentId id{DocumentKind::kSandbox, "a"};
  const Document next{"{}", {}};
  const CallContext call;
  return its.wait(
      its.store->compare_and_swap(id, Version{expected}, next, Durability::kDurable, call));
}

}  // namespace

TEST_CASE("HostStore: a document that is another than was asked for is an internal error",
          "[capi]") {
  StoreOfHost its;
  cove_document wrong = document("b");
  SECTION("of another name") {}
  SECTION("of a kind that there is not") { wrong.kind = 99; }
  SECTION("without a name") { wrong.name = nullptr; }
  SECTION("with a size and no body") { wrong.body_size = 7; }
  SECTION("with a body that is too large") { wrong.body_size = (1U << 20U) + 1; }
  SECTION("with times of a newer version") { wrong.times = 8; }
  SECTION("of no version of the struct") { wrong.struct_size = 4; }
  its.host.find = [&](const char*, cove_done* done) { give(done, &wrong); };
  CHECK(its.find("a").error().code() == ErrorCode::kInternal);
}

TEST_CASE("HostStore: a document comes as the host gave it", "[capi]") {
  StoreOfHost its;
  its.host.find = [](const char* name, cove_done* done) {
    cove_document found = document(name);
    found.version = 77;
    found.body = "{\"a\"";  // cut: the store does not look inside, and who reads it will
    found.body_size = 4;
    found.state = "running";
    found.times = COVE_TIME_HEARTBEAT;
    found.heartbeat_ms = -5;
    give(done, &found);
  };
  const StoredDocument found = its.find("a").value().value();
  CHECK(found.version == Version{77});
  CHECK(found.document.body == "{\"a\"");
  CHECK(found.document.index.state == "running");
  CHECK_FALSE(found.document.index.active_at);
  CHECK(found.document.index.heartbeat_at == StoreTime(-5ms));
  its.host.find = [](const char*, cove_done* done) { give(done, nullptr); };
  CHECK_FALSE(its.find("a").value());
}

TEST_CASE("HostStore: a version that did not grow is an internal error", "[capi]") {
  StoreOfHost its;
  const std::uint64_t version = GENERATE(4U, 5U);
  its.host.swap = [&](const cove_document*, std::uint64_t, cove_done* done) {
    cove_done_version(done, version, nullptr);
    cove_done_free(done);
  };
  CHECK(swap(its, 5).error().code() == ErrorCode::kInternal);
  CHECK(swap(its, 3).value() == Version{version});
}

TEST_CASE("HostStore: durability is passed on", "[capi]") {
  StoreOfHost its;
  its.host.insert = [](cove_done* done) {
    cove_done_version(done, 1, nullptr);
    cove_done_free(done);
  };
  const DocumentId id{DocumentKind::kLease, "l"};
  const Document body{"{}", {}};
  const CallContext call;
  REQUIRE(its.wait(its.store->insert(id, body, Durability::kRelaxed, call)));
  CHECK(its.host.durability == COVE_DURABILITY_RELAXED);
  REQUIRE(its.wait(its.store->insert(id, body, Durability::kDurable, call)));
  CHECK(its.host.durability == COVE_DURABILITY_DURABLE);
}

TEST_CASE("HostStore: a page is cut at its limit, and goes on where the host says so", "[capi]") {
  StoreOfHost its;
  const auto whole = ask_page(its, {document("a"), document("b")}, 1).value();
  CHECK(whole.documents.size() == 2);
  CHECK(whole.next.empty());
  const auto cut = ask_page(its, {document("a"), document("b"), document("c")}, 1).value();
  CHECK(cut.documents.size() == 2);
  CHECK_FALSE(cut.next.empty());
  const auto early = ask_page(its, {document("a")}, 0).value();
  CHECK(early.documents.size() == 1);
  CHECK_FALSE(early.next.empty());
}

TEST_CASE("HostStore: a page that cannot be is an internal error", "[capi]") {
  StoreOfHost its;
  const auto code = [&](std::vector<cove_document> answer, std::int32_t is_last) {
    return ask_page(its, std::move(answer), is_last).error().code();
  };
  cove_document lease = document("b");
  lease.kind = COVE_DOCUMENT_LEASE;
  CHECK(code({document("b"), document("a")}, 1) == ErrorCode::kInternal);
  CHECK(code({document("a"), document("a")}, 1) == ErrorCode::kInternal);
  CHECK(code({document("a"), lease}, 1) == ErrorCode::kInternal);
  CHECK(code({document("a"), document("b"), document("c"), document("d")}, 1) ==
        ErrorCode::kInternal);
  CHECK(code({}, 0) == ErrorCode::kInternal);
  CHECK(code({document("a")}, 2) == ErrorCode::kInternal);
}

namespace {

using Put = std::function<void(cove_content*, cove_done*)>;

Result<ObjectInfo> put(part::Surroundings& its, Put body, ByteSource& source) {
  cove_object_store slots{};
  slots.struct_size = sizeof slots;
  slots.self = &body;
  slots.put = [](void* self, const char*, cove_content* content, cove_done* done) {
    (*static_cast<Put*>(self))(content, done);
  };
  auto given = capi::take_given(&slots, &cove_object_store::destroy).value();
  const auto store = capi::make_host_objects(std::move(given), its.runtime());
  const ObjectKey key("a");
  const CallContext call;
  return its.wait(store->put_if_absent(key, source, call));
}

}  // namespace

TEST_CASE("HostStore: an object whose content was not read is not there", "[capi]") {
  part::Surroundings its;
  test::TextSource source("content");
  const auto stored = put(
      its,
      [](cove_content* content, cove_done* done) {
        std::size_t size = 1;
        char byte = 0;
        // On Cove's thread, where it would wait for itself.
        CHECK(cove_content_read(content, &byte, 1, &size, nullptr) == COVE_FAILED_PRECONDITION);
        CHECK(size == 0);
        cove_done_ok(done, nullptr);
        cove_content_free(content);
        cove_done_free(done);
      },
      source);
  CHECK(stored.error().code() == ErrorCode::kInternal);
}

TEST_CASE("HostStore: a content that is kept after its put gives nothing more", "[capi]") {
  part::Surroundings its;
  test::TextSource source("content");
  cove_content* kept = nullptr;
  const auto stored = put(
      its,
      [&](cove_content* content, cove_done* done) {
        kept = content;
        cove_done_fail(done, COVE_QUOTA_EXCEEDED, "full", -1, nullptr);
        cove_done_free(done);
      },
      source);
  CHECK(stored.error().code() == ErrorCode::kQuotaExceeded);
  Heard heard;
  CHECK(cove_content_read_start(kept, on_buffer, &heard, on_drop, nullptr) == COVE_OK);
  CHECK(heard.status == COVE_CANCELLED);
  CHECK(heard.dropped == 1);
  cove_content_free(kept);
}
