/// Where Cove's own messages go. Cove prints nothing: the host gives a sink, or hears nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace cove {

/// How much a message matters.
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// Takes the messages of one Cove.
class LogSink {
 public:
  virtual ~LogSink() = default;

  /// Takes one line, without a newline and without secrets. Called from any of Cove's threads,
  /// never while a lock is held; must not block and must not call back into Cove.
  virtual void write(LogLevel level, std::string_view message) = 0;
};

}  // namespace cove
