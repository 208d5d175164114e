/// BackgroundProcess: a command that nobody waits for. Its output is kept for whoever asks, and it
/// never waits for a reader.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/process.hpp>

#include "agent/exec/command.hpp"
#include "agent/exec/command_run.hpp"
#include "agent/exec/process_output.hpp"
#include "agent/server/connection.hpp"
#include "wire/credit.hpp"

namespace cove::agent {

class BackgroundProcess final : public CommandRun::Owner,
                                public std::enable_shared_from_this<BackgroundProcess> {
 public:
  struct Owner {
    virtual ~Owner() = default;

    /// It never ran: forget it.
    virtual void on_not_started(BackgroundProcess& process) = 0;
    virtual void on_process_ended(BackgroundProcess& process) = 0;
  };

  /// Somebody who looks on: told of each change, on the loop.
  struct Reader {
    virtual ~Reader() = default;
    virtual void on_change() = 0;
  };

  /// A stream that writes to stdin, and is given credit as its bytes go.
  struct Writer {
    StreamRef stream;
    wire::ReceiveWindow window{wire::kInitialCredit};
  };

  BackgroundProcess(const CommandEnvironment& environment, Owner& owner, const CommandName& name,
                    wire::ExecRequest request);
  ~BackgroundProcess() override;

  const wire::RequestId& id() const noexcept { return name_.id; }
  bool has_ended() const noexcept { return end_.has_value(); }
  bool keeps_alive() const;
  CommandRun& run() const noexcept { return *run_; }
  ProcessInfo info() const;
  const ProcessOutput& output(OutputStream stream) const;

  /// The end without output; none while it runs.
  std::optional<wire::ExecReply> end() const;

  /// Begins it, and answers `stream` with its info once it runs; a repeat is only answered.
  std::shared_ptr<StreamHandler> answer_start(StreamRef stream);

  void add(std::weak_ptr<Reader> reader) { readers_.push_back(std::move(reader)); }

  /// False: past the writer's credit.
  bool write_input(const std::shared_ptr<Writer>& writer, ByteView bytes);

  /// Its files go; REQUIRES: has_ended().
  void remove_spills();

  void on_running() override;
  std::size_t room_for_output() override;
  void on_output(wire::Channel channel, std::string_view bytes) override;
  void on_input_used(std::uint64_t bytes) override;
  void on_input_refused() override;
  void on_failed(const Error& error) override;
  void on_ended(const RunEnd& end) override;

 private:
  class StartStream;
  struct Written {
    std::weak_ptr<Writer> writer;
    std::uint64_t bytes = 0;
  };

  void tell_readers();

  Owner& owner_;
  CommandName name_;
  ProcessOptions options_;
  std::string command_;  ///< for people
  std::shared_ptr<CommandRun> run_;
  std::array<ProcessOutput, 2> outputs_;
  std::chrono::sys_time<std::chrono::milliseconds> started_at_{};
  SteadyTime started_{};
  bool runs_ = false;
  std::optional<RunEnd> end_;
  std::vector<StreamRef> starters_;  ///< to be answered when it runs
  std::vector<std::weak_ptr<Reader>> readers_;
  std::deque<Written> written_;  ///< to stdin and not gone yet, in order
};

}  // namespace cove::agent
