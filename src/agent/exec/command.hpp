/// Command: one command from its request to its collected result.
///
/// It belongs to its request's id, not to a connection: a stream attaches to it, and another may
/// attach when that one is lost.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/exec/command_pipe.hpp"
#include "agent/exec/environment.hpp"
#include "agent/exec/spawn.hpp"
#include "agent/server/connection.hpp"
#include "wire/credit.hpp"
#include "wire/kept_output.hpp"
#include "wire/reply.hpp"
#include "wire/request.hpp"

namespace cove::agent {

/// Whose a command is.
struct CommandName {
  wire::RequestId id{};
  std::uint64_t fence = 0;  ///< the fencing token it was started under; 0 = none
};

class Command final : public StreamHandler, public std::enable_shared_from_this<Command> {
 public:
  /// What the owner hears.
  struct Owner {
    virtual ~Owner() = default;
    virtual void on_keeper(pid_t keeper, std::shared_ptr<Command> command) = 0;

    /// The result is there; it may still have to be sent.
    virtual void on_finished(Command& command) = 0;
  };

  Command(const CommandEnvironment& environment, Owner& owner, const CommandName& name,
          wire::ExecRequest request);
  ~Command() override;

  const wire::RequestId& id() const noexcept { return name_.id; }
  std::uint64_t fence() const noexcept { return name_.fence; }
  bool is_finished() const noexcept { return finished_; }

  /// Bytes that its result holds.
  std::size_t kept_bytes() const noexcept;

  /// Sends everything of it to `stream` from now on.
  void attach(StreamRef stream, std::uint64_t credit);

  /// Starts it when its arguments are complete; a failure becomes its result.
  void begin();

  /// kNotFound: it does not run.
  Result<void> signal(std::int32_t number);

  /// Ends it: SIGTERM to the tree, SIGKILL after the grace time.
  enum class StopReason : std::uint8_t { kTimedOut, kCancelled, kOutputLimit };
  void stop(StopReason reason);

  /// Looks at what the keeper says; called after any keeper gave notice.
  void on_notice();

  /// The keeper is gone: where it ended by itself, nothing of the tree is left.
  void on_keeper_reaped(bool by_itself);

  /// Ends whatever is left of its tree, also what went on in the background.
  void terminate();

  bool on_data(wire::Channel channel, ByteView bytes) override;
  void on_end(wire::Channel channel) override;
  void on_credit(std::uint64_t bytes) override;
  void on_cancel(const wire::Cancel& cancel) override;
  void on_room() override { pump(); }
  void on_lost() override;

 private:
  struct Output {
    wire::Channel channel;
    std::unique_ptr<OutputPipe> pipe;
    wire::KeptOutput kept;
    std::uint64_t total = 0;
  };
  struct Piece {
    wire::Channel channel;
    std::string bytes;
  };

  Result<void> start();
  Result<SpawnPlan> plan(std::array<base::UniqueFd, 3>& child_ends);
  Result<base::UniqueFd> open_stdin();
  Result<base::UniqueFd> open_output(Output& output);
  void feed_stdin();
  void set_timeout();
  std::vector<std::string> environment_strings(std::string& path) const;
  Error start_error() const;

  void read_output(Output& output);
  void take_output(Output& output, std::string_view bytes);
  void drain(Output& output);
  bool wants_output() const;
  void rewatch();

  void on_leader_ended();
  void complete();
  void fail(const Error& error);
  Outcome outcome() const;
  wire::StreamCounts keep_pieces(Output& output);
  void finish(Bytes payload, bool failed);
  void pump();
  void begin_kill();
  void kill_tree(int signal);
  void kill_again();
  void release_pipes();

  const CommandEnvironment& environment_;
  Owner& owner_;
  CommandName name_;
  wire::ExecRequest request_;
  StreamRef stream_;
  wire::SendWindow credit_{0};
  wire::ReceiveWindow input_{wire::kInitialCredit};
  Bytes arguments_;

  std::unique_ptr<Keeper> keeper_;
  std::unique_ptr<InputPipe> stdin_;
  Bytes early_stdin_;
  bool stdin_ended_ = false;
  std::array<Output, 2> outputs_;
  std::vector<base::UniqueFd> handed_;  ///< what the child takes over, until it surely has
  bool begun_ = false;
  bool announced_ = false;
  bool leader_ended_ = false;
  bool finished_ = false;
  bool discard_ = false;  ///< output is counted and dropped

  SteadyTime started_at_{};
  SteadyTime ended_at_{};
  std::uint64_t oom_kills_before_ = 0;
  int wait_status_ = 0;
  std::optional<StopReason> stop_reason_;
  std::chrono::milliseconds kill_pause_{0};
  std::optional<EventLoop::Timer> timeout_timer_;
  std::optional<EventLoop::Timer> kill_timer_;
  std::optional<EventLoop::Timer> lost_timer_;

  std::deque<Piece> pieces_;    ///< of output that is still to be sent, or sent again
  std::size_t next_piece_ = 0;  ///< in capture mode pieces stay for a repeat
  std::size_t piece_offset_ = 0;
  Bytes answer_;
  bool answer_failed_ = false;
};

}  // namespace cove::agent
