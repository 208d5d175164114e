/// The command's way to the terminal, a pipe or a file.
#pragma once

#include <atomic>
#include <string_view>

#include <cove/error.hpp>
#include <cove/result.hpp>

namespace cove::cli {

/// Writes whole texts to two descriptors that it borrows. Any thread.
class Output {
 public:
  Output(int out, int err) : out_(out), err_(err) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// kUnavailable: nobody reads any more (EPIPE). Else what the system says.
  Result<void> out(std::string_view bytes) const;
  Result<void> err(std::string_view bytes) const;

  /// Tells of an error: one line `cove: ...`, or one JSON object.
  void report(const Error& error, bool json) const;

  bool out_is_terminal() const noexcept;

  /// True once a write found that nobody reads any more.
  bool reader_gone() const noexcept { return reader_gone_; }

 private:
  Result<void> write_all(int fd, std::string_view bytes, const char* what) const;

  int out_;
  int err_;
  mutable std::atomic<bool> reader_gone_{false};
};

}  // namespace cove::cli
