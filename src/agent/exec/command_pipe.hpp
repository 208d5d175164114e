/// The agent's ends of a command's pipes, as watchers of the loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include <cove/bytes.hpp>

#include "agent/loop/event_loop.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// The reading end of stdout or stderr.
class OutputPipe final : public Watcher {
 public:
  using Reader = std::function<void()>;

  OutputPipe(EventLoop& loop, base::UniqueFd fd, Reader on_readable);
  ~OutputPipe() override;
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  /// Starts or ends being told of bytes; told of nothing, a full pipe makes the writer wait.
  void watch(bool wanted);
  bool is_open() const noexcept { return static_cast<bool>(fd_); }
  void close();

  /// Bytes that are there now.
  std::size_t waiting() const;

  /// Reads at most `room` bytes into `to`; 0 = none are there now. Closes itself at the end.
  std::size_t read(char* to, std::size_t room);

  void on_ready(std::uint32_t events) override;

 private:
  EventLoop& loop_;
  base::UniqueFd fd_;
  Reader on_readable_;
  bool watched_ = false;
};

/// The writing end of stdin: takes bytes at once and writes them as the command reads.
class InputPipe final : public Watcher {
 public:
  /// What its owner hears, also from inside write() and finish().
  struct Owner {
    virtual ~Owner() = default;

    /// The command can read so many bytes more.
    virtual void on_input_used(std::uint64_t bytes) = 0;

    /// What was written last, or is still pending, is never read.
    virtual void on_input_refused() = 0;
  };

  /// A terminal is not closed at the end of what is typed: the key for that is typed.
  enum class Kind : std::uint8_t { kPipe, kTerminal };

  InputPipe(EventLoop& loop, base::UniqueFd fd, Kind kind, Owner& owner);
  ~InputPipe() override;
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;

  void write(ByteView bytes);

  /// False: it was finished, or nobody has its reading end any more.
  bool is_open() const noexcept;

  /// End of file after what was written.
  void finish();
  void close();
  void on_ready(std::uint32_t events) override;

 private:
  void drain();
  void write_some();
  void rewatch();

  EventLoop& loop_;
  base::UniqueFd fd_;
  Kind kind_;
  Owner& owner_;
  std::string pending_;
  bool at_line_start_ = true;
  std::size_t sent_ = 0;
  bool finished_ = false;
  bool watched_ = false;
};

}  // namespace cove::agent
