#include "cli/commands/live_command.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

#include "cli/machine/raw_terminal.hpp"
#include "cli/machine/stdin_feed.hpp"
#include "cli/output/output_relay.hpp"

namespace cove::cli {
namespace {

/// What becomes of a command that this program can do nothing more for.
void give_up(const ExecHandle& handle, const LiveOptions& options) {
  options.lets_go ? handle.detach() : handle.cancel();
}

InputSink sink_to(const ExecHandle& handle, const LiveOptions& options,
                  const std::shared_ptr<std::atomic<bool>>& detached) {
  InputSink sink;
  sink.write = [handle](ByteView bytes, const CallContext& call) {
    return handle.write_stdin(bytes, call);
  };
  // Where the command is over meanwhile there is nothing to close or to resize.
  sink.close = [handle](const CallContext& call) { static_cast<void>(handle.close_stdin(call)); };
  sink.resized = [handle](const CallContext& call) {
    if (const auto size = terminal_size(STDIN_FILENO)) {
      static_cast<void>(handle.resize(*size, call));
    }
  };
  sink.failed = [handle, options] { give_up(handle, options); };
  if (!options.detach_keys) return sink;
  sink.detach = [handle, detached] {
    *detached = true;
    handle.detach();
  };
  return sink;
}

}  // namespace

LiveEnd run_live(const LiveOptions& options, const Output& output,
                 const std::function<ExecHandle(ExecCallbacks)>& begin) {
  std::optional<RawTerminal> raw;
  if (options.raw) {
    Result<RawTerminal> entered = RawTerminal::enter(STDIN_FILENO);
    if (!entered) return {.result = entered.error()};
    raw.emplace(*std::move(entered));
  }
  const auto relay = std::make_shared<OutputRelay>();
  ExecCallbacks callbacks = OutputRelay::feed(relay);
  if (!options.show_output) callbacks.on_output = nullptr;
  const ExecHandle handle = begin(std::move(callbacks));
  const auto detached = std::make_shared<std::atomic<bool>>(false);
  std::optional<StdinFeed> feed;
  if (options.pass_stdin) {
    feed.emplace(STDIN_FILENO, raw ? raw->resized_fd() : -1, sink_to(handle, options, detached));
  }
  const OutputRelay::Steering steering{.resume = [&handle] { handle.resume(); },
                                       .cancel = [&] { give_up(handle, options); }};
  LiveEnd end{.result = relay->pump(output, steering), .detached = *detached};
  const std::optional<Error> fault = feed ? feed->fault() : std::nullopt;
  if (fault) end.result = *fault;
  return end;
}

const char* note_on(const Outcome& outcome) {
  if (std::holds_alternative<TimedOut>(outcome)) return "cove: the command timed out\n";
  if (std::holds_alternative<OutOfMemory>(outcome)) {
    return "cove: the command was ended: out of memory\n";
  }
  if (std::holds_alternative<CpuLimitReached>(outcome)) {
    return "cove: the command was ended: it used up its processor time\n";
  }
  if (std::holds_alternative<OutputLimitReached>(outcome)) {
    return "cove: the command was ended: more output than it may write\n";
  }
  return "";
}

const char* attached_note(const Outcome& outcome) {
  if (std::holds_alternative<Cancelled>(outcome)) return "cove: the command was ended\n";
  return note_on(outcome);
}

}  // namespace cove::cli
