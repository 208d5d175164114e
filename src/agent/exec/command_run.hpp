/// CommandRun: the processes of one command, from its arguments to the end of the last of them.
///
/// It reads output as its owner has room for it, feeds stdin, watches the limits, ends the tree,
/// and tells how it ended. Whose the output is, the owner decides: a call or a background process.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/exec.hpp>
#include <cove/result.hpp>

#include "agent/exec/command_group.hpp"
#include "agent/exec/command_pipe.hpp"
#include "agent/exec/environment.hpp"
#include "agent/exec/spawn.hpp"
#include "base/system/unique_fd.hpp"
#include "wire/frame.hpp"
#include "wire/request.hpp"

namespace cove::agent {

/// How a command ended.
struct RunEnd {
  Outcome outcome;
  std::chrono::microseconds duration{0};
  ResourceUsage usage;
};

class CommandRun final : public InputPipe::Owner, public std::enable_shared_from_this<CommandRun> {
 public:
  /// What the owner hears, on the loop. It may let the run go in any of these.
  struct Owner {
    virtual ~Owner() = default;

    /// The program was executed.
    virtual void on_running() = 0;

    /// How many bytes of output may come now; 0 = none until rewatch().
    virtual std::size_t room_for_output() = 0;
    virtual void on_output(wire::Channel channel, std::string_view bytes) = 0;

    /// So many bytes of stdin went; or nobody reads it any more, and what did not go never does.
    virtual void on_input_used(std::uint64_t bytes) = 0;
    virtual void on_input_refused() = 0;

    /// One of these comes once: it never ran, or its result is there.
    virtual void on_failed(const Error& error) = 0;
    virtual void on_ended(const RunEnd& end) = 0;
  };

  CommandRun(const CommandEnvironment& environment, Owner& owner, const wire::RequestId& id,
             wire::ExecRequest request);
  ~CommandRun() override;
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;

  /// The owner goes: what of the tree lives on is only watched until its end.
  void disown() noexcept { owner_ = nullptr; }

  const wire::ExecRequest& request() const noexcept { return request_; }
  /// Where it runs, as it sees it; known once it has begun.
  const std::string& directory() const noexcept { return directory_; }

  bool has_begun() const noexcept { return begun_; }
  bool has_finished() const noexcept { return finished_; }
  bool input_is_open() const noexcept { return stdin_ && stdin_->is_open() && !input_ended_; }

  /// Takes a part of what is too large for the request; begins once it is whole.
  void take_arguments(ByteView bytes);

  /// Starts it when its arguments are complete; a failure is told as on_failed.
  void begin();

  /// Ends what has not begun.
  void refuse(const Error& error);

  void write_input(ByteView bytes);
  void end_input();

  /// Of its stdin: passed on to the owner.
  void on_input_used(std::uint64_t bytes) override;
  void on_input_refused() override;

  /// kNotFound: it does not run.
  Result<void> signal(std::int32_t number);

  /// kFailedPrecondition: it has no terminal.
  Result<void> resize(TerminalSize size);

  /// Ends it: SIGTERM to the tree, SIGKILL after the grace time.
  enum class StopReason : std::uint8_t { kTimedOut, kQuiet, kCancelled, kOutputLimit, kCpuLimit };
  void stop(StopReason reason);

  /// Ends whatever is left of its tree, also what went on in the background.
  void terminate();

  /// The owner's room for output has changed.
  void rewatch();

  /// Looks at what the keeper says; called after any keeper gave notice.
  void on_notice();

  /// The keeper is gone: where it ended by itself, nothing of the tree is left.
  void on_keeper_reaped(bool by_itself);

 private:
  struct Output {
    wire::Channel channel;
    std::unique_ptr<OutputPipe> pipe;
    std::uint64_t total = 0;
  };
  using Timer = std::optional<EventLoop::Timer>;

  // How it starts: command_start.cpp.
  Result<void> start();
  Result<SpawnPlan> plan(std::array<base::UniqueFd, 3>& child_ends);
  Result<void> open_stdio(std::array<base::UniqueFd, 3>& child_ends);
  Result<void> open_terminal_ends(std::array<base::UniqueFd, 3>& child_ends);
  Result<base::UniqueFd> open_stdin();
  Result<base::UniqueFd> open_output(Output& output);
  void watch_input(base::UniqueFd fd, InputPipe::Kind kind);
  void watch_output(Output& output, base::UniqueFd fd);
  void set_program(SpawnPlan& spawn) const;
  Result<void> set_limits(SpawnPlan& spawn);
  void feed_input();
  std::vector<std::string> environment_strings(std::string& path) const;
  Error start_error() const;

  // How its output comes, and how it ends: command_run.cpp.
  std::size_t room() const;
  void read_output(Output& output);
  void take_output(Output& output, std::string_view bytes);
  void drain(Output& output);
  void on_leader_ended();
  void complete();
  void finish();
  Outcome outcome() const;
  bool died_for_memory() const;
  ResourceUsage usage() const;

  // Limits in time, and how it is ended: command_stop.cpp.
  void call_after(Timer& timer, std::chrono::milliseconds delay, void (CommandRun::*what)());
  void cancel(Timer& timer);
  void set_timers();
  void on_timeout();
  void look_for_quiet();
  void look_at_cpu();
  void begin_kill();
  void ask_to_end();
  void kill_tree(int signal);
  void kill_again();

  const CommandEnvironment& environment_;
  Owner* owner_;
  wire::RequestId id_;
  wire::ExecRequest request_;
  std::string directory_;
  Bytes arguments_;

  std::unique_ptr<Keeper> keeper_;
  std::unique_ptr<CommandGroup> group_;
  std::unique_ptr<InputPipe> stdin_;
  Bytes early_input_;
  bool input_ended_ = false;
  std::array<Output, 2> outputs_;
  std::vector<base::UniqueFd> handed_;  ///< what the child takes over, until it surely has
  base::UniqueFd terminal_;             ///< to resize it
  bool begun_ = false;
  bool announced_ = false;
  bool leader_ended_ = false;
  bool finished_ = false;

  SteadyTime started_at_{};
  SteadyTime ended_at_{};
  SteadyTime last_output_{};
  std::uint64_t oom_kills_before_ = 0;
  int wait_status_ = 0;
  std::optional<StopReason> stop_reason_;
  SteadyTime kill_at_{};  // when what was asked to end is ended
  std::chrono::milliseconds kill_pause_{0};
  Timer timeout_timer_;
  Timer quiet_timer_;
  Timer cpu_timer_;
  Timer kill_timer_;
};

}  // namespace cove::agent
