#include "lifecycle/requests/sweep_move.hpp"

#include <algorithm>

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;

bool must_rest(const Record& record, StoreTime now) {
  return record.failed_at + back_off(record.sandbox_id, record.failures) > now;
}

SweepMove move_for_operation(const Core& core, const Record& record, StoreTime now) {
  if (!core.is_free(*record.operation, now) || must_rest(record, now)) return SweepMove::kNothing;
  switch (record.operation->kind) {
    case OperationKind::kProvision: return SweepMove::kUndo;
    case OperationKind::kResume:
    case OperationKind::kRestore: return SweepMove::kAbandon;
    case OperationKind::kStop:
    case OperationKind::kArchive:
    case OperationKind::kRelocate:
    case OperationKind::kDestroy:
    case OperationKind::kLost: break;
  }
  return SweepMove::kTakeOver;
}

/// FNV-1a: the same on every host.
std::uint64_t hash_of(const std::string& text, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash ^ (hash >> 32U);
}

}  // namespace

SweepMove sweep_move_for(const Core& core, const IdleRules& rules, const Record& record,
                         StoreTime now) {
  if (record.operation) return move_for_operation(core, record, now);
  const Record living = core.without_dead_leases(record);
  if (has_live_lease(living, now, OwnerId()) || must_rest(record, now)) return SweepMove::kNothing;
  const std::string source = source_of(record);
  const auto idle = now - record.last_active_at;
  if (record.state == SandboxState::kRunning && idle > rules.stop_after(source)) {
    return SweepMove::kStop;
  }
  const auto archive_after = rules.archive_after(source);
  if (record.state == SandboxState::kStopped && archive_after && idle > *archive_after) {
    return SweepMove::kArchive;
  }
  return SweepMove::kNothing;
}

std::string_view name_of(SweepMove move) noexcept {
  switch (move) {
    case SweepMove::kNothing: return "";
    case SweepMove::kStop: return "stop";
    case SweepMove::kArchive: return "archive";
    case SweepMove::kTakeOver:
    case SweepMove::kAbandon:
    case SweepMove::kUndo: break;
  }
  return "recover";
}

std::chrono::milliseconds back_off(const SandboxId& sandbox, std::uint32_t failures) {
  if (failures == 0) return 0ms;
  const auto whole =
      std::min<std::chrono::milliseconds>(10s * (1U << std::min(failures - 1, 9U)), 1h);
  const auto part =
      static_cast<std::int64_t>(hash_of(sandbox.str(), failures) % 501);  // thousandths
  return whole * (750 + part) / 1000;
}

}  // namespace cove::lifecycle
