/// Files of a workspace, read, written and listed: each call once waiting, once starting.
#include "buffer.hpp"
#include "file_calls.hpp"

using namespace cove;

namespace cove::capi {
namespace {

struct ReadCall {
  ReadRange range;
  CallContext call;
};

Result<ReadCall> read_read(const cove_read_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_read_options.reserved0"));
  ReadCall result;
  result.range.offset = read.offset;
  if (read.max_bytes != 0) result.range.length = read.max_bytes;
  result.call = call_of(read.timeout_ms, read.cancel);
  return result;
}

struct LinesCall {
  LineRange range;
  CallContext call;
};

Result<LinesCall> read_lines(const cove_read_lines_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_read_lines_options.reserved0"));
  LinesCall result;
  if (read.first != 0) result.range.first = read.first;
  if (read.count != 0) result.range.count = read.count;
  if (read.max_bytes != 0) result.range.max_bytes = read.max_bytes;
  result.call = call_of(read.timeout_ms, read.cancel);
  return result;
}

struct ListCall {
  ListOptions options;
  CallContext call;
};

Result<ListCall> read_list(const cove_file_list_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_file_list_options.reserved0"));
  ListCall result;
  if (read.limit != 0) result.options.limit = read.limit;
  if (read.depth != 0) result.options.depth = read.depth == COVE_DEPTH_ALL ? 0 : read.depth;
  if (read.after != nullptr) result.options.after = read.after;
  result.call = call_of(read.timeout_ms, read.cancel);
  return result;
}

struct RemoveCall {
  bool recursive = false;
  CallContext call;
};

Result<RemoveCall> read_remove(const cove_remove_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.flags, COVE_REMOVE_RECURSIVE, "cove_remove_options.flags"));
  return RemoveCall{(read.flags & COVE_REMOVE_RECURSIVE) != 0,
                    call_of(read.timeout_ms, read.cancel)};
}

Result<cove_file_page*> page_made(FilePage page) { return new cove_file_page(std::move(page)); }

Result<cove_buffer*> buffer_made(const Bytes& bytes) { return make_buffer(bytes); }

Result<cove_file_content*> content_made(FileContent content) {
  return new cove_file_content(std::move(content));
}

Result<cove_line_slice*> slice_made(LineSlice slice) {
  return new cove_line_slice(std::move(slice));
}

}  // namespace

Result<WriteCall> read_write(const cove_write_options* options) {
  COVE_TRY(const auto read, read_options(options));
  constexpr std::uint32_t kFlags =
      COVE_WRITE_EXISTING_PARENTS | COVE_WRITE_DURABLE | COVE_WRITE_APPEND | COVE_WRITE_IF_ABSENT;
  COVE_TRY_VOID(check_flags(read.flags, kFlags, "cove_write_options.flags"));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_write_options.reserved0"));
  if (read.mode > 07777) {
    return Error(ErrorCode::kInvalidArgument, "mode has bits outside 07777");
  }
  WriteCall result;
  if (read.mode != 0) result.options.mode = read.mode;
  result.options.create_parents = (read.flags & COVE_WRITE_EXISTING_PARENTS) == 0;
  result.options.durable = (read.flags & COVE_WRITE_DURABLE) != 0;
  result.options.append = (read.flags & COVE_WRITE_APPEND) != 0;
  result.options.if_absent = (read.flags & COVE_WRITE_IF_ABSENT) != 0;
  if (read.if_unchanged_since != nullptr) {
    result.options.if_unchanged_since = read.if_unchanged_since;
  }
  result.call = call_of(read.timeout_ms, read.cancel);
  return result;
}

}  // namespace cove::capi

extern "C" {

cove_status cove_workspace_read_file(cove_workspace* workspace, const char* path,
                                     const cove_read_options* options, cove_buffer** out_content,
                                     cove_error** out_error) {
  return capi::waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(capi::clear(out_content, "out_content"));
        COVE_TRY(const auto file, capi::read_path(path));
        COVE_TRY(const auto read, capi::read_read(options));
        COVE_TRY(const auto bytes, handle.client.read_file(file, read.range, read.call));
        *out_content = capi::make_buffer(bytes);
        return ok();
      });
}

cove_status cove_workspace_read_file_start(cove_workspace* workspace, const char* path,
                                           const cove_read_options* options, cove_buffer_fn done,
                                           void* user_data, cove_drop_fn drop,
                                           cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto file, capi::read_path(path));
        COVE_TRY(const auto read, capi::read_read(options));
        handle.client.read_file_async(std::move(file), read.range, read.call,
                                      capi::answer<Bytes>(reply, capi::buffer_made));
        return ok();
      });
}

cove_status cove_workspace_read(cove_workspace* workspace, const char* path,
                                const cove_read_options* options, cove_file_content** out_content,
                                cove_error** out_error) {
  return capi::waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(capi::clear(out_content, "out_content"));
        COVE_TRY(const auto file, capi::read_path(path));
        COVE_TRY(const auto read, capi::read_read(options));
        COVE_TRY(auto content, handle.client.read(file, read.range, read.call));
        *out_content = new cove_file_content(std::move(content));
        return ok();
      });
}

cove_status cove_workspace_read_start(cove_workspace* workspace, const char* path,
                                      const cove_read_options* options, cove_file_content_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_file_content>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto file, capi::read_path(path));
        COVE_TRY(const auto read, capi::read_read(options));
        handle.client.read_async(std::move(file), read.range, read.call,
                                 capi::answer<FileContent>(reply, capi::content_made));
        return ok();
      });
}

cove_status cove_workspace_read_lines(cove_workspace* workspace, const char* path,
                                      const cove_read_lines_options* options,
                                      cove_line_slice** out_slice, cove_error** out_error) {
  return capi::waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(capi::clear(out_slice, "out_slice"));
        COVE_TRY(const auto file, capi::read_path(path));
        COVE_TRY(const auto lines, capi::read_lines(options));
        COVE_TRY(auto slice, handle.client.read_lines(file, lines.range, lines.call));
        *out_slice = new cove_line_slice(std::move(slice));
        return ok();
      });
}

cove_status cove_workspace_read_lines_start(cove_workspace* workspace, const char* path,
                                            const cove_read_lines_options* options,
                                            cove_line_slice_fn done, void* user_data,
                                            cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_line_slice>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto file, capi::read_path(path));
        COVE_TRY(const auto lines, capi::read_lines(options));
        handle.client.read_lines_async(std::move(file), lines.range, lines.call,
                                       capi::answer<LineSlice>(reply, capi::slice_made));
        return ok();
      });
}

cove_status cove_workspace_write_file(cove_workspace* workspace, const char* path, const void* data,
                                      size_t size, const cove_write_options* options,
                                      cove_file_info** out_info, cove_error** out_error) {
  return capi::waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        if (out_info != nullptr) *out_info = nullptr;
        COVE_TRY(const auto file, capi::read_path(path));
        COVE_TRY(const auto content, capi::read_data(data, size));
        COVE_TRY(const auto write, capi::read_write(options));
        COVE_TRY(auto info, handle.client.write_file(file, content, write.options, write.call));
        if (out_info != nullptr) *out_info = new cove_file_info{std::move(info)};
        return ok();
      });
}

cove_status cove_workspace_write_file_start(cove_workspace* workspace, const char* path,
                                            const void* data, size_t size,
                                            const cove_write_options* options,
                                            cove_file_info_fn done, void* user_data,
                                            cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_file_info>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto file, capi::read_path(path));
        COVE_TRY(const auto content, capi::read_data(data, size));
        COVE_TRY(const auto write, capi::read_write(options));
        handle.client.write_file_async(std::move(file), Bytes(content.begin(), content.end()),
                                       write.options, write.call,
                                       capi::answer<FileInfo>(reply, capi::info_made));
        return ok();
      });
}

cove_status cove_workspace_stat(cove_workspace* workspace, const char* path,
                                const cove_call_options* options, cove_file_info** out_info,
                                cove_error** out_error) {
  return capi::waiting_call(workspace, "workspace", out_error,
                            [&](cove_workspace& handle) -> Result<void> {
                              COVE_TRY_VOID(capi::clear(out_info, "out_info"));
                              COVE_TRY(const auto file, capi::read_path(path));
                              COVE_TRY(const auto call, capi::read_call(options));
                              COVE_TRY(auto info, handle.client.stat(file, call));
                              *out_info = new cove_file_info{std::move(info)};
                              return ok();
                            });
}

cove_status cove_workspace_stat_start(cove_workspace* workspace, const char* path,
                                      const cove_call_options* options, cove_file_info_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_file_info>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto file, capi::read_path(path));
        COVE_TRY(auto call, capi::read_call(options));
        handle.client.stat_async(std::move(file), std::move(call),
                                 capi::answer<FileInfo>(reply, capi::info_made));
        return ok();
      });
}

cove_status cove_workspace_list(cove_workspace* workspace, const char* path,
                                const cove_file_list_options* options, cove_file_page** out_page,
                                cove_error** out_error) {
  return capi::waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(capi::clear(out_page, "out_page"));
        COVE_TRY(const auto directory, capi::read_path(path));
        COVE_TRY(const auto list, capi::read_list(options));
        COVE_TRY(auto page, handle.client.list(directory, list.options, list.call));
        *out_page = new cove_file_page(std::move(page));
        return ok();
      });
}

cove_status cove_workspace_list_start(cove_workspace* workspace, const char* path,
                                      const cove_file_list_options* options, cove_file_page_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_file_page>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto directory, capi::read_path(path));
        COVE_TRY(auto list, capi::read_list(options));
        handle.client.list_async(std::move(directory), std::move(list.options),
                                 std::move(list.call),
                                 capi::answer<FilePage>(reply, capi::page_made));
        return ok();
      });
}

cove_status cove_workspace_make_directory(cove_workspace* workspace, const char* path,
                                          const cove_call_options* options,
                                          cove_error** out_error) {
  return capi::waiting_call(workspace, "workspace", out_error,
                            [&](cove_workspace& handle) -> Result<void> {
                              COVE_TRY(const auto directory, capi::read_path(path));
                              COVE_TRY(const auto call, capi::read_call(options));
                              return handle.client.make_directory(directory, call);
                            });
}

cove_status cove_workspace_make_directory_start(cove_workspace* workspace, const char* path,
                                                const cove_call_options* options, cove_done_fn done,
                                                void* user_data, cove_drop_fn drop,
                                                cove_error** out_error) {
  return capi::starting_call<void>(workspace, "workspace", out_error, done, user_data, drop,
                                   [&](cove_workspace& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto directory, capi::read_path(path));
                                     COVE_TRY(auto call, capi::read_call(options));
                                     handle.client.make_directory_async(std::move(directory),
                                                                        std::move(call),
                                                                        capi::answer(reply));
                                     return ok();
                                   });
}

cove_status cove_workspace_remove(cove_workspace* workspace, const char* path,
                                  const cove_remove_options* options, cove_error** out_error) {
  return capi::waiting_call(workspace, "workspace", out_error,
                            [&](cove_workspace& handle) -> Result<void> {
                              COVE_TRY(const auto file, capi::read_path(path));
                              COVE_TRY(const auto remove, capi::read_remove(options));
                              return handle.client.remove(file, remove.recursive, remove.call);
                            });
}

cove_status cove_workspace_remove_start(cove_workspace* workspace, const char* path,
                                        const cove_remove_options* options, cove_done_fn done,
                                        void* user_data, cove_drop_fn drop,
                                        cove_error** out_error) {
  return capi::starting_call<void>(workspace, "workspace", out_error, done, user_data, drop,
                                   [&](cove_workspace& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto file, capi::read_path(path));
                                     COVE_TRY(auto remove, capi::read_remove(options));
                                     handle.client.remove_async(std::move(file), remove.recursive,
                                                                std::move(remove.call),
                                                                capi::answer(reply));
                                     return ok();
                                   });
}

}  // extern "C"
