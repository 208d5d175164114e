/// What goes wrong at the calls of simulated hosts: drawn from a seed, or played from a list.
///
/// A fault is named by its host and that host's n-th call of a name, so that a run can be repeated
/// with fewer of them, and with less of what happened between. They come from a stream of numbers
/// of their own: to leave one out moves no other one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace cove::testing {

enum class SimFaultKind : std::uint8_t {
  kNone,
  kLostRequest,  ///< it never arrived; kUnavailable
  kLostReply,    ///< it was done; kUnavailable
  kRepeated,     ///< it is done, and a little later once more
  kSlow,         ///< takes up to 45 s there or back
  kPause,        ///< the host stands still for up to 90 s: longer than its leases
  kCrashBefore,  ///< the host dies and nothing was done
  kCrashAfter,   ///< it was done, and the host dies before it hears of it
  kCrashSoon,    ///< the host dies between two awaits, a little later
  kSkew,         ///< the host's clock jumps ahead, and runs too fast or too slow from now on
  kPowerBefore,  ///< the machine of the host loses power, and nothing was done
  kPowerAfter,   ///< it was done, and the machine loses power
  kStoreCrash,   ///< the store forgets what was not durable; its hosts go on
  kSpoiled,      ///< an upload is kept damaged, and nobody says so
};
inline constexpr std::size_t kSimFaultKinds = 14;

std::string_view name_of(SimFaultKind kind) noexcept;

struct SimFault {
  SimFaultKind kind = SimFaultKind::kNone;
  std::size_t host = 0;      ///< in the order they were made
  std::string name;          ///< of the call
  std::uint64_t call = 0;    ///< the host's of this name, from 1
  std::uint32_t amount = 0;  ///< how long, how far: each kind makes its own of it

  friend bool operator==(const SimFault&, const SimFault&) = default;
};

/// How often each kind comes, in 100,000 calls; kSpoiled: in 100,000 uploads.
using SimFaultRates = std::map<SimFaultKind, std::uint32_t>;

class SimFaults {
 public:
  /// Draws them from now on.
  void draw(std::uint64_t seed, SimFaultRates rates);

  /// Plays exactly these.
  void play(const std::vector<SimFault>& faults);

  /// Nothing goes wrong any more, as at the beginning.
  void end();

  /// What goes wrong at this call.
  SimFault at(std::size_t host, const std::string& name, std::uint64_t call);

  /// Those that came, in order.
  const std::vector<SimFault>& happened() const { return happened_; }

 private:
  SimFault drawn(std::size_t host, const std::string& name, std::uint64_t call);

  std::mt19937_64 random_;
  SimFaultRates rates_;
  std::map<std::tuple<std::size_t, std::string, std::uint64_t>, SimFault> listed_;
  std::vector<SimFault> happened_;
};

}  // namespace cove::testing
