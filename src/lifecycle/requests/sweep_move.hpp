/// What the sweep does about one record, as pure functions.
#pragma once

#include <chrono>
#include <string_view>

#include "lifecycle/core.hpp"
#include "lifecycle/requests/idle_rules.hpp"

namespace cove::lifecycle {

enum class SweepMove : std::uint8_t {
  kNothing,
  kStop,
  kArchive,
  kTakeOver,  ///< finish what frees or repairs
  kAbandon,   ///< a resume or restore that nobody waits for
  kUndo,      ///< a provision that nobody waits for
};

SweepMove sweep_move_for(const Core& core, const IdleRules& rules, const Record& record,
                         StoreTime now);

/// "stop", "archive", "recover"; empty for kNothing.
std::string_view name_of(SweepMove move) noexcept;

/// How long nothing is tried after so many failures, one after another: about 10 s, 20 s, ... up to
/// an hour. A quarter more or less by sandbox, so that what failed together is not tried together.
std::chrono::milliseconds back_off(const SandboxId& sandbox, std::uint32_t failures);

}  // namespace cove::lifecycle
