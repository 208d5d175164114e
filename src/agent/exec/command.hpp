/// Command: a command that a call waits for, from its request to its collected result.
///
/// It belongs to its request's id, not to a connection: a stream attaches to it, and another may
/// attach when that one is lost.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "agent/exec/command_run.hpp"
#include "agent/exec/environment.hpp"
#include "agent/exec/spill.hpp"
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

class Command final : public StreamHandler,
                      public CommandRun::Owner,
                      public std::enable_shared_from_this<Command> {
 public:
  /// What the table hears.
  struct Owner {
    virtual ~Owner() = default;

    /// The result is there; it may still have to be sent.
    virtual void on_finished(Command& command) = 0;
  };

  Command(const CommandEnvironment& environment, Owner& owner, const CommandName& name,
          wire::ExecRequest request);
  ~Command() override;

  const wire::RequestId& id() const noexcept { return name_.id; }
  std::uint64_t fence() const noexcept { return name_.fence; }
  bool is_finished() const noexcept { return run_->has_finished(); }
  CommandRun& run() const noexcept { return *run_; }

  /// Bytes that its result holds.
  std::size_t kept_bytes() const noexcept;

  /// Sends everything of it to `stream` from now on.
  void attach(StreamRef stream, std::uint64_t credit);
  void begin() { run_->begin(); }

  bool on_data(wire::Channel channel, ByteView bytes) override;
  void on_end(wire::Channel channel) override;
  void on_credit(std::uint64_t bytes) override;
  void on_cancel(const wire::Cancel& cancel) override;
  void on_room() override { pump(); }
  void on_lost() override;

  void on_running() override;
  std::size_t room_for_output() override;
  void on_output(wire::Channel channel, std::string_view bytes) override;
  void on_input_used(std::uint64_t bytes) override;
  void on_input_refused() override;
  void on_failed(const Error& error) override;
  void on_ended(const RunEnd& end) override;

 private:
  struct Output {
    wire::Channel channel;
    wire::KeptOutput kept;
    std::unique_ptr<SpillFile> spill;
    bool spill_failed = false;
    std::uint64_t total = 0;
    std::uint64_t lost = 0;  ///< of a streamed one: what nobody was there for
  };
  struct Piece {
    wire::Channel channel;
    std::string bytes;
  };

  bool is_streamed() const noexcept { return run_->request().streamed; }
  void keep(Output& output, std::string_view bytes);
  void open_spill(Output& output, const std::string& before);
  wire::StreamCounts take_kept(Output& output);
  void announce();
  void finish(Bytes payload, bool failed);
  void pump();
  bool send_piece(Piece& piece);

  const CommandEnvironment& environment_;
  Owner& owner_;
  CommandName name_;
  std::shared_ptr<CommandRun> run_;
  StreamRef stream_;
  wire::SendWindow credit_{0};
  wire::ReceiveWindow input_{wire::kInitialCredit};
  std::array<Output, 2> outputs_;
  bool runs_ = false;
  bool discard_ = false;  ///< output is counted and dropped
  std::optional<EventLoop::Timer> lost_timer_;

  std::deque<Piece> pieces_;    ///< of output that is still to be sent, or sent again
  std::size_t next_piece_ = 0;  ///< in capture mode pieces stay for a repeat
  std::size_t piece_offset_ = 0;
  Bytes answer_;
  bool answer_failed_ = false;
};

}  // namespace cove::agent
