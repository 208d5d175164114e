/// Transfers: pieces in their order, progress, and what a function of the host answers.
#include <cstring>

#include "support.hpp"

using namespace cove;

namespace {

/// The user_data of a transfer.
struct Host {
  std::string taken;
  std::vector<std::string> given;  ///< the pieces of an upload
  size_t next = 0;
  std::string progress;  ///< "3/10 "
  cove_status answer = COVE_OK;
  size_t too_much = 0;  ///< what an upload claims to have given
  cove_workspace* workspace = nullptr;
  cove_status waiting = COVE_OK;  ///< of a call that waits, made inside
};

cove_status on_piece(void* user_data, const void* data, size_t size) {
  auto& host = *static_cast<Host*>(user_data);
  host.taken.append(static_cast<const char*>(data), size);
  if (host.workspace != nullptr) {
    host.waiting = cove_workspace_make_directory(host.workspace, "d", nullptr, nullptr);
  }
  return host.answer;
}

cove_status next_piece(void* user_data, void* buffer, size_t capacity, size_t* out_size) {
  auto& host = *static_cast<Host*>(user_data);
  if (host.too_much != 0) {
    *out_size = capacity + host.too_much;
    return COVE_OK;
  }
  CHECK(*out_size == 0);
  if (host.next < host.given.size()) {
    const std::string& piece = host.given[host.next++];
    REQUIRE(piece.size() <= capacity);
    std::memcpy(buffer, piece.data(), piece.size());
    *out_size = piece.size();
  }
  return host.answer;
}

void on_progress(void* user_data, uint64_t done, int64_t total) {
  static_cast<Host*>(user_data)->progress +=
      std::to_string(done) + "/" + std::to_string(total) + " ";
}

cove_download_callbacks download_to(Host* host) {
  return {sizeof(cove_download_callbacks), 0, on_piece, on_progress, host};
}

cove_upload_callbacks upload_from(Host* host) {
  return {sizeof(cove_upload_callbacks), 0, next_piece, on_progress, host};
}

}  // namespace

TEST_CASE("Transfer: a download gives every piece and how far it is", "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().pieces = {"abc", std::string("d\0", 2)};
  fake::world().total = 5;
  Host host;
  host.workspace = workspace.get();
  auto callbacks = download_to(&host);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  options.timeout_ms = 60000;
  REQUIRE(cove_workspace_download(workspace.get(), "f", &callbacks, &options, nullptr) == COVE_OK);
  CHECK(fake::world().call.deadline);
  CHECK(host.taken == std::string("abcd\0", 5));
  CHECK(host.progress == "3/5 5/5 ");
  // The functions are on the host's own thread: what waits may be called there.
  CHECK(host.waiting == COVE_OK);

  Host tree;
  callbacks = download_to(&tree);
  callbacks.on_progress = nullptr;
  fake::world().total.reset();
  REQUIRE(cove_workspace_download_tree(workspace.get(), "d", &callbacks, nullptr, nullptr) ==
          COVE_OK);
  CHECK(fake::world().path == "tree of d");
  CHECK(tree.taken.size() == 5);
  CHECK(tree.progress.empty());
}

TEST_CASE("Transfer: an upload asks for pieces until there are none", "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().file.size = 7;
  fake::world().counts.entries = 8;
  Host host;
  host.given = {"abc", std::string("d\0", 2)};
  auto callbacks = upload_from(&host);
  cove_write_options options = COVE_WRITE_OPTIONS_INIT;
  options.mode = 0755;
  options.if_unchanged_since = "e1";
  options.timeout_ms = 60000;
  cove_file_info* info = nullptr;
  REQUIRE(cove_workspace_upload(workspace.get(), "f", &callbacks, &options, &info, nullptr) ==
          COVE_OK);
  CHECK(cove_file_info_size(info) == 7);
  cove_file_info_free(info);
  CHECK(fake::world().path == "f");
  CHECK(fake::world().uploaded == std::string("abcd\0", 5));
  CHECK(fake::world().write.mode == 0755U);
  CHECK(fake::world().write.if_unchanged_since == "e1");
  CHECK(fake::world().call.deadline);
  CHECK(host.progress == "3/-1 5/-1 ");

  Host tree;
  tree.given = {"tar"};
  callbacks = upload_from(&tree);
  cove_tree_counts* counts = nullptr;
  REQUIRE(cove_workspace_upload_tree(workspace.get(), "d", &callbacks, nullptr, &counts, nullptr) ==
          COVE_OK);
  CHECK(cove_tree_counts_entries(counts) == 8);
  cove_tree_counts_free(counts);
  CHECK(fake::world().path == "tree of d");
}

TEST_CASE("Transfer: what a function of the host answers ends it with that", "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().pieces = {"abc", "def"};
  Host host;
  host.given = {"abc"};
  host.answer = COVE_QUOTA_EXCEEDED;
  const auto down = download_to(&host);
  cove_error* raw = nullptr;
  CHECK(cove_workspace_download(workspace.get(), "f", &down, nullptr, &raw) == COVE_QUOTA_EXCEEDED);
  const ErrorHandle error(raw);
  CHECK(std::string(cove_error_message(raw)) == "the application's on_piece ended the transfer");
  CHECK(host.taken == "abc");
  const auto up = upload_from(&host);
  CHECK(cove_workspace_upload(workspace.get(), "f", &up, nullptr, nullptr, nullptr) ==
        COVE_QUOTA_EXCEEDED);
  CHECK(fake::world().uploaded.empty());
  host.answer = 99;
  CHECK(cove_workspace_download(workspace.get(), "f", &down, nullptr, nullptr) == COVE_INTERNAL);
  host.answer = COVE_OK;
  host.too_much = 1;
  CHECK(cove_workspace_upload(workspace.get(), "f", &up, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
}

TEST_CASE("Transfer: what is wrong is named before anything is asked", "[capi][transfers]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().pieces = {"abc"};
  Host host;
  host.given = {"abc"};
  auto down = download_to(&host);
  auto up = upload_from(&host);
  cove_workspace* const w = workspace.get();
  auto* info = reinterpret_cast<cove_file_info*>(1);
  CHECK(cove_workspace_download(w, nullptr, &down, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_download(w, "f", nullptr, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_download(nullptr, "f", &down, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_upload(w, "f", nullptr, nullptr, &info, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(info == nullptr);
  CHECK(cove_workspace_upload_tree(w, nullptr, &up, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  down.on_piece = nullptr;
  CHECK(cove_workspace_download_tree(w, "f", &down, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  up.struct_size = 8;
  CHECK(cove_workspace_upload(w, "f", &up, nullptr, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  up.struct_size = sizeof up;
  up.reserved0 = 1;
  CHECK(cove_workspace_upload(w, "f", &up, nullptr, nullptr, nullptr) == COVE_UNSUPPORTED);
  CHECK(host.taken.empty());
  CHECK(host.next == 0);
}
