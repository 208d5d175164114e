/* Both ways to make each options struct, for init_test: C, since the macros are for C programs. */
#include "inits.h"

#include <string.h>

#define PAIR(type, INIT)                                                     \
  do {                                                                       \
    const type by_macro = INIT;                                              \
    type by_function;                                                        \
    memset(&by_function, 0xa5, sizeof by_function);                          \
    type##_init(&by_function, sizeof by_function);                           \
    if (memcmp(&by_macro, &by_function, sizeof by_macro) != 0) return #type; \
    ++*count;                                                                \
  } while (0)

const char* first_different_init(int* count) {
  *count = 0;
  PAIR(cove_call_options, COVE_CALL_OPTIONS_INIT);
  PAIR(cove_open_options, COVE_OPEN_OPTIONS_INIT);
  PAIR(cove_workspace_key, COVE_WORKSPACE_KEY_INIT);
  PAIR(cove_acquire_options, COVE_ACQUIRE_OPTIONS_INIT);
  PAIR(cove_init_options, COVE_INIT_OPTIONS_INIT);
  PAIR(cove_step_options, COVE_STEP_OPTIONS_INIT);
  PAIR(cove_step_result, COVE_STEP_RESULT_INIT);
  PAIR(cove_exec_options, COVE_EXEC_OPTIONS_INIT);
  PAIR(cove_exec_callbacks, COVE_EXEC_CALLBACKS_INIT);
  PAIR(cove_process_options, COVE_PROCESS_OPTIONS_INIT);
  PAIR(cove_output_options, COVE_OUTPUT_OPTIONS_INIT);
  PAIR(cove_attach_options, COVE_ATTACH_OPTIONS_INIT);
  PAIR(cove_read_options, COVE_READ_OPTIONS_INIT);
  PAIR(cove_write_options, COVE_WRITE_OPTIONS_INIT);
  PAIR(cove_file_list_options, COVE_FILE_LIST_OPTIONS_INIT);
  PAIR(cove_remove_options, COVE_REMOVE_OPTIONS_INIT);
  PAIR(cove_read_lines_options, COVE_READ_LINES_OPTIONS_INIT);
  PAIR(cove_edit, COVE_EDIT_INIT);
  PAIR(cove_edit_options, COVE_EDIT_OPTIONS_INIT);
  PAIR(cove_file_edit, COVE_FILE_EDIT_INIT);
  PAIR(cove_move_options, COVE_MOVE_OPTIONS_INIT);
  PAIR(cove_download_callbacks, COVE_DOWNLOAD_CALLBACKS_INIT);
  PAIR(cove_upload_callbacks, COVE_UPLOAD_CALLBACKS_INIT);
  PAIR(cove_watch_options, COVE_WATCH_OPTIONS_INIT);
  PAIR(cove_watch_callbacks, COVE_WATCH_CALLBACKS_INIT);
  PAIR(cove_grep_options, COVE_GREP_OPTIONS_INIT);
  PAIR(cove_grep_callbacks, COVE_GREP_CALLBACKS_INIT);
  PAIR(cove_find_options, COVE_FIND_OPTIONS_INIT);
  PAIR(cove_find_callbacks, COVE_FIND_CALLBACKS_INIT);
  PAIR(cove_tool_options, COVE_TOOL_OPTIONS_INIT);
  PAIR(cove_piece_callbacks, COVE_PIECE_CALLBACKS_INIT);
  PAIR(cove_skills_options, COVE_SKILLS_OPTIONS_INIT);
  PAIR(cove_idle_policy, COVE_IDLE_POLICY_INIT);
  PAIR(cove_sweep_options, COVE_SWEEP_OPTIONS_INIT);
  PAIR(cove_destroy_source_options, COVE_DESTROY_SOURCE_OPTIONS_INIT);
  PAIR(cove_stop_options, COVE_STOP_OPTIONS_INIT);
  PAIR(cove_relocate_options, COVE_RELOCATE_OPTIONS_INIT);
  PAIR(cove_list_options, COVE_LIST_OPTIONS_INIT);
  PAIR(cove_clock, COVE_CLOCK_INIT);
  PAIR(cove_document, COVE_DOCUMENT_INIT);
  PAIR(cove_metadata_store, COVE_METADATA_STORE_INIT);
  PAIR(cove_object, COVE_OBJECT_INIT);
  PAIR(cove_byte_source, COVE_BYTE_SOURCE_INIT);
  PAIR(cove_object_store, COVE_OBJECT_STORE_INIT);
  PAIR(cove_instance_ref, COVE_INSTANCE_REF_INIT);
  PAIR(cove_offline_volume, COVE_OFFLINE_VOLUME_INIT);
  PAIR(cove_inventory, COVE_INVENTORY_INIT);
  PAIR(cove_provider, COVE_PROVIDER_INIT);
  return NULL;
}
