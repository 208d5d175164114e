/// Commands: started, followed, steered.
#include <utility>

#include "exec_options.hpp"
#include "exec_run.hpp"
#include "followed.hpp"
#include "functions.hpp"

namespace cove_node {
namespace {

using ExecFollower = Follower<OutputChunk, cove_exec_result>;

/// Small pieces of one stream become one, so that many of them cost JavaScript little.
constexpr std::size_t kPieceBytes = 64U << 10U;

bool merge_chunks(OutputChunk& last, OutputChunk& next) {
  if (last.stream != next.stream || last.data.size() + next.data.size() > kPieceBytes) return false;
  last.data += next.data;
  return true;
}

std::int32_t on_output(void* user_data, std::int32_t stream, const void* data, std::size_t size) {
  OutputChunk chunk{stream, std::string(static_cast<const char*>(data), size)};
  const auto& pipe = ExecFollower::of(user_data)->pipe;
  return pipe->push(std::move(chunk), size, merge_chunks) ? COVE_PAUSE : COVE_CONTINUE;
}

void on_done(void* user_data, cove_exec_result* result, cove_error* error) {
  ExecFollower::of(user_data)->finish(result, error);
}

/// The body of what steers a command and gives nothing back: begin(process, done, data, &error).
template <class Begin>
napi_value steer(Arguments& in, Begin begin) {
  const auto run = in.handle<ExecRun>(0);
  if (run != nullptr && run->raw == nullptr) in.fail("the command was never started");
  return start_call<Nothing>(in, run, [&](auto done, void* data, cove_error** error) {
    return begin(run->raw, done, data, error);
  });
}

}  // namespace

napi_value follow_exec(Arguments& in, std::shared_ptr<void> workspace, napi_value on_wake,
                       bool attached, const BeginExec& begin) {
  if (in.has_failed()) return nullptr;
  const auto keep = std::make_shared<Keep>(Keep{std::move(workspace), {}});
  const auto run = std::make_shared<ExecRun>(
      in.environment().library, make_pipe<OutputChunk>(in.environment(), on_wake), attached);
  if (run->pipe == nullptr) keep->run = run;
  cove_exec_callbacks callbacks = COVE_EXEC_CALLBACKS_INIT;
  callbacks.on_output = run->pipe == nullptr ? nullptr : &on_output;
  callbacks.on_done = &on_done;
  return follow<OutputChunk, cove_exec_result>(in, keep, run, callbacks, begin);
}

napi_value exec(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  Texts argv = in.texts(1);
  ExecOptions options(in.fields(2));
  in.limits(in.fields(3), options.raw);
  return follow_exec(
      in, workspace, in.at(4), false,
      [&](const cove_exec_callbacks* callbacks, cove_process** out, cove_error** error) {
        return in.library().cove_workspace_exec_start(workspace->raw, argv.data(), argv.size(),
                                                      &options.raw, callbacks, out, error);
      });
}

napi_value take_output(Arguments& in) {
  const auto run = in.handle<ExecRun>(0);
  const std::uint64_t most = whole_number(in.number(1));
  if (in.has_failed() || run->pipe == nullptr) return null_value(in.env());
  const auto taken = run->pipe->take(most);
  if (taken.resumes) run->library->cove_process_resume(run->raw);
  return taken_value(in.env(), taken, [&in](List& list, const OutputChunk& chunk) {
    list.add(number_value(in.env(), chunk.stream));
    list.add(bytes_value(in.env(), chunk.data.data(), chunk.data.size()));
  });
}

napi_value cancel_run(Arguments& in) {
  const auto run = in.handle<ExecRun>(0);
  if (run != nullptr && run->raw != nullptr) run->library->cove_process_cancel(run->raw);
  return nullptr;
}

napi_value detach_run(Arguments& in) {
  const auto run = in.handle<ExecRun>(0);
  if (run != nullptr && run->raw != nullptr) run->library->cove_process_detach(run->raw);
  return nullptr;
}

napi_value discard_run(Arguments& in) {
  const auto run = in.handle<ExecRun>(0);
  if (run != nullptr && run->raw != nullptr) run->leave();
  return nullptr;
}

napi_value buffered_of(Arguments& in) {
  const auto run = in.handle<ExecRun>(0);
  if (in.has_failed()) return nullptr;
  const std::size_t size = run->pipe == nullptr ? 0 : run->pipe->buffered();
  return number_value(in.env(), static_cast<double>(size));
}

napi_value write_stdin(Arguments& in) {
  const BytesView data = in.bytes(1);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return steer(in, [&](cove_process* process, auto done, void* user, cove_error** error) {
    return in.library().cove_process_write_stdin_start(process, data.data, data.size, &options,
                                                       done, user, nullptr, error);
  });
}

napi_value close_stdin(Arguments& in) {
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(1), options);
  return steer(in, [&](cove_process* process, auto done, void* user, cove_error** error) {
    return in.library().cove_process_close_stdin_start(process, &options, done, user, nullptr,
                                                       error);
  });
}

napi_value send_signal(Arguments& in) {
  const auto number = static_cast<std::int32_t>(in.number(1));
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return steer(in, [&](cove_process* process, auto done, void* user, cove_error** error) {
    return in.library().cove_process_signal_start(process, number, &options, done, user, nullptr,
                                                  error);
  });
}

napi_value resize(Arguments& in) {
  const auto rows = static_cast<std::uint32_t>(whole_number(in.number(1)));
  const auto columns = static_cast<std::uint32_t>(whole_number(in.number(2)));
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  return steer(in, [&](cove_process* process, auto done, void* user, cove_error** error) {
    return in.library().cove_process_resize_start(process, rows, columns, &options, done, user,
                                                  nullptr, error);
  });
}

}  // namespace cove_node
