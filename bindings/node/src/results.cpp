/// Commands, processes, workspaces and what else is not of files.
#include "results.hpp"

#include <array>
#include <memory>

namespace cove_node {
namespace {

constexpr const char* kOutcomes[] = {"",          "exited",       "signaled",      "timed_out",
                                     "cancelled", "output_limit", "out_of_memory", "cpu_limit"};
constexpr const char* kWork[] = {"none", "provisioned", "resumed", "restored"};
constexpr const char* kEnds[] = {"", "complete", "limit", "deadline", "cancelled"};

/// The name of a number of C's; "" for one of a later version.
template <std::size_t size>
const char* name_of(const char* const (&names)[size], int number) noexcept {
  return number >= 0 && static_cast<std::size_t>(number) < size ? names[number] : "";
}

/// Undefined where nothing was written.
napi_value stream_value(const Environment& environment, const cove_exec_result* result,
                        int stream) {
  const Library& library = *environment.library;
  const std::uint64_t total = library.cove_exec_result_total_bytes(result, stream);
  if (total == 0) return undefined_value(environment.env);
  Object made(environment.env);
  std::size_t size = 0;
  const char* data = library.cove_exec_result_text(result, stream, &size);
  made.text("text", {data, size});
  data = library.cove_exec_result_head(result, stream, &size);
  made.bytes("head", data, size);
  data = library.cove_exec_result_tail(result, stream, &size);
  made.bytes("tail", data, size);
  made.number("totalBytes", static_cast<double>(total));
  made.number("droppedBytes",
              static_cast<double>(library.cove_exec_result_dropped_bytes(result, stream)));
  const std::string spill = library.cove_exec_result_spill_path(result, stream);
  made.set("spillPath",
           spill.empty() ? null_value(environment.env) : text_value(environment.env, spill));
  return made.value();
}

double milliseconds(std::uint64_t microseconds) noexcept {
  return static_cast<double>(microseconds) / 1e3;
}

napi_value process_value(const Environment& environment, const cove_process_info* info) {
  const Library& library = *environment.library;
  const cove_exec_result* const end = library.cove_process_info_result(info);
  Object made(environment.env);
  made.text("id", library.cove_process_info_id(info))
      .text("name", library.cove_process_info_name(info))
      .path("command", library.cove_process_info_command(info))
      .path("cwd", library.cove_process_info_cwd(info))
      .number("startedAtMs", static_cast<double>(library.cove_process_info_started_at_ms(info)))
      .number("keepAliveSeconds", static_cast<double>(library.cove_process_info_keep_alive_s(info)))
      .truth("hasTerminal", library.cove_process_info_has_terminal(info) == 1)
      .truth("stdinOpen", library.cove_process_info_stdin_open(info) == 1)
      .number("outBytes",
              static_cast<double>(library.cove_process_info_total_bytes(info, COVE_STDOUT)))
      .number("errBytes",
              static_cast<double>(library.cove_process_info_total_bytes(info, COVE_STDERR)))
      .truth("running", end == nullptr)
      .set("end",
           end == nullptr ? null_value(environment.env) : exec_result_value(environment, end));
  return made.value();
}

napi_value problems_of(const Environment& environment, const cove_search_summary* summary) {
  const Library& library = *environment.library;
  List problems(environment.env);
  const std::size_t count = library.cove_search_summary_problem_count(summary);
  for (std::size_t i = 0; i < count; ++i) {
    Object problem(environment.env);
    problem.path("path", library.cove_search_summary_problem_path(summary, i))
        .text("code",
              library.cove_status_name(library.cove_search_summary_problem_code(summary, i)))
        .text("message", library.cove_search_summary_problem_message(summary, i));
    problems.add(problem.value());
  }
  return problems.value();
}

}  // namespace

napi_value throw_error(Arguments& in, cove_error* error) {
  napi_value const value = error_value(in.environment(), error);
  in.library().cove_error_free(error);
  if (value != nullptr) napi_throw(in.env(), value);
  return nullptr;
}

napi_value exec_result_value(const Environment& environment, const cove_exec_result* result) {
  const Library& library = *environment.library;
  napi_env env = environment.env;
  const std::array arguments = {
      text_value(env, name_of(kOutcomes, library.cove_exec_result_outcome(result))),
      number_value(env, library.cove_exec_result_code(result)),
      number_value(env, library.cove_exec_result_shell_code(result)),
      number_value(env, milliseconds(library.cove_exec_result_duration_us(result))),
      stream_value(environment, result, COVE_STDOUT),
      stream_value(environment, result, COVE_STDERR),
      truth_value(env, library.cove_exec_result_was_quiet(result) == 1),
      number_value(env, static_cast<double>(library.cove_exec_result_peak_memory_bytes(result))),
      number_value(env, milliseconds(library.cove_exec_result_user_cpu_us(result))),
      number_value(env, milliseconds(library.cove_exec_result_system_cpu_us(result))),
      truth_value(env, library.cove_exec_result_best_effort(result) == 1)};
  return environment.make(environment.make_exec_result, arguments);
}

napi_value workspace_value(const Environment& environment,
                           std::shared_ptr<WorkspaceHandle> workspace) {
  const Library& library = *environment.library;
  const cove_workspace* const raw = workspace->raw;
  Object made(environment.env);
  made.path("directory", library.cove_workspace_directory(raw))
      .text("sandboxId", library.cove_workspace_sandbox_id(raw))
      .text("work", name_of(kWork, library.cove_workspace_work(raw)));
  return made.set("handle", wrap(environment.env, std::move(workspace))).value();
}

napi_value Outcome<cove>::value(const Environment& environment, cove*& out) {
  auto handle = std::make_shared<CoveHandle>(environment.library, out);
  out = nullptr;
  environment.live->add(handle);
  return wrap(environment.env, std::move(handle));
}

napi_value Outcome<cove_workspace>::value(const Environment& environment, cove_workspace*& out) {
  auto handle = std::make_shared<WorkspaceHandle>(environment.library, out);
  out = nullptr;
  return workspace_value(environment, std::move(handle));
}

napi_value Outcome<cove_buffer>::value(const Environment& environment, cove_buffer*& out) {
  const Library& library = *environment.library;
  return bytes_value(environment.env, library.cove_buffer_data(out), library.cove_buffer_size(out));
}

napi_value Outcome<cove_exec_result>::value(const Environment& environment,
                                            cove_exec_result*& out) {
  return exec_result_value(environment, out);
}

napi_value Outcome<cove_process_info>::value(const Environment& environment,
                                             cove_process_info*& out) {
  return process_value(environment, out);
}

napi_value Outcome<cove_process_list>::value(const Environment& environment,
                                             cove_process_list*& out) {
  const Library& library = *environment.library;
  List processes(environment.env);
  const std::size_t count = library.cove_process_list_count(out);
  for (std::size_t i = 0; i < count; ++i) {
    processes.add(process_value(environment, library.cove_process_list_entry(out, i)));
  }
  return processes.value();
}

napi_value Outcome<cove_output_slice>::value(const Environment& environment,
                                             cove_output_slice*& out) {
  const Library& library = *environment.library;
  std::size_t size = 0;
  const char* const data = library.cove_output_slice_data(out, &size);
  Object made(environment.env);
  made.bytes("data", data, size)
      .number("offset", static_cast<double>(library.cove_output_slice_offset(out)))
      .number("next", static_cast<double>(library.cove_output_slice_next(out)))
      .number("gone", static_cast<double>(library.cove_output_slice_gone(out)))
      .truth("atEnd", library.cove_output_slice_at_end(out) == 1);
  return made.value();
}

napi_value Outcome<cove_search_summary>::value(const Environment& environment,
                                               cove_search_summary*& out) {
  const Library& library = *environment.library;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  Object made(environment.env);
  made.text("ended", name_of(kEnds, library.cove_search_summary_ended(out)))
      .number("matches", number(library.cove_search_summary_matches(out)))
      .number("filesSearched", number(library.cove_search_summary_files_searched(out)))
      .number("filesMatched", number(library.cove_search_summary_files_matched(out)))
      .number("filesBinary", number(library.cove_search_summary_files_binary(out)))
      .number("filesTooLarge", number(library.cove_search_summary_files_too_large(out)))
      .number("problemCount", number(library.cove_search_summary_problem_total(out)))
      .set("problems", problems_of(environment, out));
  return made.value();
}

napi_value Outcome<cove_tool_result>::value(const Environment& environment,
                                            cove_tool_result*& out) {
  const Library& library = *environment.library;
  std::size_t size = 0;
  const char* const text = library.cove_tool_result_text(out, &size);
  Object made(environment.env);
  made.text("text", {text, size})
      .text("dataJson", library.cove_tool_result_data_json(out))
      .truth("isError", library.cove_tool_result_is_error(out) == 1);
  return made.value();
}

}  // namespace cove_node
