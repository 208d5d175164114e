// Background processes: what is asked of them from outside.
#include <atomic>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/text/byte_text.hpp"
#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/live_command.hpp"
#include "cli/output/json_list.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kLeastPrefix = 4;
constexpr std::uint32_t kSlice = 256 * 1024;

/// Processes live only while their sandbox runs, so nothing is woken to look for them.
Result<bool> is_running(const Invocation& invocation) {
  COVE_TRY(const SandboxId sandbox, chosen_sandbox(invocation.request.workspace));
  COVE_TRY(const Record record, invocation.cove.status(sandbox, invocation.call));
  return record.state == SandboxState::kRunning;
}

/// Runs `work` with the client of a sandbox that runs.
template <class Work>
Result<int> with_running(const Invocation& invocation, const Work& work) {
  COVE_TRY(const bool running, is_running(invocation));
  if (running) return with_workspace(invocation, work);
  return Error(ErrorCode::kNotFound,
               "the sandbox does not run, and what ran in it ended when it was stopped");
}

/// The process that a person means: by its id, the beginning of it, or its name.
Result<ProcessInfo> choose(const SandboxClient& client, const std::string& meant,
                           const CallContext& call) {
  COVE_TRY(const std::vector<ProcessInfo> all, client.list_processes(call));
  std::vector<ProcessInfo> fits;
  for (const ProcessInfo& info : all) {
    if (info.id.str() == meant) return info;
    const bool begins = meant.size() >= kLeastPrefix && info.id.str().starts_with(meant);
    if (begins || (!meant.empty() && info.name == meant)) fits.push_back(info);
  }
  if (fits.size() == 1) return fits.front();
  const std::string shown = base::quoted(meant);
  if (fits.empty()) {
    return Error(ErrorCode::kNotFound, "there is no process " + shown + "; see: cove ps");
  }
  return Error(ErrorCode::kInvalidArgument, "several processes are meant by " + shown +
                                                "; give the whole id, as cove ps --json shows it");
}

/// Writes what one stream had when it was looked at, however fast more comes; gives how much of it
/// is gone.
Result<std::uint64_t> write_log(const Invocation& invocation, const SandboxClient& client,
                                const ProcessInfo& info, OutputStream stream, std::string* kept) {
  const std::uint64_t end = stream == OutputStream::kOut ? info.out_bytes : info.err_bytes;
  OutputRequest request;
  request.stream = stream;
  request.limit = kSlice;
  std::uint64_t gone = 0;
  while (request.offset < end) {
    COVE_TRY(const OutputSlice slice, client.process_output(info.id, request, invocation.call));
    gone += slice.gone;
    request.offset = slice.next;
    if (slice.bytes.empty()) break;
    if (kept != nullptr) {
      kept->append(base::text_of(slice.bytes));
    } else if (stream == OutputStream::kOut) {
      COVE_TRY_VOID(invocation.output.out(base::text_of(slice.bytes)));
    } else {
      COVE_TRY_VOID(invocation.output.err(base::text_of(slice.bytes)));
    }
  }
  return gone;
}

Result<void> tell_gone(const Output& output, const char* stream, std::uint64_t gone) {
  if (gone == 0) return ok();
  return output.err("cove: " + std::to_string(gone) + " bytes of " + stream +
                    " are gone: older than what is kept\n");
}

Result<int> show_logs(const Invocation& invocation, const SandboxClient& client,
                      const ProcessInfo& info) {
  const bool json = invocation.request.json;
  std::string out;
  std::string err;
  COVE_TRY(const std::uint64_t out_gone,
           write_log(invocation, client, info, OutputStream::kOut, json ? &out : nullptr));
  COVE_TRY(const std::uint64_t err_gone,
           write_log(invocation, client, info, OutputStream::kErr, json ? &err : nullptr));
  if (json) {
    const nlohmann::json object = logs_json(info.id, {out, out_gone}, {err, err_gone});
    COVE_TRY_VOID(invocation.output.out(base::dump_json(object) + "\n"));
    return 0;
  }
  COVE_TRY_VOID(tell_gone(invocation.output, "stdout", out_gone));
  COVE_TRY_VOID(tell_gone(invocation.output, "stderr", err_gone));
  return 0;
}

/// How much of each stream was shown.
struct Shown {
  std::atomic<std::uint64_t> out{0};
  std::atomic<std::uint64_t> err{0};
};

/// The same callbacks, whose output is counted.
ExecCallbacks counted(ExecCallbacks callbacks, const std::shared_ptr<Shown>& shown) {
  callbacks.on_output = [take = std::move(callbacks.on_output), shown](OutputStream stream,
                                                                       ByteView bytes) {
    (stream == OutputStream::kErr ? shown->err : shown->out) += bytes.size();
    return take(stream, bytes);
  };
  return callbacks;
}

Result<int> follow_logs(const Invocation& invocation, const SandboxClient& client,
                        const ProcessInfo& info) {
  LiveOptions options;
  options.lets_go = true;
  const auto shown = std::make_shared<Shown>();
  const LiveEnd end = run_live(options, invocation.output, [&](ExecCallbacks callbacks) {
    return client.attach_async(info.id, {}, counted(std::move(callbacks), shown), invocation.call);
  });
  if (!end.result) return end.result.error();
  // The result's own count is also of what it did not keep.
  COVE_TRY_VOID(tell_gone(invocation.output, "stdout", end.result->out.total_bytes - shown->out));
  COVE_TRY_VOID(tell_gone(invocation.output, "stderr", end.result->err.total_bytes - shown->err));
  return 0;
}

/// Ends or signals one process, and says what was done.
Result<const char*> end_one(const Invocation& invocation, const SandboxClient& client,
                            const ProcessInfo& info) {
  const Request& request = invocation.request;
  if (request.signal) {
    COVE_TRY_VOID(client.signal_process(info.id, *request.signal, invocation.call));
    return "signaled";
  }
  COVE_TRY_VOID(client.end_process(info.id, invocation.call));
  if (!request.forget) return "ended";
  COVE_TRY_VOID(client.remove_process(info.id, invocation.call));
  return "forgotten";
}

Result<int> attach_to(const Invocation& invocation, const SandboxClient& client,
                      const ProcessInfo& info) {
  const bool typed = ::isatty(STDIN_FILENO) == 1;
  const bool json = invocation.request.json;
  LiveOptions options;
  options.show_output = !json;
  options.raw = info.has_terminal && typed;
  options.pass_stdin = invocation.request.read_stdin || options.raw;
  options.detach_keys = options.raw;
  options.lets_go = true;
  AttachOptions from;
  from.only_new = true;
  const LiveEnd end = run_live(options, invocation.output, [&](ExecCallbacks callbacks) {
    return client.attach_async(info.id, from, std::move(callbacks), invocation.call);
  });
  if (end.detached) {
    COVE_TRY_VOID(invocation.output.err("cove: let go of it; it goes on\n"));
    return 0;
  }
  if (!end.result) return end.result.error();
  if (json) {
    COVE_TRY(const ProcessInfo ended, client.find_process(info.id, invocation.call));
    COVE_TRY_VOID(invocation.output.out(base::dump_json(process_json(ended)) + "\n"));
  } else {
    COVE_TRY_VOID(invocation.output.err(attached_note(end.result->outcome)));
  }
  return end.result->shell_code();
}

}  // namespace

Result<int> run_ps(const Invocation& invocation) {
  const auto show = [&](const std::vector<ProcessInfo>& processes) -> Result<int> {
    if (!invocation.request.json) {
      COVE_TRY_VOID(invocation.output.out(processes_text(processes)));
      return 0;
    }
    JsonList list(invocation.output, "processes");
    for (const ProcessInfo& info : processes) {
      COVE_TRY_VOID(list.add(process_json(info)));
    }
    COVE_TRY_VOID(list.finish());
    return 0;
  };
  COVE_TRY(const bool running, is_running(invocation));
  if (!running) return show({});
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    COVE_TRY(const std::vector<ProcessInfo> processes, client.list_processes(invocation.call));
    return show(processes);
  });
}

Result<int> run_logs(const Invocation& invocation) {
  return with_running(invocation, [&](const SandboxClient& client) -> Result<int> {
    COVE_TRY(const ProcessInfo info,
             choose(client, invocation.request.operands[0], invocation.call));
    return invocation.request.follow ? follow_logs(invocation, client, info)
                                     : show_logs(invocation, client, info);
  });
}

Result<int> run_kill(const Invocation& invocation) {
  return with_running(invocation, [&](const SandboxClient& client) -> Result<int> {
    COVE_TRY(const ProcessInfo info,
             choose(client, invocation.request.operands[0], invocation.call));
    COVE_TRY(const char* const done, end_one(invocation, client, info));
    const nlohmann::json object{{"id", info.id.str()}, {"done", done}};
    COVE_TRY_VOID(invocation.output.out(invocation.request.json
                                            ? base::dump_json(object) + "\n"
                                            : std::string(done) + " " + info.id.str() + "\n"));
    return 0;
  });
}

Result<int> run_attach(const Invocation& invocation) {
  return with_running(invocation, [&](const SandboxClient& client) -> Result<int> {
    COVE_TRY(const ProcessInfo info,
             choose(client, invocation.request.operands[0], invocation.call));
    return attach_to(invocation, client, info);
  });
}

}  // namespace cove::cli
