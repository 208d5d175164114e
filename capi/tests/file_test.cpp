/// Files: what is read of them, and how they are moved, copied and changed.
#include "support.hpp"

using namespace cove;

namespace {

using ContentHandle = std::unique_ptr<cove_file_content, FreeBy<cove_file_content_free>>;
using SliceHandle = std::unique_ptr<cove_line_slice, FreeBy<cove_line_slice_free>>;
using InfoHandle = std::unique_ptr<cove_file_info, FreeBy<cove_file_info_free>>;
using CountsHandle = std::unique_ptr<cove_tree_counts, FreeBy<cove_tree_counts_free>>;

FileInfo file_of(std::string path) {
  FileInfo info;
  info.path = std::move(path);
  info.type = FileType::kRegular;
  info.size = 9;
  info.etag = "e1";
  return info;
}

LineSlice two_lines() {
  LineSlice slice;
  slice.text = std::string("a\0\nb\n", 5);
  slice.first = 3;
  slice.count = 2;
  slice.next = 5;
  slice.offset = 20;
  slice.content_type = "text/plain";
  slice.info = file_of("f");
  return slice;
}

void on_content(void* user_data, cove_file_content* content, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = cove_file_content_type(content);
  cove_file_content_free(content);
  note_error(heard, error);
}

void on_slice(void* user_data, cove_line_slice* slice, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = cove_line_slice_content_type(slice);
  cove_line_slice_free(slice);
  note_error(heard, error);
}

void on_info(void* user_data, cove_file_info* info, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = cove_file_info_path(info);
  cove_file_info_free(info);
  note_error(heard, error);
}

void on_counts(void* user_data, cove_tree_counts* counts, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = std::to_string(cove_tree_counts_entries(counts));
  cove_tree_counts_free(counts);
  note_error(heard, error);
}

}  // namespace

TEST_CASE("File: a read gives the bytes, what they are, and the file's etag", "[capi][files]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().content = {file_of("a/b"), "image/png", {std::byte{'h'}, std::byte{0}}};
  cove_read_options options = COVE_READ_OPTIONS_INIT;
  options.offset = 3;
  options.max_bytes = 9;
  options.timeout_ms = 60000;
  cove_file_content* raw = nullptr;
  REQUIRE(cove_workspace_read(workspace.get(), "a/b", &options, &raw, nullptr) == COVE_OK);
  const ContentHandle content(raw);
  CHECK(fake::world().path == "a/b");
  CHECK(fake::world().range.offset == 3);
  CHECK(fake::world().range.length == 9U);
  CHECK(fake::world().call.deadline);
  size_t size = 0;
  const char* const data = cove_file_content_data(raw, &size);
  CHECK(std::string(data, size) == std::string("h\0", 2));
  CHECK(std::string(cove_file_content_type(raw)) == "image/png");
  CHECK(std::string(cove_file_info_etag(cove_file_content_info(raw))) == "e1");
  CHECK(cove_file_info_is_unreadable(cove_file_content_info(raw)) == 0);

  Heard heard;
  REQUIRE(cove_workspace_read_start(workspace.get(), "f", nullptr, on_content, &heard, on_drop,
                                    nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.order == "dx");
  CHECK(heard.text == "image/png");
}

TEST_CASE("File: lines are given with where they are and where to go on", "[capi][files]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().line_slice = two_lines();
  cove_read_lines_options options = COVE_READ_LINES_OPTIONS_INIT;
  options.first = 3;
  options.count = 2;
  options.max_bytes = 100;
  cove_line_slice* raw = nullptr;
  REQUIRE(cove_workspace_read_lines(workspace.get(), "f", &options, &raw, nullptr) == COVE_OK);
  const SliceHandle slice(raw);
  CHECK(fake::world().lines_wanted.first == 3);
  CHECK(fake::world().lines_wanted.count == 2);
  CHECK(fake::world().lines_wanted.max_bytes == 100);
  size_t size = 0;
  const char* const text = cove_line_slice_text(raw, &size);
  CHECK(std::string(text, size) == std::string("a\0\nb\n", 5));
  CHECK(cove_line_slice_first(raw) == 3);
  CHECK(cove_line_slice_count(raw) == 2);
  CHECK(cove_line_slice_next(raw) == 5);
  CHECK(cove_line_slice_total_lines(raw) == -1);
  CHECK(cove_line_slice_offset(raw) == 20);
  CHECK(cove_line_slice_is_cut(raw) == 0);
  CHECK(std::string(cove_line_slice_content_type(raw)) == "text/plain");
  CHECK(std::string(cove_file_info_etag(cove_line_slice_info(raw))) == "e1");

  fake::world().line_slice.next.reset();
  fake::world().line_slice.total_lines = 0;
  fake::world().line_slice.cut = true;
  cove_line_slice* last = nullptr;
  REQUIRE(cove_workspace_read_lines(workspace.get(), "f", nullptr, &last, nullptr) == COVE_OK);
  CHECK(fake::world().lines_wanted.count == LineRange().count);
  CHECK(fake::world().lines_wanted.max_bytes == LineRange().max_bytes);
  CHECK(cove_line_slice_next(last) == 0);
  CHECK(cove_line_slice_total_lines(last) == 0);
  CHECK(cove_line_slice_is_cut(last) == 1);
  cove_line_slice_free(last);

  Heard heard;
  REQUIRE(cove_workspace_read_lines_start(workspace.get(), "f", &options, on_slice, &heard, on_drop,
                                          nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.order == "dx");
  CHECK(heard.text == "text/plain");
}

TEST_CASE("File: a write may be conditional, and append", "[capi][files]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_write_options options = COVE_WRITE_OPTIONS_INIT;
  options.flags = COVE_WRITE_APPEND | COVE_WRITE_IF_ABSENT;
  options.if_unchanged_since = "e1";
  REQUIRE(cove_workspace_write_file(workspace.get(), "f", "x", 1, &options, nullptr, nullptr) ==
          COVE_OK);
  CHECK(fake::world().write.append);
  CHECK(fake::world().write.if_absent);
  CHECK(fake::world().write.if_unchanged_since == "e1");
  REQUIRE(cove_workspace_write_file(workspace.get(), "f", "x", 1, nullptr, nullptr, nullptr) ==
          COVE_OK);
  CHECK_FALSE(fake::world().write.append);
  CHECK_FALSE(fake::world().write.if_unchanged_since);
  // A program of the first release has no such field.
  options.struct_size = 32;
  options.flags = 0;
  REQUIRE(cove_workspace_write_file(workspace.get(), "f", "x", 1, &options, nullptr, nullptr) ==
          COVE_OK);
  CHECK_FALSE(fake::world().write.if_unchanged_since);
}

TEST_CASE("File: a list goes as deep as it is told", "[capi][files]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_file_list_options options = COVE_FILE_LIST_OPTIONS_INIT;
  const auto depth_for = [&](uint32_t depth) {
    options.depth = depth;
    cove_file_page* page = nullptr;
    REQUIRE(cove_workspace_list(workspace.get(), ".", &options, &page, nullptr) == COVE_OK);
    cove_file_page_free(page);
    return fake::world().list.depth;
  };
  CHECK(depth_for(0) == 1);
  CHECK(depth_for(3) == 3);
  CHECK(depth_for(COVE_DEPTH_ALL) == 0);
  options.reserved0 = 1;
  cove_file_page* page = nullptr;
  CHECK(cove_workspace_list(workspace.get(), ".", &options, &page, nullptr) == COVE_UNSUPPORTED);
}

TEST_CASE("File: moves and copies pass on both paths and how", "[capi][files]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().file = file_of("b");
  fake::world().counts = {4, 5, 6};
  cove_move_options options = COVE_MOVE_OPTIONS_INIT;
  options.flags = COVE_MOVE_OVERWRITE | COVE_MOVE_EXISTING_PARENTS;
  cove_file_info* raw = nullptr;
  REQUIRE(cove_workspace_move(workspace.get(), "a", "b", &options, &raw, nullptr) == COVE_OK);
  const InfoHandle info(raw);
  CHECK(std::string(cove_file_info_path(raw)) == "b");
  CHECK(fake::world().path == "a");
  CHECK(fake::world().to == "b");
  CHECK(fake::world().move.overwrite);
  CHECK_FALSE(fake::world().move.create_parents);

  cove_tree_counts* raw_counts = nullptr;
  REQUIRE(cove_workspace_copy(workspace.get(), "c", "d", nullptr, &raw_counts, nullptr) == COVE_OK);
  const CountsHandle counts(raw_counts);
  CHECK(fake::world().path == "c");
  CHECK(fake::world().to == "d");
  CHECK_FALSE(fake::world().move.overwrite);
  CHECK(fake::world().move.create_parents);
  CHECK(cove_tree_counts_entries(raw_counts) == 4);
  CHECK(cove_tree_counts_bytes(raw_counts) == 5);
  CHECK(cove_tree_counts_skipped(raw_counts) == 6);
  CHECK(cove_workspace_copy(workspace.get(), "c", "d", nullptr, nullptr, nullptr) == COVE_OK);
}

TEST_CASE("File: modes and symlinks pass on what they make", "[capi][files]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  CHECK(cove_workspace_set_mode(workspace.get(), "a", 0750, nullptr, nullptr, nullptr) == COVE_OK);
  CHECK(fake::world().mode == 0750);
  CHECK(cove_workspace_set_mode(workspace.get(), "a", 010000, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_make_symlink(workspace.get(), "link", "../to", nullptr, nullptr, nullptr) ==
        COVE_OK);
  CHECK(fake::world().path == "link");
  CHECK(fake::world().to == "../to");
}

TEST_CASE("File: every call that is started answers once", "[capi][files][callbacks]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().file = file_of("b");
  fake::world().counts.entries = 4;
  Heard heard;
  const auto finish = [&](cove_status started) {
    REQUIRE(started == COVE_OK);
    fake::world().deliver();
    CHECK(heard.order == "dx");
    const std::string text = heard.text;
    heard = Heard();
    return text;
  };
  cove_workspace* const w = workspace.get();
  CHECK(finish(cove_workspace_move_start(w, "a", "b", nullptr, on_info, &heard, on_drop,
                                         nullptr)) == "b");
  CHECK(finish(cove_workspace_copy_start(w, "a", "b", nullptr, on_counts, &heard, on_drop,
                                         nullptr)) == "4");
  CHECK(finish(cove_workspace_set_mode_start(w, "a", 0700, nullptr, on_info, &heard, on_drop,
                                             nullptr)) == "b");
  CHECK(finish(cove_workspace_make_symlink_start(w, "a", "to", nullptr, on_info, &heard, on_drop,
                                                 nullptr)) == "b");
  CHECK(cove_workspace_move_start(w, "a", nullptr, nullptr, on_info, &heard, on_drop, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_set_mode_start(w, "a", 010000, nullptr, on_info, &heard, on_drop, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(heard.order == "xx");
}

TEST_CASE("File: what is wrong is named, and nothing is given", "[capi][files]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_error* raw = nullptr;
  const auto message = [&raw] {
    const ErrorHandle error(raw);
    CHECK(cove_error_code(raw) == COVE_INVALID_ARGUMENT);
    return std::string(cove_error_message(raw));
  };
  auto* info = reinterpret_cast<cove_file_info*>(1);
  cove_workspace_move(workspace.get(), nullptr, "b", nullptr, &info, &raw);
  CHECK(message() == "from is NULL");
  CHECK(info == nullptr);
  cove_workspace_copy(workspace.get(), "a", nullptr, nullptr, nullptr, &raw);
  CHECK(message() == "to is NULL");
  cove_workspace_make_symlink(workspace.get(), "a", nullptr, nullptr, nullptr, &raw);
  CHECK(message() == "target is NULL");
  cove_workspace_read(workspace.get(), "a", nullptr, nullptr, &raw);
  CHECK(message() == "out_content is NULL");
  cove_workspace_read_lines(workspace.get(), "a", nullptr, nullptr, &raw);
  CHECK(message() == "out_slice is NULL");
  cove_move_options options = COVE_MOVE_OPTIONS_INIT;
  options.struct_size = 8;
  CHECK(cove_workspace_move(workspace.get(), "a", "b", &options, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  options.struct_size = sizeof options;
  options.flags = 8;
  CHECK(cove_workspace_move(workspace.get(), "a", "b", &options, nullptr, nullptr) ==
        COVE_UNSUPPORTED);
  info = reinterpret_cast<cove_file_info*>(1);
  fake::world().fail_with = Error(ErrorCode::kAlreadyExists, "taken");
  CHECK(cove_workspace_move(workspace.get(), "a", "b", nullptr, &info, nullptr) ==
        COVE_ALREADY_EXISTS);
  CHECK(info == nullptr);
  fake::world().fail_with.reset();
}

TEST_CASE("File: getters of nothing give nothing", "[capi][files]") {
  size_t size = 1;
  CHECK(std::string(cove_file_content_data(nullptr, &size)).empty());
  CHECK(size == 0);
  CHECK(cove_file_content_info(nullptr) == nullptr);
  CHECK(std::string(cove_line_slice_text(nullptr, nullptr)).empty());
  CHECK(cove_line_slice_total_lines(nullptr) == -1);
  CHECK(cove_line_slice_info(nullptr) == nullptr);
  CHECK(std::string(cove_file_info_etag(nullptr)).empty());
  CHECK(cove_tree_counts_bytes(nullptr) == 0);
  cove_file_content_free(nullptr);
  cove_line_slice_free(nullptr);
  cove_tree_counts_free(nullptr);
}
