/// Files of a workspace, moved, copied and changed: each call once waiting, once starting.
#include "file_calls.hpp"

using namespace cove;

namespace cove::capi {
namespace {

struct MoveCall {
  std::string from;
  std::string to;
  MoveOptions options;
  CallContext call;
};

Result<MoveCall> read_move(const char* from, const char* to, const cove_move_options* options) {
  MoveCall move;
  COVE_TRY(move.from, read_path(from, "from"));
  COVE_TRY(move.to, read_path(to, "to"));
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.flags, COVE_MOVE_OVERWRITE | COVE_MOVE_EXISTING_PARENTS,
                            "cove_move_options.flags"));
  move.options.overwrite = (read.flags & COVE_MOVE_OVERWRITE) != 0;
  move.options.create_parents = (read.flags & COVE_MOVE_EXISTING_PARENTS) == 0;
  move.call = call_of(read.timeout_ms, read.cancel);
  return move;
}

Result<void> check_mode(std::uint32_t mode) {
  if (mode <= 07777) return ok();
  return Error(ErrorCode::kInvalidArgument, "mode has bits outside 07777");
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

cove_status cove_workspace_move(cove_workspace* workspace, const char* from, const char* to,
                                const cove_move_options* options, cove_file_info** out_info,
                                cove_error** out_error) {
  return give_wanted(workspace, out_info, out_error,
                     [&](const SandboxClient& client) -> Result<FileInfo> {
                       COVE_TRY(const auto move, read_move(from, to, options));
                       return client.move(move.from, move.to, move.options, move.call);
                     });
}

cove_status cove_workspace_move_start(cove_workspace* workspace, const char* from, const char* to,
                                      const cove_move_options* options, cove_file_info_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_file_info>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto move, read_move(from, to, options));
        handle.client.move_async(std::move(move.from), std::move(move.to), move.options,
                                 std::move(move.call), answer<FileInfo>(reply, info_made));
        return ok();
      });
}

cove_status cove_workspace_copy(cove_workspace* workspace, const char* from, const char* to,
                                const cove_move_options* options, cove_tree_counts** out_counts,
                                cove_error** out_error) {
  return give_wanted(workspace, out_counts, out_error,
                     [&](const SandboxClient& client) -> Result<TreeCounts> {
                       COVE_TRY(const auto copy, read_move(from, to, options));
                       return client.copy(copy.from, copy.to, copy.options, copy.call);
                     });
}

cove_status cove_workspace_copy_start(cove_workspace* workspace, const char* from, const char* to,
                                      const cove_move_options* options, cove_tree_counts_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_tree_counts>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto copy, read_move(from, to, options));
        handle.client.copy_async(std::move(copy.from), std::move(copy.to), copy.options,
                                 std::move(copy.call), answer<TreeCounts>(reply, counts_made));
        return ok();
      });
}

cove_status cove_workspace_set_mode(cove_workspace* workspace, const char* path, uint32_t mode,
                                    const cove_call_options* options, cove_file_info** out_info,
                                    cove_error** out_error) {
  return give_wanted(workspace, out_info, out_error,
                     [&](const SandboxClient& client) -> Result<FileInfo> {
                       COVE_TRY(const auto file, read_path(path));
                       COVE_TRY_VOID(check_mode(mode));
                       COVE_TRY(const auto call, read_call(options));
                       return client.set_mode(file, mode, call);
                     });
}

cove_status cove_workspace_set_mode_start(cove_workspace* workspace, const char* path,
                                          uint32_t mode, const cove_call_options* options,
                                          cove_file_info_fn done, void* user_data,
                                          cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_file_info>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto file, read_path(path));
        COVE_TRY_VOID(check_mode(mode));
        COVE_TRY(auto call, read_call(options));
        handle.client.set_mode_async(std::move(file), mode, std::move(call),
                                     answer<FileInfo>(reply, info_made));
        return ok();
      });
}

cove_status cove_workspace_make_symlink(cove_workspace* workspace, const char* path,
                                        const char* target, const cove_call_options* options,
                                        cove_file_info** out_info, cove_error** out_error) {
  return give_wanted(workspace, out_info, out_error,
                     [&](const SandboxClient& client) -> Result<FileInfo> {
                       COVE_TRY(const auto link, read_path(path));
                       COVE_TRY(const auto leads_to, read_path(target, "target"));
                       COVE_TRY(const auto call, read_call(options));
                       return client.make_symlink(link, leads_to, call);
                     });
}

cove_status cove_workspace_make_symlink_start(cove_workspace* workspace, const char* path,
                                              const char* target, const cove_call_options* options,
                                              cove_file_info_fn done, void* user_data,
                                              cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_file_info>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto link, read_path(path));
        COVE_TRY(auto leads_to, read_path(target, "target"));
        COVE_TRY(auto call, read_call(options));
        handle.client.make_symlink_async(std::move(link), std::move(leads_to), std::move(call),
                                         answer<FileInfo>(reply, info_made));
        return ok();
      });
}

}  // extern "C"
