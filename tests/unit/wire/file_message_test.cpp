#include <catch2/catch.hpp>

#include "wire/cbor.hpp"
#include "wire/file_reply.hpp"
#include "wire/frame.hpp"
#include "wire/reply.hpp"
#include "wire/request.hpp"

using namespace cove;

namespace {

template <class Body>
Body round_trip(Body body) {
  wire::FileRequest wrapped;
  wrapped.body = std::move(body);
  wire::Request request;
  request.body = std::move(wrapped);
  const auto parsed = wire::parse_request(wire::encode_request(request).value()).value();
  return std::get<Body>(std::get<wire::FileRequest>(parsed.body).body);
}

}  // namespace

TEST_CASE("File request: lines, edits and watches come through whole", "[unit][wire][files]") {
  const auto lines = round_trip(wire::ReadLinesRequest{{"s", "\xff"}, {7, 8, 9}, 10});
  CHECK(lines.path.path == "\xff");
  CHECK(lines.range.first == 7);
  CHECK(lines.range.count == 8);
  CHECK(lines.range.max_bytes == 9);
  CHECK(lines.credit == 10);
  const auto edit =
      round_trip(wire::EditRequest{{"s", "a"}, {{1, 2, false}, {3, 0, true}}, {"1-2-3", true}});
  REQUIRE(edit.edits.size() == 2);
  CHECK(edit.edits[1].old_bytes == 3);
  CHECK(edit.edits[1].replace_all);
  CHECK(edit.options.if_unchanged_since == "1-2-3");
  CHECK(edit.options.durable);
  const auto watch = round_trip(wire::WatchRequest{{"s", "a"}, {false, 12}, 13});
  CHECK_FALSE(watch.options.recursive);
  CHECK(watch.options.max_directories == 12);
  CHECK(watch.credit == 13);
}

TEST_CASE("File request: the root of its paths comes through, and is one", "[unit][wire][files]") {
  const GuestPath rc{"", ".npmrc", GuestRoot::kHome};
  CHECK(round_trip(wire::SetModeRequest{rc, 0600}).path.root == GuestRoot::kHome);
  CHECK(round_trip(wire::SetModeRequest{{"s", "a"}, 0600}).path.root == GuestRoot::kWorkspace);
  const auto move = round_trip(wire::MoveRequest{rc, {"", "b", GuestRoot::kHome}, {}});
  CHECK(move.from.root == GuestRoot::kHome);
  CHECK(move.to.root == GuestRoot::kHome);

  const auto root_of = [](auto body) {
    wire::Request request;
    request.body = std::move(body);
    return wire::root_of(request);
  };
  CHECK(root_of(wire::StatRequest{rc}).value() == GuestRoot::kHome);
  CHECK(root_of(wire::StatusRequest{}).value() == GuestRoot::kWorkspace);
  wire::FileRequest crossing;
  crossing.body = wire::CopyRequest{rc, {"", "b"}, {}};
  CHECK(root_of(crossing).error().code() == ErrorCode::kInvalidArgument);
  wire::GrepRequest search;
  search.start.path = rc;
  CHECK(root_of(search).error().code() == ErrorCode::kInvalidArgument);

  auto map = wire::decode_cbor(wire::encode_request({}).value()).value();
  map["kind"] = static_cast<unsigned>(wire::RequestKind::kStat);
  map["root"] = 2;
  CHECK(wire::parse_request(wire::encode_cbor(map)).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("File request: names that change come through whole", "[unit][wire][files]") {
  const auto move = round_trip(wire::MoveRequest{{"s", "a"}, {"t", "b\n"}, {true, false}});
  CHECK(move.from.session == "s");
  CHECK(move.to.session == "t");
  CHECK(move.to.path == "b\n");
  CHECK(move.options.overwrite);
  CHECK_FALSE(move.options.create_parents);
  CHECK(round_trip(wire::CopyRequest{{"s", "a"}, {"t", "b"}, {}}).options.create_parents);
  CHECK(round_trip(wire::SetModeRequest{{"s", "a"}, 0755}).mode == 0755);
  CHECK(round_trip(wire::MakeSymlinkRequest{{"s", "a"}, "\xfe"}).target == "\xfe");
  CHECK(round_trip(wire::TreeOutRequest{{"s", "a"}, 5}).credit == 5);
  CHECK(round_trip(wire::TreeInRequest{{"s", "a"}}).path.path == "a");
}

TEST_CASE("File request: a write's conditions and a list's depth come through",
          "[unit][wire][files]") {
  wire::WriteRequest write;
  write.options.append = true;
  write.options.if_absent = true;
  write.options.if_unchanged_since = "e";
  wire::Request request;
  request.body = write;
  const auto back = std::get<wire::WriteRequest>(
      wire::parse_request(wire::encode_request(request).value()).value().body);
  CHECK(back.options.append);
  CHECK(back.options.if_absent);
  CHECK(back.options.if_unchanged_since == "e");
  wire::ListRequest list;
  list.options.depth = 0;
  request.body = list;
  CHECK(std::get<wire::ListRequest>(
            wire::parse_request(wire::encode_request(request).value()).value().body)
            .options.depth == 0);
}

TEST_CASE("File request: edits and their texts are put together again, or refused",
          "[unit][wire][files]") {
  const std::vector<Edit> edits{{"old", "new", true}, {"\xff", ""}, {"x", "yy"}};
  const auto shapes = wire::shapes_of(edits);
  const Bytes texts = wire::pack_edits(edits);
  const auto back = wire::unpack_edits(shapes, texts).value();
  REQUIRE(back.size() == 3);
  CHECK(back[0].old_text == "old");
  CHECK(back[0].replace_all);
  CHECK(back[1].old_text == "\xff");
  CHECK(back[2].new_text == "yy");
  CHECK(wire::unpack_edits(shapes, ByteView(texts).first(3)).error().code() ==
        ErrorCode::kIntegrity);
  CHECK_FALSE(wire::edit_bytes({{~0ULL, 1, false}, {1, 0, false}}));
  CHECK_FALSE(wire::edit_bytes({{wire::kMaxEditBytes, 1, false}}));
}

TEST_CASE("File request: shapes that are none are refused", "[unit][wire][files]") {
  using nlohmann::json;
  const auto code_of = [](const json& edits) {
    const json map = {{"id", wire::byte_string(std::string(16, 'i'))},
                      {"kind", 41},
                      {"path", wire::byte_string("a")},
                      {"edits", edits}};
    return wire::parse_request(wire::encode_cbor(map)).error().code();
  };
  CHECK(code_of("x") == ErrorCode::kIntegrity);
  CHECK(code_of(json::array({1})) == ErrorCode::kIntegrity);
  CHECK(code_of(json::array({json::array({1, 2})})) == ErrorCode::kIntegrity);
  CHECK(code_of(json::array({json::array({1, -2, true})})) == ErrorCode::kIntegrity);
  json many = json::array();
  for (int i = 0; i < 1001; ++i) many.push_back(json::array({1, 1, false}));
  CHECK(code_of(many) == ErrorCode::kIntegrity);
}

TEST_CASE("File reply: what is answered comes through whole", "[unit][wire][files]") {
  LineSlice slice;
  slice.first = 5;
  slice.count = 2;
  slice.next = 7;
  slice.total_lines = 9;
  slice.offset = 40;
  slice.cut = true;
  slice.content_type = "text/plain; charset=utf-8";
  slice.info.etag = "1-2";
  const auto lines = wire::parse_line_slice(wire::encode_line_slice(slice), "").value();
  CHECK(lines.next == 7U);
  CHECK(lines.total_lines == 9U);
  CHECK(lines.offset == 40);
  CHECK(lines.cut);
  CHECK(lines.content_type == slice.content_type);
  CHECK(lines.info.etag == "1-2");
  EditResult result;
  result.edits = {{3, 4}, {1, 9}};
  const auto edited = wire::parse_edit_result(wire::encode_edit_result(result)).value();
  REQUIRE(edited.edits.size() == 2);
  CHECK(edited.edits[1].first_line == 9);
  const auto counts = wire::parse_tree_counts(wire::encode_tree_counts({1, 2, 3})).value();
  CHECK(counts.skipped == 3);
}

TEST_CASE("File reply: events are cut into payloads that fit and decode alone",
          "[unit][wire][files]") {
  std::vector<FileEvent> events;
  for (int i = 0; i < 2000; ++i) {
    events.push_back({FileChange::kMoved, "to/" + std::to_string(i), "from/\xff", i % 2 == 0});
  }
  std::size_t count = 0;
  for (const Bytes& payload : wire::encode_file_events(events)) {
    REQUIRE(payload.size() <= wire::kMaxControlBytes);
    for (const FileEvent& event : wire::parse_file_events(payload).value()) {
      REQUIRE(event.path == events[count].path);
      REQUIRE(event.old_path == "from/\xff");
      REQUIRE(event.is_directory == events[count].is_directory);
      ++count;
    }
  }
  CHECK(count == events.size());
}

TEST_CASE("File reply: an event of a newer agent means to look anew", "[unit][wire][files]") {
  const nlohmann::json list = nlohmann::json::array({{{"change", 99}}});
  CHECK(wire::parse_file_events(wire::encode_cbor(list)).value()[0].change ==
        FileChange::kOverflow);
}

TEST_CASE("Reply: an etag or type that is no short word makes the message wrong",
          "[unit][wire][files]") {
  FileInfo info;
  info.etag = std::string(300, 'e');
  CHECK(wire::parse_file_info(wire::encode_file_info(info)).error().code() ==
        ErrorCode::kIntegrity);
  info.etag = "a\nb";
  CHECK_FALSE(wire::parse_file_info(wire::encode_file_info(info)));
}

TEST_CASE("Reply: an error keeps its context, within bounds", "[unit][wire][files]") {
  Error error = Error(ErrorCode::kConflict, "changed").with_context("edit", "2");
  const auto back = wire::parse_error(wire::encode_error(error)).value();
  CHECK(back.message() == "changed");
  REQUIRE(back.context().size() == 1);
  CHECK(back.context()[0] == std::pair<std::string, std::string>("edit", "2"));
  for (int i = 0; i < 50; ++i) error = error.with_context("key", std::string(100'000, '\xe9'));
  const Bytes payload = wire::encode_error(error);
  CHECK(payload.size() <= wire::kMaxControlBytes);
  CHECK(wire::parse_error(payload).value().context().size() == 8);
  const nlohmann::json odd = {{"code", 6}, {"message", "m"}, {"context", {1, {"a"}, {"b", "c"}}}};
  CHECK(wire::parse_error(wire::encode_cbor(odd)).value().context().size() == 1);
}

TEST_CASE("Reply: entries with the longest names fit their payloads", "[unit][wire][files]") {
  std::vector<FileInfo> entries(300);
  for (FileInfo& entry : entries) {
    entry.path = std::string(4000, 'x');
    entry.etag = std::string(100, 'e');
  }
  std::size_t count = 0;
  for (const Bytes& payload : wire::encode_entries(entries)) {
    REQUIRE(payload.size() <= wire::kMaxControlBytes);
    count += wire::parse_entries(payload).value().size();
  }
  CHECK(count == entries.size());
}
