/// State: what prepare has done in one sandbox, as `$HOME/.cove/state.json` keeps it
/// (docs/formats.md).
///
/// The file can be written from inside: it is a hint, and hostile input. Whatever is wrong with it,
/// it is read as less than it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cove/clock.hpp>

namespace cove::prepare {

inline constexpr std::size_t kMaxStateBytes = 256 * 1024;
inline constexpr std::size_t kMaxStateSteps = 512;
inline constexpr std::size_t kMaxNoteBytes = 16 * 1024;

/// The form in which fingerprints are kept: 64 hex, whatever a host puts into its own.
std::string hash_of(std::string_view fingerprint);

/// What is known of one step. Hashes are of fingerprints; an empty one is "none".
struct StepState {
  std::string name;
  std::string done;            ///< that was applied last
  std::string note;            ///< what the step kept then
  std::string failed;          ///< that failed last, and was not applied since
  std::uint32_t failures = 0;  ///< of it, one after another
  StoreTime retry_at{};

  friend bool operator==(const StepState&, const StepState&) = default;
};

class State {
 public:
  /// Reads the file's text; an unknown version or a broken text is the empty state, a broken step
  /// is left out.
  static State parse(std::string_view text);

  /// The text, of at most kMaxStateBytes: steps that were changed longest ago are left out where
  /// there are too many.
  std::string text() const;

  /// Null where nothing is known of it. Valid until the next `put`.
  const StepState* find(std::string_view name) const;

  /// Replaces what is known of `step.name`. A note that is too long or no UTF-8 is not kept.
  void put(StepState step);

 private:
  std::vector<StepState> steps_;  // what was changed last stands last
};

}  // namespace cove::prepare
