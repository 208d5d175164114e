/* The layout of every struct that a program fills, and the number of every constant, as programs of
 * this release are built with them. A field that is appended adds a line; a line that changes
 * breaks those programs. A copy of this stays with each release (capi/abi/README.md): COVE_LATER is
 * defined where it is held against the header of a later one, in which structs may be longer at
 * their ends and what was reserved may have a name. */
#include <cove.h>

#ifdef COVE_LATER
#define SIZE(type, size) _Static_assert(sizeof(type) >= (size), #type " has become shorter")
#define RESERVED(type, field, offset) \
  _Static_assert((offset) < sizeof(type), #type " has become shorter")
#else
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has another size")
#define RESERVED(type, field, offset) FIELD(type, field, offset)
#endif
#define FIELD(type, field, offset) \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")
#define VALUE(name, number) _Static_assert((name) == (number), #name " is another number")

SIZE(cove_status, 4);

SIZE(cove_call_options, 24);
FIELD(cove_call_options, struct_size, 0);
RESERVED(cove_call_options, reserved0, 4);
FIELD(cove_call_options, timeout_ms, 8);
FIELD(cove_call_options, cancel, 16);

SIZE(cove_open_options, 64);
FIELD(cove_open_options, struct_size, 0);
RESERVED(cove_open_options, reserved0, 4);
FIELD(cove_open_options, log, 8);
FIELD(cove_open_options, log_user_data, 16);
FIELD(cove_open_options, log_drop, 24);
FIELD(cove_open_options, clock, 32);
FIELD(cove_open_options, metadata, 40);
FIELD(cove_open_options, objects, 48);
FIELD(cove_open_options, provider, 56);

SIZE(cove_workspace_key, 32);
FIELD(cove_workspace_key, struct_size, 0);
RESERVED(cove_workspace_key, reserved0, 4);
FIELD(cove_workspace_key, source_type, 8);
FIELD(cove_workspace_key, source_id, 16);
FIELD(cove_workspace_key, user_id, 24);

SIZE(cove_init_options, 32);
FIELD(cove_init_options, struct_size, 0);
RESERVED(cove_init_options, reserved0, 4);
FIELD(cove_init_options, version, 8);
FIELD(cove_init_options, cwd, 16);
FIELD(cove_init_options, script_timeout_ms, 24);

SIZE(cove_step_options, 32);
FIELD(cove_step_options, struct_size, 0);
FIELD(cove_step_options, policy, 4);
FIELD(cove_step_options, fingerprint, 8);
FIELD(cove_step_options, timeout_ms, 16);
FIELD(cove_step_options, after, 24);
RESERVED(cove_step_options, reserved0, 28);

SIZE(cove_step_result, 32);
FIELD(cove_step_result, struct_size, 0);
FIELD(cove_step_result, nothing_to_do, 4);
FIELD(cove_step_result, reason, 8);
FIELD(cove_step_result, output, 16);
FIELD(cove_step_result, note, 24);

SIZE(cove_acquire_options, 48);
FIELD(cove_acquire_options, struct_size, 0);
FIELD(cove_acquire_options, flags, 4);
FIELD(cove_acquire_options, chat_id, 8);
FIELD(cove_acquire_options, sandbox_id, 16);
FIELD(cove_acquire_options, timeout_ms, 24);
FIELD(cove_acquire_options, cancel, 32);
FIELD(cove_acquire_options, prepare, 40);

SIZE(cove_skills_options, 32);
FIELD(cove_skills_options, struct_size, 0);
RESERVED(cove_skills_options, reserved0, 4);
FIELD(cove_skills_options, max_characters, 8);
FIELD(cove_skills_options, timeout_ms, 16);
FIELD(cove_skills_options, cancel, 24);

SIZE(cove_exec_options, 176);
FIELD(cove_exec_options, struct_size, 0);
FIELD(cove_exec_options, flags, 4);
FIELD(cove_exec_options, cwd, 8);
FIELD(cove_exec_options, env, 16);
FIELD(cove_exec_options, env_count, 24);
FIELD(cove_exec_options, stdin_data, 32);
FIELD(cove_exec_options, stdin_size, 40);
FIELD(cove_exec_options, command_timeout_ms, 48);
FIELD(cove_exec_options, kill_grace_ms, 56);
FIELD(cove_exec_options, head_bytes, 64);
FIELD(cove_exec_options, tail_bytes, 72);
FIELD(cove_exec_options, max_total_bytes, 80);
FIELD(cove_exec_options, timeout_ms, 88);
FIELD(cove_exec_options, cancel, 96);
FIELD(cove_exec_options, shell_line, 104);
FIELD(cove_exec_options, quiet_timeout_ms, 112);
FIELD(cove_exec_options, orphan_grace_ms, 120);
FIELD(cove_exec_options, head_lines, 128);
FIELD(cove_exec_options, tail_lines, 136);
FIELD(cove_exec_options, memory_bytes, 144);
FIELD(cove_exec_options, cpu_seconds, 152);
FIELD(cove_exec_options, process_limit, 156);
FIELD(cove_exec_options, niceness, 160);
FIELD(cove_exec_options, terminal_rows, 164);
FIELD(cove_exec_options, terminal_columns, 168);
RESERVED(cove_exec_options, reserved1, 172);

SIZE(cove_exec_callbacks, 40);
FIELD(cove_exec_callbacks, struct_size, 0);
RESERVED(cove_exec_callbacks, reserved0, 4);
FIELD(cove_exec_callbacks, on_output, 8);
FIELD(cove_exec_callbacks, on_done, 16);
FIELD(cove_exec_callbacks, user_data, 24);
FIELD(cove_exec_callbacks, drop, 32);

SIZE(cove_process_options, 24);
FIELD(cove_process_options, struct_size, 0);
RESERVED(cove_process_options, reserved0, 4);
FIELD(cove_process_options, name, 8);
FIELD(cove_process_options, keep_alive_s, 16);

SIZE(cove_output_options, 48);
FIELD(cove_output_options, struct_size, 0);
FIELD(cove_output_options, stream, 4);
FIELD(cove_output_options, offset, 8);
FIELD(cove_output_options, max_bytes, 16);
FIELD(cove_output_options, wait_ms, 24);
FIELD(cove_output_options, timeout_ms, 32);
FIELD(cove_output_options, cancel, 40);

SIZE(cove_attach_options, 40);
FIELD(cove_attach_options, struct_size, 0);
FIELD(cove_attach_options, flags, 4);
FIELD(cove_attach_options, out_offset, 8);
FIELD(cove_attach_options, err_offset, 16);
FIELD(cove_attach_options, timeout_ms, 24);
FIELD(cove_attach_options, cancel, 32);

SIZE(cove_read_options, 40);
FIELD(cove_read_options, struct_size, 0);
RESERVED(cove_read_options, reserved0, 4);
FIELD(cove_read_options, offset, 8);
FIELD(cove_read_options, max_bytes, 16);
FIELD(cove_read_options, timeout_ms, 24);
FIELD(cove_read_options, cancel, 32);

SIZE(cove_read_lines_options, 48);
FIELD(cove_read_lines_options, struct_size, 0);
RESERVED(cove_read_lines_options, reserved0, 4);
FIELD(cove_read_lines_options, first, 8);
FIELD(cove_read_lines_options, count, 16);
FIELD(cove_read_lines_options, max_bytes, 24);
FIELD(cove_read_lines_options, timeout_ms, 32);
FIELD(cove_read_lines_options, cancel, 40);

SIZE(cove_write_options, 40);
FIELD(cove_write_options, struct_size, 0);
FIELD(cove_write_options, flags, 4);
FIELD(cove_write_options, mode, 8);
RESERVED(cove_write_options, reserved0, 12);
FIELD(cove_write_options, timeout_ms, 16);
FIELD(cove_write_options, cancel, 24);
FIELD(cove_write_options, if_unchanged_since, 32);

SIZE(cove_edit, 40);
FIELD(cove_edit, struct_size, 0);
FIELD(cove_edit, flags, 4);
FIELD(cove_edit, old_text, 8);
FIELD(cove_edit, old_size, 16);
FIELD(cove_edit, new_text, 24);
FIELD(cove_edit, new_size, 32);

SIZE(cove_edit_options, 32);
FIELD(cove_edit_options, struct_size, 0);
FIELD(cove_edit_options, flags, 4);
FIELD(cove_edit_options, if_unchanged_since, 8);
FIELD(cove_edit_options, timeout_ms, 16);
FIELD(cove_edit_options, cancel, 24);

SIZE(cove_file_edit, 40);
FIELD(cove_file_edit, struct_size, 0);
FIELD(cove_file_edit, flags, 4);
FIELD(cove_file_edit, path, 8);
FIELD(cove_file_edit, edits, 16);
FIELD(cove_file_edit, edit_count, 24);
FIELD(cove_file_edit, if_unchanged_since, 32);

SIZE(cove_file_list_options, 40);
FIELD(cove_file_list_options, struct_size, 0);
FIELD(cove_file_list_options, limit, 4);
FIELD(cove_file_list_options, after, 8);
FIELD(cove_file_list_options, timeout_ms, 16);
FIELD(cove_file_list_options, cancel, 24);
FIELD(cove_file_list_options, depth, 32);
RESERVED(cove_file_list_options, reserved0, 36);

SIZE(cove_remove_options, 24);
FIELD(cove_remove_options, struct_size, 0);
FIELD(cove_remove_options, flags, 4);
FIELD(cove_remove_options, timeout_ms, 8);
FIELD(cove_remove_options, cancel, 16);

SIZE(cove_move_options, 24);
FIELD(cove_move_options, struct_size, 0);
FIELD(cove_move_options, flags, 4);
FIELD(cove_move_options, timeout_ms, 8);
FIELD(cove_move_options, cancel, 16);

SIZE(cove_download_callbacks, 32);
FIELD(cove_download_callbacks, struct_size, 0);
RESERVED(cove_download_callbacks, reserved0, 4);
FIELD(cove_download_callbacks, on_piece, 8);
FIELD(cove_download_callbacks, on_progress, 16);
FIELD(cove_download_callbacks, user_data, 24);

SIZE(cove_upload_callbacks, 32);
FIELD(cove_upload_callbacks, struct_size, 0);
RESERVED(cove_upload_callbacks, reserved0, 4);
FIELD(cove_upload_callbacks, next_piece, 8);
FIELD(cove_upload_callbacks, on_progress, 16);
FIELD(cove_upload_callbacks, user_data, 24);

SIZE(cove_piece_callbacks, 48);
FIELD(cove_piece_callbacks, struct_size, 0);
RESERVED(cove_piece_callbacks, reserved0, 4);
FIELD(cove_piece_callbacks, on_piece, 8);
FIELD(cove_piece_callbacks, on_progress, 16);
FIELD(cove_piece_callbacks, on_done, 24);
FIELD(cove_piece_callbacks, user_data, 32);
FIELD(cove_piece_callbacks, drop, 40);

SIZE(cove_watch_options, 32);
FIELD(cove_watch_options, struct_size, 0);
FIELD(cove_watch_options, flags, 4);
FIELD(cove_watch_options, max_directories, 8);
RESERVED(cove_watch_options, reserved0, 12);
FIELD(cove_watch_options, timeout_ms, 16);
FIELD(cove_watch_options, cancel, 24);

SIZE(cove_watch_callbacks, 40);
FIELD(cove_watch_callbacks, struct_size, 0);
RESERVED(cove_watch_callbacks, reserved0, 4);
FIELD(cove_watch_callbacks, on_events, 8);
FIELD(cove_watch_callbacks, on_done, 16);
FIELD(cove_watch_callbacks, user_data, 24);
FIELD(cove_watch_callbacks, drop, 32);

SIZE(cove_grep_options, 88);
FIELD(cove_grep_options, struct_size, 0);
FIELD(cove_grep_options, flags, 4);
FIELD(cove_grep_options, context_before, 8);
FIELD(cove_grep_options, context_after, 12);
FIELD(cove_grep_options, include, 16);
FIELD(cove_grep_options, include_count, 24);
FIELD(cove_grep_options, exclude, 32);
FIELD(cove_grep_options, exclude_count, 40);
FIELD(cove_grep_options, max_file_bytes, 48);
FIELD(cove_grep_options, limit, 56);
FIELD(cove_grep_options, max_line_bytes, 64);
RESERVED(cove_grep_options, reserved0, 68);
FIELD(cove_grep_options, timeout_ms, 72);
FIELD(cove_grep_options, cancel, 80);

SIZE(cove_grep_callbacks, 40);
FIELD(cove_grep_callbacks, struct_size, 0);
RESERVED(cove_grep_callbacks, reserved0, 4);
FIELD(cove_grep_callbacks, on_lines, 8);
FIELD(cove_grep_callbacks, on_done, 16);
FIELD(cove_grep_callbacks, user_data, 24);
FIELD(cove_grep_callbacks, drop, 32);

SIZE(cove_find_options, 96);
FIELD(cove_find_options, struct_size, 0);
FIELD(cove_find_options, flags, 4);
FIELD(cove_find_options, glob, 8);
FIELD(cove_find_options, type, 16);
FIELD(cove_find_options, max_depth, 20);
FIELD(cove_find_options, exclude, 24);
FIELD(cove_find_options, exclude_count, 32);
FIELD(cove_find_options, min_bytes, 40);
FIELD(cove_find_options, max_bytes, 48);
FIELD(cove_find_options, modified_from_ns, 56);
FIELD(cove_find_options, modified_until_ns, 64);
FIELD(cove_find_options, limit, 72);
FIELD(cove_find_options, timeout_ms, 80);
FIELD(cove_find_options, cancel, 88);

SIZE(cove_find_callbacks, 40);
FIELD(cove_find_callbacks, struct_size, 0);
RESERVED(cove_find_callbacks, reserved0, 4);
FIELD(cove_find_callbacks, on_entries, 8);
FIELD(cove_find_callbacks, on_done, 16);
FIELD(cove_find_callbacks, user_data, 24);
FIELD(cove_find_callbacks, drop, 32);

SIZE(cove_tool_options, 48);
FIELD(cove_tool_options, struct_size, 0);
RESERVED(cove_tool_options, reserved0, 4);
FIELD(cove_tool_options, make_links, 8);
FIELD(cove_tool_options, link_user_data, 16);
FIELD(cove_tool_options, link_drop, 24);
FIELD(cove_tool_options, timeout_ms, 32);
FIELD(cove_tool_options, cancel, 40);

SIZE(cove_stop_options, 32);
FIELD(cove_stop_options, struct_size, 0);
FIELD(cove_stop_options, drain, 4);
FIELD(cove_stop_options, timeout_ms, 8);
FIELD(cove_stop_options, cancel, 16);
FIELD(cove_stop_options, wait_ms, 24);

SIZE(cove_relocate_options, 40);
FIELD(cove_relocate_options, struct_size, 0);
FIELD(cove_relocate_options, drain, 4);
FIELD(cove_relocate_options, provider, 8);
FIELD(cove_relocate_options, timeout_ms, 16);
FIELD(cove_relocate_options, cancel, 24);
FIELD(cove_relocate_options, wait_ms, 32);

SIZE(cove_destroy_source_options, 48);
FIELD(cove_destroy_source_options, struct_size, 0);
RESERVED(cove_destroy_source_options, reserved0, 4);
FIELD(cove_destroy_source_options, timeout_ms, 8);
FIELD(cove_destroy_source_options, cancel, 16);
FIELD(cove_destroy_source_options, on_progress, 24);
FIELD(cove_destroy_source_options, user_data, 32);
FIELD(cove_destroy_source_options, drop, 40);

SIZE(cove_idle_policy, 24);
FIELD(cove_idle_policy, struct_size, 0);
FIELD(cove_idle_policy, archive, 4);
FIELD(cove_idle_policy, stop_after_ms, 8);
FIELD(cove_idle_policy, archive_after_ms, 16);

SIZE(cove_sweep_options, 56);
FIELD(cove_sweep_options, struct_size, 0);
FIELD(cove_sweep_options, flags, 4);
FIELD(cove_sweep_options, timeout_ms, 8);
FIELD(cove_sweep_options, cancel, 16);
FIELD(cove_sweep_options, at_once, 24);
RESERVED(cove_sweep_options, reserved0, 28);
FIELD(cove_sweep_options, on_progress, 32);
FIELD(cove_sweep_options, user_data, 40);
FIELD(cove_sweep_options, drop, 48);

SIZE(cove_list_options, 40);
FIELD(cove_list_options, struct_size, 0);
FIELD(cove_list_options, limit, 4);
FIELD(cove_list_options, source, 8);
FIELD(cove_list_options, after, 16);
FIELD(cove_list_options, timeout_ms, 24);
FIELD(cove_list_options, cancel, 32);

SIZE(cove_clock, 40);
FIELD(cove_clock, struct_size, 0);
RESERVED(cove_clock, reserved0, 4);
FIELD(cove_clock, self, 8);
FIELD(cove_clock, destroy, 16);
FIELD(cove_clock, now_ns, 24);
FIELD(cove_clock, wall_ms, 32);

SIZE(cove_document, 88);
FIELD(cove_document, struct_size, 0);
FIELD(cove_document, kind, 4);
FIELD(cove_document, name, 8);
FIELD(cove_document, version, 16);
FIELD(cove_document, body, 24);
FIELD(cove_document, body_size, 32);
FIELD(cove_document, state, 40);
FIELD(cove_document, source, 48);
FIELD(cove_document, node, 56);
FIELD(cove_document, active_at_ms, 64);
FIELD(cove_document, heartbeat_ms, 72);
FIELD(cove_document, times, 80);
RESERVED(cove_document, reserved0, 84);

SIZE(cove_document_query, 80);
FIELD(cove_document_query, struct_size, 0);
FIELD(cove_document_query, kind, 4);
FIELD(cove_document_query, order, 8);
FIELD(cove_document_query, limit, 12);
FIELD(cove_document_query, state, 16);
FIELD(cove_document_query, source, 24);
FIELD(cove_document_query, node, 32);
FIELD(cove_document_query, active_before_ms, 40);
FIELD(cove_document_query, heartbeat_before_ms, 48);
FIELD(cove_document_query, times, 56);
RESERVED(cove_document_query, reserved0, 60);
FIELD(cove_document_query, after_name, 64);
FIELD(cove_document_query, after_ms, 72);

SIZE(cove_metadata_store, 80);
FIELD(cove_metadata_store, struct_size, 0);
FIELD(cove_metadata_store, flags, 4);
FIELD(cove_metadata_store, threads, 8);
RESERVED(cove_metadata_store, reserved0, 12);
FIELD(cove_metadata_store, self, 16);
FIELD(cove_metadata_store, destroy, 24);
FIELD(cove_metadata_store, insert, 32);
FIELD(cove_metadata_store, find, 40);
FIELD(cove_metadata_store, compare_and_swap, 48);
FIELD(cove_metadata_store, remove, 56);
FIELD(cove_metadata_store, query, 64);
FIELD(cove_metadata_store, now, 72);

SIZE(cove_object, 24);
FIELD(cove_object, struct_size, 0);
RESERVED(cove_object, reserved0, 4);
FIELD(cove_object, key, 8);
FIELD(cove_object, size, 16);

SIZE(cove_byte_source, 32);
FIELD(cove_byte_source, struct_size, 0);
RESERVED(cove_byte_source, reserved0, 4);
FIELD(cove_byte_source, self, 8);
FIELD(cove_byte_source, destroy, 16);
FIELD(cove_byte_source, next, 24);

SIZE(cove_object_store, 72);
FIELD(cove_object_store, struct_size, 0);
FIELD(cove_object_store, flags, 4);
FIELD(cove_object_store, threads, 8);
RESERVED(cove_object_store, reserved0, 12);
FIELD(cove_object_store, self, 16);
FIELD(cove_object_store, destroy, 24);
FIELD(cove_object_store, put, 32);
FIELD(cove_object_store, get, 40);
FIELD(cove_object_store, stat, 48);
FIELD(cove_object_store, list, 56);
FIELD(cove_object_store, remove, 64);

SIZE(cove_instance_ref, 40);
FIELD(cove_instance_ref, struct_size, 0);
RESERVED(cove_instance_ref, reserved0, 4);
FIELD(cove_instance_ref, deployment, 8);
FIELD(cove_instance_ref, sandbox, 16);
FIELD(cove_instance_ref, generation, 24);
FIELD(cove_instance_ref, epoch, 32);

SIZE(cove_offline_volume, 48);
FIELD(cove_offline_volume, struct_size, 0);
FIELD(cove_offline_volume, flags, 4);
FIELD(cove_offline_volume, directory, 8);
FIELD(cove_offline_volume, id_offset, 12);
FIELD(cove_offline_volume, id_count, 16);
FIELD(cove_offline_volume, home, 20);
FIELD(cove_offline_volume, self, 24);
FIELD(cove_offline_volume, close, 32);
FIELD(cove_offline_volume, sync, 40);

SIZE(cove_inventory, 56);
FIELD(cove_inventory, struct_size, 0);
RESERVED(cove_inventory, reserved0, 4);
FIELD(cove_inventory, volumes, 8);
FIELD(cove_inventory, volume_count, 16);
FIELD(cove_inventory, instances, 24);
FIELD(cove_inventory, instance_count, 32);
FIELD(cove_inventory, others, 40);
FIELD(cove_inventory, other_count, 48);

SIZE(cove_provider, 112);
FIELD(cove_provider, struct_size, 0);
FIELD(cove_provider, flags, 4);
FIELD(cove_provider, threads, 8);
RESERVED(cove_provider, reserved0, 12);
FIELD(cove_provider, self, 16);
FIELD(cove_provider, destroy, 24);
FIELD(cove_provider, name, 32);
FIELD(cove_provider, node, 40);
FIELD(cove_provider, create_volume, 48);
FIELD(cove_provider, delete_volume, 56);
FIELD(cove_provider, open_volume, 64);
FIELD(cove_provider, start_instance, 72);
FIELD(cove_provider, stop_instance, 80);
FIELD(cove_provider, inspect, 88);
FIELD(cove_provider, connect, 96);
FIELD(cove_provider, list, 104);

VALUE(COVE_OK, 0);
VALUE(COVE_INVALID_ARGUMENT, 1);
VALUE(COVE_NOT_FOUND, 2);
VALUE(COVE_ALREADY_EXISTS, 3);
VALUE(COVE_PERMISSION_DENIED, 4);
VALUE(COVE_PATH_ESCAPE, 5);
VALUE(COVE_CONFLICT, 6);
VALUE(COVE_FAILED_PRECONDITION, 7);
VALUE(COVE_UNAVAILABLE, 8);
VALUE(COVE_TIMEOUT, 9);
VALUE(COVE_CANCELLED, 10);
VALUE(COVE_TOO_LARGE, 11);
VALUE(COVE_QUOTA_EXCEEDED, 12);
VALUE(COVE_INTEGRITY, 13);
VALUE(COVE_UNSUPPORTED, 14);
VALUE(COVE_PROVIDER, 15);
VALUE(COVE_INTERNAL, 16);

VALUE(COVE_LOG_DEBUG, 0);
VALUE(COVE_LOG_INFO, 1);
VALUE(COVE_LOG_WARNING, 2);
VALUE(COVE_LOG_ERROR, 3);

VALUE(COVE_MIRROR_NPM, 1);
VALUE(COVE_MIRROR_PYPI, 2);
VALUE(COVE_MIRROR_APT, 3);
VALUE(COVE_MIRROR_GO, 4);
VALUE(COVE_MIRROR_CARGO, 5);
VALUE(COVE_MIRROR_MAVEN, 6);
VALUE(COVE_MIRROR_RUBYGEMS, 7);

VALUE(COVE_STAGE_DIRECTORIES, 1);
VALUE(COVE_STAGE_MIRRORS, 2);
VALUE(COVE_STAGE_INPUT_FILES, 3);
VALUE(COVE_STAGE_SKILLS, 4);
VALUE(COVE_STAGE_BUILTIN_SKILLS, 5);
VALUE(COVE_STAGE_APP_INIT, 6);
VALUE(COVE_STAGE_SKILL_INIT, 7);
VALUE(COVE_STAGE_CAPABILITIES, 8);

VALUE(COVE_STEP_REQUIRED, 1);
VALUE(COVE_STEP_BEST_EFFORT, 2);

VALUE(COVE_PREPARE_WAITING, 1);
VALUE(COVE_PREPARE_STARTED, 2);
VALUE(COVE_PREPARE_PROGRESS, 3);
VALUE(COVE_PREPARE_FINISHED, 4);

VALUE(COVE_WORK_NONE, 0);
VALUE(COVE_WORK_PROVISIONED, 1);
VALUE(COVE_WORK_RESUMED, 2);
VALUE(COVE_WORK_RESTORED, 3);

VALUE(COVE_STDOUT, 1);
VALUE(COVE_STDERR, 2);

VALUE(COVE_EXEC_MERGE_OUTPUT, 1);
VALUE(COVE_EXEC_SPILL, 2);
VALUE(COVE_EXEC_KEEP_STDIN, 4);

VALUE(COVE_OUTCOME_EXITED, 1);
VALUE(COVE_OUTCOME_SIGNALED, 2);
VALUE(COVE_OUTCOME_TIMED_OUT, 3);
VALUE(COVE_OUTCOME_CANCELLED, 4);
VALUE(COVE_OUTCOME_OUTPUT_LIMIT, 5);
VALUE(COVE_OUTCOME_OUT_OF_MEMORY, 6);
VALUE(COVE_OUTCOME_CPU_LIMIT, 7);

VALUE(COVE_CONTINUE, 0);
VALUE(COVE_PAUSE, 1);
VALUE(COVE_STOP, 2);

VALUE(COVE_ATTACH_ONLY_NEW, 1);

VALUE(COVE_FILE_REGULAR, 1);
VALUE(COVE_FILE_DIRECTORY, 2);
VALUE(COVE_FILE_SYMLINK, 3);
VALUE(COVE_FILE_OTHER, 4);

VALUE(COVE_WRITE_EXISTING_PARENTS, 1);
VALUE(COVE_WRITE_DURABLE, 2);
VALUE(COVE_WRITE_APPEND, 4);
VALUE(COVE_WRITE_IF_ABSENT, 8);

VALUE(COVE_EDIT_REPLACE_ALL, 1);
VALUE(COVE_EDIT_DURABLE, 2);

VALUE(COVE_REMOVE_RECURSIVE, 1);

VALUE(COVE_MOVE_OVERWRITE, 1);
VALUE(COVE_MOVE_EXISTING_PARENTS, 2);

VALUE(COVE_CHANGE_CREATED, 1);
VALUE(COVE_CHANGE_MODIFIED, 2);
VALUE(COVE_CHANGE_REMOVED, 3);
VALUE(COVE_CHANGE_MOVED, 4);
VALUE(COVE_CHANGE_ATTRIBUTES, 5);
VALUE(COVE_CHANGE_OVERFLOW, 6);

VALUE(COVE_WATCH_NOT_RECURSIVE, 1);

VALUE(COVE_SEARCH_COMPLETE, 1);
VALUE(COVE_SEARCH_LIMIT, 2);
VALUE(COVE_SEARCH_DEADLINE, 3);
VALUE(COVE_SEARCH_CANCELLED, 4);

VALUE(COVE_TEXT_BYTES, 1);
VALUE(COVE_TEXT_UTF16LE, 2);
VALUE(COVE_TEXT_UTF16BE, 3);

VALUE(COVE_GREP_LITERAL, 1);
VALUE(COVE_GREP_IGNORE_CASE, 2);
VALUE(COVE_GREP_WHOLE_WORD, 4);
VALUE(COVE_GREP_HIDDEN, 8);
VALUE(COVE_GREP_NO_IGNORE_FILES, 16);

VALUE(COVE_FIND_HIDDEN, 1);
VALUE(COVE_FIND_NO_IGNORE_FILES, 2);
VALUE(COVE_FIND_NEWEST_FIRST, 4);
VALUE(COVE_FIND_FACTS, 8);

VALUE(COVE_TOOLS_OPENAI, 1);
VALUE(COVE_TOOLS_MCP, 2);
VALUE(COVE_TOOLS_PLAIN, 3);

VALUE(COVE_DRAIN_REFUSE, 0);
VALUE(COVE_DRAIN_CANCEL, 1);

VALUE(COVE_ARCHIVE_WHEN_IDLE, 0);
VALUE(COVE_ARCHIVE_AT_ONCE, 1);
VALUE(COVE_ARCHIVE_NEVER, 2);

VALUE(COVE_SWEEP_DRY_RUN, 1);

VALUE(COVE_PART_BLOCKING, 1);

VALUE(COVE_DOCUMENT_DEPLOYMENT, 1);
VALUE(COVE_DOCUMENT_SANDBOX, 2);
VALUE(COVE_DOCUMENT_SOURCE, 3);
VALUE(COVE_DOCUMENT_LEASE, 4);
VALUE(COVE_DOCUMENT_QUOTA, 5);
VALUE(COVE_DOCUMENT_TOMBSTONE, 6);

VALUE(COVE_TIME_ACTIVE, 1);
VALUE(COVE_TIME_HEARTBEAT, 2);

VALUE(COVE_ORDER_NAME, 0);
VALUE(COVE_ORDER_ACTIVE, 1);
VALUE(COVE_ORDER_HEARTBEAT, 2);

VALUE(COVE_DURABILITY_RELAXED, 0);
VALUE(COVE_DURABILITY_DURABLE, 1);

VALUE(COVE_VOLUME_ONE_USER, 1);
VALUE(COVE_VOLUME_HOME, 2);

VALUE(COVE_PROVIDER_LIMITS, 2);
