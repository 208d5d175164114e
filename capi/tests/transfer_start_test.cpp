/// Transfers that are driven by callbacks.
#include <cstring>
#include <span>

#include "support.hpp"

using namespace cove;

namespace {

using DownloadOwner = std::unique_ptr<cove_download, FreeBy<cove_download_free>>;
using UploadOwner = std::unique_ptr<cove_upload, FreeBy<cove_upload_free>>;

/// The user_data of a download.
struct Taking {
  std::string taken;
  std::string progress;
  int32_t answer = COVE_CONTINUE;
  Heard heard;
};

int32_t on_piece(void* user_data, const void* data, size_t size) {
  auto& taking = *static_cast<Taking*>(user_data);
  taking.taken.append(static_cast<const char*>(data), size);
  taking.heard.order += 'p';
  return taking.answer;
}

void on_progress(void* user_data, uint64_t done, int64_t total) {
  static_cast<Taking*>(user_data)->progress +=
      std::to_string(done) + "/" + std::to_string(total) + " ";
}

cove_piece_callbacks into(Taking* taking) {
  cove_piece_callbacks callbacks = COVE_PIECE_CALLBACKS_INIT;
  callbacks.on_piece = on_piece;
  callbacks.on_progress = on_progress;
  callbacks.on_done = [](void* user_data, cove_error* error) {
    note_error(static_cast<Taking*>(user_data)->heard, error);
  };
  callbacks.user_data = taking;
  callbacks.drop = [](void* user_data) { on_drop(&static_cast<Taking*>(user_data)->heard); };
  return callbacks;
}

ByteView view(const char* text) { return std::as_bytes(std::span(text, std::strlen(text))); }

void on_info(void* user_data, cove_file_info* info, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  if (info != nullptr) heard.text = std::to_string(cove_file_info_size(info));
  cove_file_info_free(info);
  note_error(heard, error);
}

void on_counts(void* user_data, cove_tree_counts* counts, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  if (counts != nullptr) heard.text = std::to_string(cove_tree_counts_entries(counts));
  cove_tree_counts_free(counts);
  note_error(heard, error);
}

}  // namespace

TEST_CASE("Transfer start: pieces, progress and the end arrive, and a pause is passed on",
          "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Taking taking;
  auto callbacks = into(&taking);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  options.timeout_ms = 60000;
  cove_download* raw = nullptr;
  REQUIRE(cove_workspace_download_start(workspace.get(), "f", &callbacks, &options, &raw,
                                        nullptr) == COVE_OK);
  const DownloadOwner download(raw);
  CHECK(fake::world().path == "f");
  CHECK(fake::world().call.deadline);
  auto& driven = fake::world().download_callbacks;
  CHECK(driven.on_piece(view("abc")) == Flow::kContinue);
  driven.on_progress(3, 5);
  taking.answer = COVE_PAUSE;
  CHECK(driven.on_piece(view("de")) == Flow::kPause);
  driven.on_progress(5, std::nullopt);
  cove_download_resume(raw);
  CHECK(fake::world().resumed == 1);
  cove_download_cancel(raw);
  CHECK(fake::world().cancelled == 1);
  driven.on_done(Error(ErrorCode::kCancelled, "the call was cancelled"));
  CHECK(taking.taken == "abcde");
  CHECK(taking.progress == "3/5 5/-1 ");
  CHECK(taking.heard.order == "ppdx");
  CHECK(taking.heard.status == COVE_CANCELLED);
}

TEST_CASE("Transfer start: a tree is named as one, and without progress none is told",
          "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Taking taking;
  auto callbacks = into(&taking);
  callbacks.on_progress = nullptr;
  cove_download* raw = nullptr;
  REQUIRE(cove_workspace_download_tree_start(workspace.get(), "d", &callbacks, nullptr, &raw,
                                             nullptr) == COVE_OK);
  cove_download_free(raw);  // the callbacks still come
  CHECK(fake::world().path == "tree of d");
  CHECK_FALSE(fake::world().download_callbacks.on_progress);
  fake::world().download_callbacks.on_done(ok());
  CHECK(taking.heard.order == "dx");
}

TEST_CASE("Transfer start: what is wrong is named, and the data dropped", "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Taking taking;
  auto callbacks = into(&taking);
  cove_workspace* const w = workspace.get();
  auto* raw = reinterpret_cast<cove_download*>(1);
  CHECK(cove_workspace_download_start(w, "f", nullptr, nullptr, &raw, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(raw == nullptr);
  CHECK(cove_workspace_download_start(w, nullptr, &callbacks, nullptr, &raw, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_download_start(w, "f", &callbacks, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  callbacks.on_piece = nullptr;
  CHECK(cove_workspace_download_start(w, "f", &callbacks, nullptr, &raw, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(taking.heard.order == "xxx");
  Heard heard;
  auto* upload = reinterpret_cast<cove_upload*>(1);
  CHECK(cove_workspace_upload_start(w, nullptr, nullptr, on_info, &heard, on_drop, &upload,
                                    nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(upload == nullptr);
  CHECK(cove_workspace_upload_start(w, "f", nullptr, on_info, &heard, on_drop, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(heard.order == "xx");
}

TEST_CASE("Transfer start: an upload takes pieces both ways, then its end", "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().file.size = 7;
  Heard heard;
  cove_write_options options = COVE_WRITE_OPTIONS_INIT;
  options.mode = 0755;
  cove_upload* raw = nullptr;
  REQUIRE(cove_workspace_upload_start(workspace.get(), "f", &options, on_info, &heard, on_drop,
                                      &raw, nullptr) == COVE_OK);
  const UploadOwner upload(raw);
  CHECK(fake::world().path == "f");
  CHECK(fake::world().write.mode == 0755U);
  CHECK(cove_upload_write(raw, "ab", 2, nullptr, nullptr) == COVE_OK);
  CHECK(cove_upload_write(raw, nullptr, 0, nullptr, nullptr) == COVE_OK);
  CHECK(cove_upload_write(raw, nullptr, 1, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_upload_write(nullptr, "a", 1, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  Heard written;
  CHECK(cove_upload_write_start(raw, "c", 1, nullptr, on_done, &written, on_drop, nullptr) ==
        COVE_OK);
  CHECK(fake::world().uploaded == "abc");
  cove_upload_finish(raw);
  CHECK(fake::world().is_finished);
  fake::world().deliver();
  CHECK(written.order == "dx");
  CHECK(heard.order == "dx");
  CHECK(heard.text == "7");
  cove_upload_cancel(raw);
  CHECK(fake::world().cancelled == 1);
  cove_upload_finish(nullptr);
  cove_upload_cancel(nullptr);
  cove_download_resume(nullptr);
  cove_download_cancel(nullptr);
}

TEST_CASE("Transfer start: a tree's upload gives its counts", "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().counts.entries = 8;
  Heard heard;
  cove_upload* raw = nullptr;
  REQUIRE(cove_workspace_upload_tree_start(workspace.get(), "d", nullptr, on_counts, &heard,
                                           on_drop, &raw, nullptr) == COVE_OK);
  const UploadOwner upload(raw);
  CHECK(fake::world().path == "tree of d");
  fake::world().deliver();
  CHECK(heard.text == "8");
  CHECK(heard.order == "dx");
}
