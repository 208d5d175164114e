/// Background processes: commands that nobody waits for, known by their id.
#include "exec_options.hpp"
#include "exec_run.hpp"
#include "functions.hpp"

namespace cove_node {
namespace {

/// The body of a call about one process: begin(workspace, id, done, data, &error).
template <class Out, class Begin>
napi_value about(Arguments& in, Begin begin) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string id = in.text(1);
  return start_call<Out>(in, workspace, [&](auto done, void* data, cove_error** error) {
    return begin(workspace->raw, id.c_str(), done, data, error);
  });
}

using InfoForm = decltype(Library::cove_workspace_find_process_start) Library::*;
using PlainForm = decltype(Library::cove_workspace_remove_process_start) Library::*;

napi_value info_by(Arguments& in, InfoForm form) {
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return about<cove_process_info>(in, [&](cove_workspace* workspace, const char* id, auto done,
                                          void* data, cove_error** error) {
    return (in.library().*form)(workspace, id, &options, done, data, nullptr, error);
  });
}

napi_value plain_by(Arguments& in, PlainForm form) {
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return about<Nothing>(in, [&](cove_workspace* workspace, const char* id, auto done, void* data,
                                cove_error** error) {
    return (in.library().*form)(workspace, id, &options, done, data, nullptr, error);
  });
}

}  // namespace

napi_value start_process(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  Texts argv = in.texts(1);
  const Fields fields = in.fields(2);
  ExecOptions exec(fields);
  in.limits(fields, exec.raw);
  const auto name = fields.text("name");
  cove_process_options options = COVE_PROCESS_OPTIONS_INIT;
  options.name = name ? name->c_str() : nullptr;
  options.keep_alive_s = fields.u64("keepAliveSeconds");
  return start_call<cove_process_info>(
      in, workspace, [&](auto done, void* data, cove_error** error) {
        return in.library().cove_workspace_start_process_start(workspace->raw, argv.data(),
                                                               argv.size(), &exec.raw, &options,
                                                               done, data, nullptr, error);
      });
}

napi_value list_processes(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(1), options);
  return start_call<cove_process_list>(in, workspace,
                                       [&](auto done, void* data, cove_error** error) {
                                         return in.library().cove_workspace_list_processes_start(
                                             workspace->raw, &options, done, data, nullptr, error);
                                       });
}

napi_value find_process(Arguments& in) {
  return info_by(in, &Library::cove_workspace_find_process_start);
}

napi_value end_process(Arguments& in) {
  return info_by(in, &Library::cove_workspace_end_process_start);
}

napi_value wait_process(Arguments& in) {
  return info_by(in, &Library::cove_workspace_wait_process_start);
}

napi_value process_output(Arguments& in) {
  const Fields fields = in.fields(2);
  cove_output_options options = COVE_OUTPUT_OPTIONS_INIT;
  options.stream = fields.u32("stream");
  options.offset = fields.u64("offset");
  options.max_bytes = fields.u64("maxBytes");
  options.wait_ms = fields.u64("waitMs");
  in.limits(fields, options);
  return about<cove_output_slice>(in, [&](cove_workspace* workspace, const char* id, auto done,
                                          void* data, cove_error** error) {
    return in.library().cove_workspace_process_output_start(workspace, id, &options, done, data,
                                                            nullptr, error);
  });
}

napi_value write_process_stdin(Arguments& in) {
  const BytesView bytes = in.bytes(2);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  return about<Nothing>(in, [&](cove_workspace* workspace, const char* id, auto done, void* data,
                                cove_error** error) {
    return in.library().cove_workspace_write_process_stdin_start(
        workspace, id, bytes.data, bytes.size, &options, done, data, nullptr, error);
  });
}

napi_value close_process_stdin(Arguments& in) {
  return plain_by(in, &Library::cove_workspace_close_process_stdin_start);
}

napi_value signal_process(Arguments& in) {
  const auto number = static_cast<std::int32_t>(in.number(2));
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  return about<Nothing>(in, [&](cove_workspace* workspace, const char* id, auto done, void* data,
                                cove_error** error) {
    return in.library().cove_workspace_signal_process_start(workspace, id, number, &options, done,
                                                            data, nullptr, error);
  });
}

napi_value resize_process(Arguments& in) {
  const auto rows = static_cast<std::uint32_t>(whole_number(in.number(2)));
  const auto columns = static_cast<std::uint32_t>(whole_number(in.number(3)));
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(4), options);
  return about<Nothing>(in, [&](cove_workspace* workspace, const char* id, auto done, void* data,
                                cove_error** error) {
    return in.library().cove_workspace_resize_process_start(workspace, id, rows, columns, &options,
                                                            done, data, nullptr, error);
  });
}

napi_value remove_process(Arguments& in) {
  return plain_by(in, &Library::cove_workspace_remove_process_start);
}

napi_value attach_process(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string id = in.text(1);
  const Fields fields = in.fields(2);
  cove_attach_options options = COVE_ATTACH_OPTIONS_INIT;
  options.flags = fields.flag("onlyNew", COVE_ATTACH_ONLY_NEW);
  options.out_offset = fields.u64("outOffset");
  options.err_offset = fields.u64("errOffset");
  in.limits(fields, options);
  return follow_exec(
      in, workspace, in.at(3), true,
      [&](const cove_exec_callbacks* callbacks, cove_process** out, cove_error** error) {
        return in.library().cove_workspace_attach_process(workspace->raw, id.c_str(), &options,
                                                          callbacks, out, error);
      });
}

}  // namespace cove_node
