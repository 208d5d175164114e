/// The init functions: zero, and the size that the caller was built with.
#include <cstring>

#include "abi.hpp"

namespace {

/// `size` is the caller's sizeof, which another version's header may make other than ours.
void init(void* options, size_t size) {
  const auto struct_size = static_cast<uint32_t>(size);
  if (options == nullptr || size < sizeof struct_size) return;
  std::memset(options, 0, size);
  std::memcpy(options, &struct_size, sizeof struct_size);
}

}  // namespace

extern "C" {

void cove_call_options_init(cove_call_options* options, size_t size) { init(options, size); }
void cove_open_options_init(cove_open_options* options, size_t size) { init(options, size); }
void cove_workspace_key_init(cove_workspace_key* key, size_t size) { init(key, size); }
void cove_acquire_options_init(cove_acquire_options* options, size_t size) { init(options, size); }
void cove_init_options_init(cove_init_options* options, size_t size) { init(options, size); }
void cove_step_options_init(cove_step_options* options, size_t size) { init(options, size); }
void cove_step_result_init(cove_step_result* result, size_t size) { init(result, size); }
void cove_exec_options_init(cove_exec_options* options, size_t size) { init(options, size); }
void cove_exec_callbacks_init(cove_exec_callbacks* callbacks, size_t size) {
  init(callbacks, size);
}
void cove_process_options_init(cove_process_options* options, size_t size) { init(options, size); }
void cove_output_options_init(cove_output_options* options, size_t size) { init(options, size); }
void cove_attach_options_init(cove_attach_options* options, size_t size) { init(options, size); }
void cove_read_options_init(cove_read_options* options, size_t size) { init(options, size); }
void cove_write_options_init(cove_write_options* options, size_t size) { init(options, size); }
void cove_file_list_options_init(cove_file_list_options* options, size_t size) {
  init(options, size);
}
void cove_remove_options_init(cove_remove_options* options, size_t size) { init(options, size); }
void cove_read_lines_options_init(cove_read_lines_options* options, size_t size) {
  init(options, size);
}
void cove_edit_options_init(cove_edit_options* options, size_t size) { init(options, size); }
void cove_move_options_init(cove_move_options* options, size_t size) { init(options, size); }
void cove_watch_options_init(cove_watch_options* options, size_t size) { init(options, size); }
void cove_edit_init(cove_edit* edit, size_t size) { init(edit, size); }
void cove_file_edit_init(cove_file_edit* edit, size_t size) { init(edit, size); }
void cove_download_callbacks_init(cove_download_callbacks* callbacks, size_t size) {
  init(callbacks, size);
}
void cove_upload_callbacks_init(cove_upload_callbacks* callbacks, size_t size) {
  init(callbacks, size);
}
void cove_watch_callbacks_init(cove_watch_callbacks* callbacks, size_t size) {
  init(callbacks, size);
}
void cove_grep_options_init(cove_grep_options* options, size_t size) { init(options, size); }
void cove_grep_callbacks_init(cove_grep_callbacks* callbacks, size_t size) {
  init(callbacks, size);
}
void cove_find_options_init(cove_find_options* options, size_t size) { init(options, size); }
void cove_find_callbacks_init(cove_find_callbacks* callbacks, size_t size) {
  init(callbacks, size);
}
void cove_tool_options_init(cove_tool_options* options, size_t size) { init(options, size); }
void cove_piece_callbacks_init(cove_piece_callbacks* callbacks, size_t size) {
  init(callbacks, size);
}
void cove_skills_options_init(cove_skills_options* options, size_t size) { init(options, size); }
void cove_idle_policy_init(cove_idle_policy* policy, size_t size) { init(policy, size); }
void cove_sweep_options_init(cove_sweep_options* options, size_t size) { init(options, size); }
void cove_destroy_source_options_init(cove_destroy_source_options* options, size_t size) {
  init(options, size);
}
void cove_stop_options_init(cove_stop_options* options, size_t size) { init(options, size); }
void cove_relocate_options_init(cove_relocate_options* options, size_t size) {
  init(options, size);
}
void cove_list_options_init(cove_list_options* options, size_t size) { init(options, size); }
void cove_clock_init(cove_clock* clock, size_t size) { init(clock, size); }
void cove_document_init(cove_document* document, size_t size) { init(document, size); }
void cove_metadata_store_init(cove_metadata_store* store, size_t size) { init(store, size); }
void cove_object_init(cove_object* object, size_t size) { init(object, size); }
void cove_byte_source_init(cove_byte_source* source, size_t size) { init(source, size); }
void cove_object_store_init(cove_object_store* store, size_t size) { init(store, size); }
void cove_instance_ref_init(cove_instance_ref* ref, size_t size) { init(ref, size); }
void cove_offline_volume_init(cove_offline_volume* volume, size_t size) { init(volume, size); }
void cove_inventory_init(cove_inventory* inventory, size_t size) { init(inventory, size); }
void cove_provider_init(cove_provider* provider, size_t size) { init(provider, size); }

}  // extern "C"
