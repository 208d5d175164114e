/// Errors: one closed list of codes, chosen by what the caller does next, and one sentence.
///
///     return Error(ErrorCode::kNotFound, "no sandbox 'app-12ab'");
///     return error.with_context("path", path);      // lower errors pass through, with more facts
///
/// Thread rule: an Error is immutable and may be shared between threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cove {

/// What went wrong, by the caller's next move. The numbers are the C ABI's and never change.
enum class ErrorCode : std::int32_t {
  kInvalidArgument = 1,     ///< the call is wrong as written: correct it
  kNotFound = 2,            ///< what was named does not exist
  kAlreadyExists = 3,       ///< what was to be made is there already; it was not changed
  kPermissionDenied = 4,    ///< the caller may not do this
  kPathEscape = 5,          ///< the path leads out of the workspace; nothing was read or written
  kConflict = 6,            ///< somebody else changed it: read again and decide again
  kFailedPrecondition = 7,  ///< the state must change first (a stopped sandbox, a closed handle)
  kUnavailable = 8,         ///< not now: retry the same call, after `retry_after` where given
  kTimeout = 9,             ///< the caller's deadline passed
  kCancelled = 10,          ///< the caller asked for it
  kTooLarge = 11,           ///< over a limit of size: ask for less
  kQuotaExceeded = 12,      ///< no room (disk, places): wait, free some, or raise the limit
  kIntegrity = 13,          ///< stored bytes or markers are not what they must be: stop and look
  kUnsupported = 14,        ///< this build, machine or provider cannot do it
  kProvider = 15,           ///< the machinery below (bubblewrap, an engine) refused
  kInternal = 16,           ///< a fault in Cove
};

/// Returns the code's stable name in snake case, as JSON and logs show it: "not_found".
std::string_view name_of(ErrorCode code) noexcept;

/// A code, a sentence that a person can act on, and what lies below it.
class Error {
 public:
  /// Facts by name, as ("path", "notes.md").
  using Context = std::vector<std::pair<std::string, std::string>>;

  Error(ErrorCode code, std::string message);

  /// What the caller does next.
  ErrorCode code() const noexcept;

  /// One line, lower case, the fact and its values; never a secret.
  const std::string& message() const noexcept;

  /// When the same call may be tried again; empty where no time is known.
  std::optional<std::chrono::milliseconds> retry_after() const noexcept;

  /// The lower error that led to this one; null where there is none.
  const Error* cause() const noexcept;

  /// Facts beside the message, in the order added.
  const Context& context() const noexcept;

  /// The message, its context and the causes in one line, for logs and terminals.
  std::string describe() const;

  /// A copy that says when the same call may be tried again.
  Error with_retry_after(std::chrono::milliseconds delay) const;
  /// A copy that has `cause` below it.
  Error with_cause(Error cause) const;
  /// A copy with one fact more.
  Error with_context(std::string key, std::string value) const;

 private:
  struct Data;
  explicit Error(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

}  // namespace cove
