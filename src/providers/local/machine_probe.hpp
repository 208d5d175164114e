/// What this machine can isolate, for `doctor`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "providers/local/local_provider.hpp"

namespace cove::local {

/// The same fields as cove::Finding.
struct ProbeFinding {
  enum class Level : std::uint8_t { kGood, kLimited, kBroken };
  Level level = Level::kGood;
  std::string subject;
  std::string detail;
  std::string remedy;  ///< empty where nothing is needed
};

/// Looks at settings and really starts an empty sandbox, the way that instances are started. Blocks
/// for as long as that takes, at most some seconds. Makes the state directory where it is missing.
std::vector<ProbeFinding> probe_machine(const LocalOptions& options);

}  // namespace cove::local
