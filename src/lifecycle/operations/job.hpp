/// One operation that this process holds, from its claim to its end.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// What a stop does about what runs.
enum class Drain : std::uint8_t {
  kIdle,    ///< the sweeper's: only a command that is marked keep-alive forbids it
  kRefuse,  ///< any running command forbids it
  kCancel,  ///< nothing does
};

struct Job {
  std::shared_ptr<Core> core;
  std::shared_ptr<Gates::Hold> hold;
  StoredRecord at;  ///< the record as this process last saw it
  OperationId id;
  std::optional<Phase> reached;  ///< by this process's steps; the store may have forgotten it
  Instant beat_at{};             ///< when the newest heartbeat that arrived was sent
  Drain drain = Drain::kIdle;
  Instant drain_until{};  ///< what runs may finish until then
  Reason reason = Reason::kAsked;
  Instant began{};           ///< when this process took it
  bool takes_lease = false;  ///< of an acquire: the completing swap brings the activity lease
  std::stop_source stop;     ///< ends the present step
  bool synced = false;       ///< of a stop: the guest wrote everything to the disk, for this job
  bool lost = false;         ///< the operation is another's now
  bool called_off = false;   ///< somebody more urgent came
  bool refused = false;      ///< by what runs: nobody's fault

  const Operation& operation() const { return *at.record.operation; }

  /// Tells what happened: the operation, or what it was, came to `phase`, and to its end.
  void tell(OperationKind kind, Phase phase, bool completed, const std::string& error = {}) const;
};

}  // namespace cove::lifecycle
