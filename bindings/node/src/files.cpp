/// Files: read, written, listed, moved.
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// The body of a call about one path: begin(workspace, path, done, data, &error).
template <class Out, class Begin>
napi_value about(Arguments& in, Begin begin) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  return start_call<Out>(in, workspace, [&](auto done, void* data, cove_error** error) {
    return begin(workspace->raw, path.c_str(), done, data, error);
  });
}

cove_read_options read_options(Arguments& in, std::size_t index) {
  const Fields fields = in.fields(index);
  cove_read_options options = COVE_READ_OPTIONS_INIT;
  options.offset = fields.u64("offset");
  options.max_bytes = fields.u64("maxBytes");
  in.limits(fields, options);
  return options;
}

cove_move_options move_options(Arguments& in, std::size_t index) {
  const Fields fields = in.fields(index);
  cove_move_options options = COVE_MOVE_OPTIONS_INIT;
  options.flags = fields.flag("overwrite", COVE_MOVE_OVERWRITE) |
                  fields.flag("existingParents", COVE_MOVE_EXISTING_PARENTS);
  in.limits(fields, options);
  return options;
}

}  // namespace

napi_value read_file(Arguments& in) {
  const cove_read_options options = read_options(in, 2);
  return about<cove_buffer>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                    void* data, cove_error** error) {
    return in.library().cove_workspace_read_file_start(workspace, path, &options, done, data,
                                                       nullptr, error);
  });
}

napi_value read(Arguments& in) {
  const cove_read_options options = read_options(in, 2);
  return about<cove_file_content>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                          void* data, cove_error** error) {
    return in.library().cove_workspace_read_start(workspace, path, &options, done, data, nullptr,
                                                  error);
  });
}

napi_value read_lines(Arguments& in) {
  const Fields fields = in.fields(2);
  cove_read_lines_options options = COVE_READ_LINES_OPTIONS_INIT;
  options.first = fields.u64("first");
  options.count = fields.u64("count");
  options.max_bytes = fields.u64("maxBytes");
  in.limits(fields, options);
  return about<cove_line_slice>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                        void* data, cove_error** error) {
    return in.library().cove_workspace_read_lines_start(workspace, path, &options, done, data,
                                                        nullptr, error);
  });
}

napi_value write_file(Arguments& in) {
  const BytesView bytes = in.bytes(2);
  const Fields fields = in.fields(3);
  const auto if_unchanged_since = fields.text("ifUnchangedSince");
  cove_write_options options = COVE_WRITE_OPTIONS_INIT;
  options.flags = fields.flag("existingParents", COVE_WRITE_EXISTING_PARENTS) |
                  fields.flag("durable", COVE_WRITE_DURABLE) |
                  fields.flag("append", COVE_WRITE_APPEND) |
                  fields.flag("ifAbsent", COVE_WRITE_IF_ABSENT);
  options.mode = fields.u32("mode");
  options.if_unchanged_since = if_unchanged_since ? if_unchanged_since->c_str() : nullptr;
  in.limits(fields, options);
  return about<cove_file_info>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                       void* data, cove_error** error) {
    return in.library().cove_workspace_write_file_start(workspace, path, bytes.data, bytes.size,
                                                        &options, done, data, nullptr, error);
  });
}

napi_value stat(Arguments& in) {
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return about<cove_file_info>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                       void* data, cove_error** error) {
    return in.library().cove_workspace_stat_start(workspace, path, &options, done, data, nullptr,
                                                  error);
  });
}

napi_value list_files(Arguments& in) {
  const Fields fields = in.fields(2);
  const auto after = fields.text("after");
  cove_file_list_options options = COVE_FILE_LIST_OPTIONS_INIT;
  options.limit = fields.u32("limit");
  options.after = after ? after->c_str() : nullptr;
  options.depth = fields.u32("depth");
  in.limits(fields, options);
  return about<cove_file_page>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                       void* data, cove_error** error) {
    return in.library().cove_workspace_list_start(workspace, path, &options, done, data, nullptr,
                                                  error);
  });
}

napi_value make_directory(Arguments& in) {
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return about<Nothing>(in, [&](cove_workspace* workspace, const char* path, auto done, void* data,
                                cove_error** error) {
    return in.library().cove_workspace_make_directory_start(workspace, path, &options, done, data,
                                                            nullptr, error);
  });
}

napi_value remove(Arguments& in) {
  const Fields fields = in.fields(2);
  cove_remove_options options = COVE_REMOVE_OPTIONS_INIT;
  options.flags = fields.flag("recursive", COVE_REMOVE_RECURSIVE);
  in.limits(fields, options);
  return about<Nothing>(in, [&](cove_workspace* workspace, const char* path, auto done, void* data,
                                cove_error** error) {
    return in.library().cove_workspace_remove_start(workspace, path, &options, done, data, nullptr,
                                                    error);
  });
}

napi_value move(Arguments& in) {
  const std::string to = in.text(2);
  const cove_move_options options = move_options(in, 3);
  return about<cove_file_info>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                       void* data, cove_error** error) {
    return in.library().cove_workspace_move_start(workspace, path, to.c_str(), &options, done, data,
                                                  nullptr, error);
  });
}

napi_value copy(Arguments& in) {
  const std::string to = in.text(2);
  const cove_move_options options = move_options(in, 3);
  return about<cove_tree_counts>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                         void* data, cove_error** error) {
    return in.library().cove_workspace_copy_start(workspace, path, to.c_str(), &options, done, data,
                                                  nullptr, error);
  });
}

napi_value set_mode(Arguments& in) {
  const auto mode = static_cast<std::uint32_t>(whole_number(in.number(2)));
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  return about<cove_file_info>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                       void* data, cove_error** error) {
    return in.library().cove_workspace_set_mode_start(workspace, path, mode, &options, done, data,
                                                      nullptr, error);
  });
}

napi_value make_symlink(Arguments& in) {
  const std::string target = in.text(2);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  return about<cove_file_info>(in, [&](cove_workspace* workspace, const char* path, auto done,
                                       void* data, cove_error** error) {
    return in.library().cove_workspace_make_symlink_start(workspace, path, target.c_str(), &options,
                                                          done, data, nullptr, error);
  });
}

}  // namespace cove_node
