/* Files: written, edited, sent and fetched piece by piece, listed. */
#include "example.h"

/* What is sent, and how much of it was given. */
struct text {
  const char* bytes;
  size_t given;
};

static cove_status from_text(void* user_data, void* buffer, size_t capacity, size_t* out_size) {
  struct text* text = user_data;
  size_t left = strlen(text->bytes) - text->given;
  if (left > capacity) left = capacity;
  memcpy(buffer, text->bytes + text->given, left);
  text->given += left;
  *out_size = left; /* 0 = the end */
  return COVE_OK;
}

static cove_status to_memory(void* user_data, const void* data, size_t size) {
  char* text = user_data;
  if (strlen(text) + size >= 256) return COVE_TOO_LARGE; /* it ends the download with this */
  strncat(text, data, size);
  return COVE_OK;
}

static void edit(cove_workspace* workspace) {
  cove_edit change = COVE_EDIT_INIT;
  cove_edit_result* result = NULL;
  must(cove_workspace_write_file(workspace, "a.py", "x = 1\n", 6, NULL, NULL, &error));
  change.old_text = "x = 1";
  change.old_size = strlen("x = 1");
  change.new_text = "x = 2";
  change.new_size = strlen("x = 2");
  must(cove_workspace_edit_file(workspace, "a.py", &change, 1, NULL, &result, &error));
  check(cove_edit_result_replaced(result, 0) == 1, "one place was edited");
  cove_edit_result_free(result); /* its info has the new etag, for if_unchanged_since */
}

static void send_and_fetch(cove_workspace* workspace) {
  char fetched[256] = "";
  struct text sent = {"one\ntwo\n", 0};
  cove_upload_callbacks up = COVE_UPLOAD_CALLBACKS_INIT;
  cove_download_callbacks down = COVE_DOWNLOAD_CALLBACKS_INIT;
  cove_file_info* info = NULL;
  up.next_piece = from_text;
  up.user_data = &sent;
  must(cove_workspace_upload(workspace, "up.txt", &up, NULL, &info, &error));
  check(cove_file_info_size(info) == 8, "all of it is there");
  cove_file_info_free(info);
  down.on_piece = to_memory;
  down.user_data = fetched;
  must(cove_workspace_download(workspace, "up.txt", &down, NULL, &error));
  check(strcmp(fetched, sent.bytes) == 0, "what was sent comes back");
  check(cove_workspace_stat(workspace, "missing", NULL, &info, NULL) == COVE_NOT_FOUND,
        "what is missing is COVE_NOT_FOUND");
}

static void list(cove_workspace* workspace) {
  cove_file_page* page = NULL;
  size_t i;
  must(cove_workspace_list(workspace, ".", NULL, &page, &error));
  for (i = 0; i < cove_file_page_count(page); ++i) {
    printf("%s\n", cove_file_info_path(cove_file_page_entry(page, i)));
  }
  check(cove_file_page_count(page) == 2, "there are two files");
  cove_file_page_free(page);
}

int main(int argc, char** argv) {
  cove* app = open_in(argc, argv);
  cove_workspace* workspace = acquire(app, "c1", NULL);
  edit(workspace);
  send_and_fetch(workspace);
  list(workspace);
  end(app, workspace);
  return 0;
}
