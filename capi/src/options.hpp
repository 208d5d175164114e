/// Options as programs of other versions send them, and what they mean to us.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/cove.hpp>

#include "abi.hpp"

namespace cove::capi {

/// How a versioned struct is read. `first_size` is its size in the first release, for ever.
struct StructRule {
  const char* name;
  std::size_t first_size;
  std::size_t our_size;
};

/// True where `theirs` holds at least the first release's fields: then they may be read.
bool is_readable(const StructRule& rule, const void* theirs);

/// Copies what both sides know of a struct that begins with its u32 struct_size; what they do not
/// know stays as it is in `ours`. kInvalidArgument: smaller than the first release's, or absurdly
/// large; kUnsupported: it sets a field that this library does not know.
Result<void> read_struct(const StructRule& rule, const void* theirs, void* ours);

/// The struct_size that a struct begins with.
std::uint32_t struct_size_of(const void* theirs);

/// kInvalidArgument: no array, or its first element has a size of no version.
Result<void> require_array(const StructRule& rule, const void* theirs, std::size_t alignment,
                           const char* name);

/// kInvalidArgument: an element of another size than the first.
Result<void> require_stride(const StructRule& rule, const void* element, std::size_t stride);

/// The sizes of the first release; a new field never changes them.
template <class T>
StructRule rule_of() = delete;
template <>
inline StructRule rule_of<cove_call_options>() {
  return {"cove_call_options", 24, sizeof(cove_call_options)};
}
template <>
inline StructRule rule_of<cove_open_options>() {
  return {"cove_open_options", 32, sizeof(cove_open_options)};
}
template <>
inline StructRule rule_of<cove_workspace_key>() {
  return {"cove_workspace_key", 32, sizeof(cove_workspace_key)};
}
template <>
inline StructRule rule_of<cove_acquire_options>() {
  return {"cove_acquire_options", 40, sizeof(cove_acquire_options)};
}
template <>
inline StructRule rule_of<cove_init_options>() {
  return {"cove_init_options", 32, sizeof(cove_init_options)};
}
template <>
inline StructRule rule_of<cove_step_options>() {
  return {"cove_step_options", 32, sizeof(cove_step_options)};
}
template <>
inline StructRule rule_of<cove_step_result>() {
  return {"cove_step_result", 32, sizeof(cove_step_result)};
}
template <>
inline StructRule rule_of<cove_exec_options>() {
  return {"cove_exec_options", 104, sizeof(cove_exec_options)};
}
template <>
inline StructRule rule_of<cove_exec_callbacks>() {
  return {"cove_exec_callbacks", 40, sizeof(cove_exec_callbacks)};
}
template <>
inline StructRule rule_of<cove_process_options>() {
  return {"cove_process_options", 24, sizeof(cove_process_options)};
}
template <>
inline StructRule rule_of<cove_output_options>() {
  return {"cove_output_options", 48, sizeof(cove_output_options)};
}
template <>
inline StructRule rule_of<cove_attach_options>() {
  return {"cove_attach_options", 40, sizeof(cove_attach_options)};
}
template <>
inline StructRule rule_of<cove_read_options>() {
  return {"cove_read_options", 40, sizeof(cove_read_options)};
}
template <>
inline StructRule rule_of<cove_write_options>() {
  return {"cove_write_options", 32, sizeof(cove_write_options)};
}
template <>
inline StructRule rule_of<cove_file_list_options>() {
  return {"cove_file_list_options", 32, sizeof(cove_file_list_options)};
}
template <>
inline StructRule rule_of<cove_remove_options>() {
  return {"cove_remove_options", 24, sizeof(cove_remove_options)};
}
template <>
inline StructRule rule_of<cove_read_lines_options>() {
  return {"cove_read_lines_options", 48, sizeof(cove_read_lines_options)};
}
template <>
inline StructRule rule_of<cove_edit>() {
  return {"cove_edit", 40, sizeof(cove_edit)};
}
template <>
inline StructRule rule_of<cove_edit_options>() {
  return {"cove_edit_options", 32, sizeof(cove_edit_options)};
}
template <>
inline StructRule rule_of<cove_file_edit>() {
  return {"cove_file_edit", 40, sizeof(cove_file_edit)};
}
template <>
inline StructRule rule_of<cove_move_options>() {
  return {"cove_move_options", 24, sizeof(cove_move_options)};
}
template <>
inline StructRule rule_of<cove_download_callbacks>() {
  return {"cove_download_callbacks", 32, sizeof(cove_download_callbacks)};
}
template <>
inline StructRule rule_of<cove_upload_callbacks>() {
  return {"cove_upload_callbacks", 32, sizeof(cove_upload_callbacks)};
}
template <>
inline StructRule rule_of<cove_watch_options>() {
  return {"cove_watch_options", 32, sizeof(cove_watch_options)};
}
template <>
inline StructRule rule_of<cove_watch_callbacks>() {
  return {"cove_watch_callbacks", 40, sizeof(cove_watch_callbacks)};
}
template <>
inline StructRule rule_of<cove_grep_options>() {
  return {"cove_grep_options", 88, sizeof(cove_grep_options)};
}
template <>
inline StructRule rule_of<cove_grep_callbacks>() {
  return {"cove_grep_callbacks", 40, sizeof(cove_grep_callbacks)};
}
template <>
inline StructRule rule_of<cove_find_options>() {
  return {"cove_find_options", 96, sizeof(cove_find_options)};
}
template <>
inline StructRule rule_of<cove_find_callbacks>() {
  return {"cove_find_callbacks", 40, sizeof(cove_find_callbacks)};
}
template <>
inline StructRule rule_of<cove_tool_options>() {
  return {"cove_tool_options", 48, sizeof(cove_tool_options)};
}
template <>
inline StructRule rule_of<cove_piece_callbacks>() {
  return {"cove_piece_callbacks", 48, sizeof(cove_piece_callbacks)};
}
template <>
inline StructRule rule_of<cove_skills_options>() {
  return {"cove_skills_options", 32, sizeof(cove_skills_options)};
}
template <>
inline StructRule rule_of<cove_idle_policy>() {
  return {"cove_idle_policy", 24, sizeof(cove_idle_policy)};
}
// The next two began as cove_call_options.
template <>
inline StructRule rule_of<cove_sweep_options>() {
  return {"cove_sweep_options", 24, sizeof(cove_sweep_options)};
}
template <>
inline StructRule rule_of<cove_destroy_source_options>() {
  return {"cove_destroy_source_options", 24, sizeof(cove_destroy_source_options)};
}
template <>
inline StructRule rule_of<cove_stop_options>() {
  return {"cove_stop_options", 24, sizeof(cove_stop_options)};
}
template <>
inline StructRule rule_of<cove_relocate_options>() {
  return {"cove_relocate_options", 40, sizeof(cove_relocate_options)};
}
template <>
inline StructRule rule_of<cove_list_options>() {
  return {"cove_list_options", 40, sizeof(cove_list_options)};
}

/// Reads an options struct; NULL gives the defaults, which are all zero.
template <class T>
Result<T> read_options(const T* theirs) {
  T ours{};
  ours.struct_size = sizeof(T);
  if (theirs != nullptr) COVE_TRY_VOID(read_struct(rule_of<T>(), theirs, &ours));
  return ours;
}

/// Reads an array of structs, which are as far apart as the program's header makes them.
template <class T>
Result<std::vector<T>> read_array(const T* theirs, std::size_t count, const char* name) {
  std::vector<T> read;
  if (count == 0) return read;
  COVE_TRY_VOID(require_array(rule_of<T>(), theirs, alignof(T), name));
  const std::size_t stride = struct_size_of(theirs);
  for (std::size_t i = 0; i < count; ++i) {
    // SAFETY: the elements lie one struct_size apart, and are read as bytes.
    const auto* const element = reinterpret_cast<const unsigned char*>(theirs) + i * stride;
    COVE_TRY_VOID(require_stride(rule_of<T>(), element, stride));
    T ours{};
    ours.struct_size = sizeof(T);
    COVE_TRY_VOID(read_struct(rule_of<T>(), element, &ours));
    read.push_back(ours);
  }
  return read;
}

/// kUnsupported where `flags` has a bit outside `known`: a newer header may give it a meaning.
Result<void> check_flags(std::uint32_t flags, std::uint32_t known, const char* field);

/// A duration as the host names it, bounded to ten years so that no arithmetic overflows.
std::chrono::milliseconds milliseconds_of(std::uint64_t count);

CallContext call_of(std::uint64_t timeout_ms, const cove_cancel* cancel);
Result<CallContext> read_call(const cove_call_options* options);
Result<WorkspaceKey> read_key(const cove_workspace_key* key);
Result<SandboxId> read_sandbox_id(const char* sandbox_id);

struct AcquireCall {
  AcquireOptions options;                 ///< but for what is prepared
  const cove_prepare* prepare = nullptr;  ///< see inputs_of
  CallContext call;
};
Result<AcquireCall> read_acquire(const cove_acquire_options* options);

struct ExecCall {
  ExecSpec spec;
  CallContext call;
  StdinMode stdin_mode = StdinMode::kClosed;
};
Result<ExecCall> read_exec(const char* const* argv, std::size_t argc,
                           const cove_exec_options* options);

/// Bytes as the host names them; NULL is fine where there are none.
Result<ByteView> read_data(const void* data, std::size_t size);

/// A terminal's size: 1 to 65535 each.
Result<TerminalSize> read_size(std::uint32_t rows, std::uint32_t columns);

struct StopCall {
  StopOptions options;
  CallContext call;
};
Result<StopCall> read_stop(const cove_stop_options* options);

struct RelocateCall {
  RelocateOptions options;
  CallContext call;
};
/// kInvalidArgument where no provider is named.
Result<RelocateCall> read_relocate(const cove_relocate_options* options);

}  // namespace cove::capi
