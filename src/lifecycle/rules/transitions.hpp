/// The rules of a sandbox's life, as a table and as pure functions on its record.
///
/// This is the one place that says what may follow what. It knows no store, no provider and no
/// clock: times and names are arguments, and a refusal changes nothing. docs/lifecycle.md shows the
/// table (a test compares the two) and explains it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <cove/record.hpp>
#include <cove/result.hpp>

namespace cove::lifecycle {

/// What whoever takes an operation over does with the phases that are done.
enum class TakeOver : std::uint8_t {
  kContinue,  ///< goes on from the phase: each step may be repeated
  kRestart,   ///< begins again with a volume and a start of its own; the old ones become garbage
};

/// One operation in one phase.
struct Row {
  SandboxState state;  ///< the record's state meanwhile
  OperationKind kind;
  Phase phase;                               ///< what is done
  std::optional<Phase> next;                 ///< what is done next; none = only completing is left
  SandboxState to;                           ///< the state once it is complete
  std::optional<SandboxState> abandoned_to;  ///< none = it cannot be given up any more
  TakeOver take_over;
};

namespace detail {
using enum SandboxState;
using enum Phase;
using Kind = OperationKind;
inline constexpr std::nullopt_t kNone = std::nullopt;
inline constexpr TakeOver kRestart = TakeOver::kRestart;
inline constexpr TakeOver kGoOn = TakeOver::kContinue;
}  // namespace detail

/// A destroyed sandbox is absent from the claim on, and a relocated one archived from when its old
/// volume is gone; every other operation changes the state when it is complete.
inline constexpr auto kTransitions = [] {
  using namespace detail;
  // clang-format off
  return std::array{
      //  state      operation         phase              next phase         to         abandoned  take-over
      Row{kAbsent,   Kind::kProvision, kClaimed,          kVolumeCreated,    kRunning,  kAbsent,   kRestart},
      Row{kAbsent,   Kind::kProvision, kVolumeCreated,    kInstanceStarted,  kRunning,  kAbsent,   kRestart},
      Row{kAbsent,   Kind::kProvision, kInstanceStarted,  kNone,             kRunning,  kAbsent,   kRestart},
      Row{kStopped,  Kind::kResume,    kClaimed,          kInstanceStarted,  kRunning,  kStopped,  kRestart},
      Row{kStopped,  Kind::kResume,    kInstanceStarted,  kNone,             kRunning,  kStopped,  kRestart},
      Row{kRunning,  Kind::kStop,      kClaimed,          kDrained,          kStopped,  kRunning,  kGoOn},
      Row{kRunning,  Kind::kStop,      kDrained,          kInstanceStopped,  kStopped,  kNone,     kGoOn},
      Row{kRunning,  Kind::kStop,      kInstanceStopped,  kNone,             kStopped,  kNone,     kGoOn},
      Row{kStopped,  Kind::kArchive,   kClaimed,          kArchiveUploaded,  kArchived, kStopped,  kGoOn},
      Row{kStopped,  Kind::kArchive,   kArchiveUploaded,  kProviderDeleted,  kArchived, kNone,     kGoOn},
      Row{kStopped,  Kind::kArchive,   kProviderDeleted,  kVolumeDeleted,    kArchived, kNone,     kGoOn},
      Row{kStopped,  Kind::kArchive,   kVolumeDeleted,    kNone,             kArchived, kNone,     kGoOn},
      Row{kArchived, Kind::kRestore,   kClaimed,          kVolumeCreated,    kRunning,  kArchived, kRestart},
      Row{kArchived, Kind::kRestore,   kVolumeCreated,    kSnapshotRestored, kRunning,  kArchived, kRestart},
      Row{kArchived, Kind::kRestore,   kSnapshotRestored, kInstanceStarted,  kRunning,  kArchived, kRestart},
      Row{kArchived, Kind::kRestore,   kInstanceStarted,  kNone,             kRunning,  kArchived, kRestart},
      Row{kStopped,  Kind::kRelocate,  kClaimed,          kArchiveUploaded,  kRunning,  kStopped,  kGoOn},
      Row{kStopped,  Kind::kRelocate,  kArchiveUploaded,  kProviderDeleted,  kRunning,  kNone,     kGoOn},
      Row{kStopped,  Kind::kRelocate,  kProviderDeleted,  kVolumeDeleted,    kRunning,  kNone,     kGoOn},
      Row{kArchived, Kind::kRelocate,  kVolumeDeleted,    kVolumeCreated,    kRunning,  kNone,     kRestart},
      Row{kArchived, Kind::kRelocate,  kVolumeCreated,    kSnapshotRestored, kRunning,  kNone,     kRestart},
      Row{kArchived, Kind::kRelocate,  kSnapshotRestored, kInstanceStarted,  kRunning,  kNone,     kRestart},
      Row{kArchived, Kind::kRelocate,  kInstanceStarted,  kNone,             kRunning,  kNone,     kRestart},
      Row{kAbsent,   Kind::kDestroy,   kClaimed,          kProviderDeleted,  kAbsent,   kNone,     kGoOn},
      Row{kAbsent,   Kind::kDestroy,   kProviderDeleted,  kVolumeDeleted,    kAbsent,   kNone,     kGoOn},
      Row{kAbsent,   Kind::kDestroy,   kVolumeDeleted,    kArchiveDeleted,   kAbsent,   kNone,     kGoOn},
      Row{kAbsent,   Kind::kDestroy,   kArchiveDeleted,   kNone,             kAbsent,   kNone,     kGoOn},
  };
  // clang-format on
}();

inline constexpr std::array kAllStates{SandboxState::kAbsent, SandboxState::kRunning,
                                       SandboxState::kStopped, SandboxState::kArchived};
/// Those that can be in a record.
inline constexpr std::array kAllKinds{OperationKind::kProvision, OperationKind::kResume,
                                      OperationKind::kStop,      OperationKind::kArchive,
                                      OperationKind::kRestore,   OperationKind::kDestroy,
                                      OperationKind::kRelocate};
inline constexpr std::array kAllPhases{Phase::kClaimed,          Phase::kVolumeCreated,
                                       Phase::kSnapshotRestored, Phase::kInstanceStarted,
                                       Phase::kDrained,          Phase::kInstanceStopped,
                                       Phase::kArchiveUploaded,  Phase::kProviderDeleted,
                                       Phase::kVolumeDeleted,    Phase::kArchiveDeleted};

/// The row of an operation in a phase; none where no such thing can be in a record.
constexpr std::optional<Row> find_row(SandboxState state, OperationKind kind,
                                      Phase phase) noexcept {
  for (const Row& row : kTransitions) {
    if (row.state == state && row.kind == kind && row.phase == phase) return row;
  }
  return std::nullopt;
}

/// The row of an operation in a phase, whatever its state is then; none where it has no such phase.
constexpr std::optional<Row> find_row(OperationKind kind, Phase phase) noexcept {
  for (const Row& row : kTransitions) {
    if (row.kind == kind && row.phase == phase) return row;
  }
  return std::nullopt;
}

/// Where a take-over that begins again begins: at the first phase that the operation has in this
/// state.
constexpr Phase first_phase(const Row& row) noexcept {
  for (const Row& first : kTransitions) {
    if (first.state == row.state && first.kind == row.kind) return first.phase;
  }
  return row.phase;
}

/// True while the row's operation moves the workspace into the archive; its volume is still there.
constexpr bool is_archiving(const Row& row) noexcept {
  return row.state == SandboxState::kStopped &&
         (row.kind == OperationKind::kArchive || row.kind == OperationKind::kRelocate);
}

/// True where `kind` may begin in `state` while no operation is there.
constexpr bool may_start(SandboxState state, OperationKind kind) noexcept {
  return kind == OperationKind::kDestroy || find_row(state, kind, Phase::kClaimed).has_value();
}

/// True where `kind` may take the place of the operation of `row`.
constexpr bool may_replace(const Row& row, OperationKind kind) noexcept {
  if (kind == OperationKind::kDestroy) return row.kind != OperationKind::kDestroy;
  const bool archives = row.kind == OperationKind::kArchive || row.kind == OperationKind::kRelocate;
  return kind == OperationKind::kRestore && archives && !row.abandoned_to;
}

namespace detail {

constexpr bool is_deterministic() {
  for (std::size_t i = 0; i < kTransitions.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Row& a = kTransitions[i];
      const Row& b = kTransitions[j];
      if (a.kind == b.kind && a.phase == b.phase) return false;
    }
  }
  return true;
}

/// Every operation has one first row, and its phases lead to completion without a gap or a loop.
constexpr bool is_complete() {
  for (const OperationKind kind : kAllKinds) {
    std::size_t rows = 0;
    std::optional<Row> at;
    for (const Row& row : kTransitions) {
      if (row.kind != kind) continue;
      ++rows;
      if (row.phase == Phase::kClaimed) at = row;
    }
    std::size_t walked = 0;
    for (; at && walked <= rows; ++walked) {
      at = at->next ? find_row(kind, *at->next) : std::nullopt;
    }
    if (rows == 0 || walked != rows) return false;
  }
  return true;
}

}  // namespace detail

static_assert(detail::is_deterministic(), "two rows share operation and phase");
static_assert(detail::is_complete(), "an operation's phases do not lead to its end");
static_assert(!may_start(SandboxState::kArchived, OperationKind::kStop));
static_assert(!may_start(SandboxState::kRunning, OperationKind::kArchive), "stop comes first");
static_assert(!may_start(SandboxState::kArchived, OperationKind::kRelocate),
              "a restore goes to any place");

/// Whose live activity leases forbid a stop, an archive or a relocate.
enum class LeaseRule : std::uint8_t { kAll, kOthers, kNone };

/// What a claim or a take-over brings with it.
struct Attempt {
  OperationId id;         ///< new and random
  OwnerId owner;          ///< who does it
  StoreTime now{};        ///< the store's time
  Generation generation;  ///< new and random; used where the operation makes a volume
  std::string provider;   ///< where that volume will be: of a relocate, where it goes
  NodeId node;
  LeaseRule leases = LeaseRule::kAll;
  std::chrono::milliseconds drain_for{0};  ///< of a stop: how long what runs may take to finish
  Incarnation incarnation;                 ///< new and random; used where a sandbox begins
};

/// What went wrong with an attempt.
struct Failure {
  std::string error;
  bool counts = true;      ///< false: cancelled or called off, nobody's fault
  bool integrity = false;  ///< a person has to look at once
  std::uint32_t attention_after = 5;
};

/// The row of the record's operation; none where it has none, or one that cannot be.
std::optional<Row> row_of(const Record& record) noexcept;

/// How long a lease of anybody but `except` is still live; 0 = none is. An empty owner excepts
/// nobody.
std::chrono::milliseconds lease_left(const Record& record, StoreTime now, const OwnerId& except);

/// Where the volume is that the record's operation makes, or would make: of a relocate, where it
/// goes; else where the record is.
Location place_of_made(const Record& record);

/// True while such a lease is live.
bool has_live_lease(const Record& record, StoreTime now, const OwnerId& except);

/// True where the record's current volume, or the one that its operation makes, is this one.
bool names_volume(const Record& record, const Generation& generation);

/// The first record of a sandbox, with its provision claimed.
Record first_record(const SandboxId& sandbox, const WorkspaceKey& key, const Attempt& attempt);

// Each of the following returns the record as it is after the event, or why that must not be:
// kConflict - the operation is not `id`'s any more; kFailedPrecondition - not from here.

/// Begins an operation; what it takes the place of goes on the garbage list. A restore in the place
/// of a relocate may go where that goes, or elsewhere.
Result<Record> claim(Record record, OperationKind kind, const Attempt& attempt);

/// Takes the operation over from whoever holds it.
Result<Record> take_over(Record record, const Attempt& attempt);

/// Moves to the next phase. `snapshot` is what an archive or relocate uploaded and verified. The
/// phase in which a relocate's old volume is gone makes it a restore in the new place.
Result<Record> advance(Record record, const OperationId& id, StoreTime now,
                       const std::optional<SnapshotRef>& snapshot = std::nullopt);

/// Ends an operation whose last phase is done. A destroyed record has no state left: remove it.
Result<Record> complete(Record record, const OperationId& id, StoreTime now);

/// Gives the operation up, whoever holds it. A provision's record is then claimed by a destroy in
/// the same swap: there is no absent record without an operation.
Result<Record> abandon(Record record);

/// Notes that an attempt failed: abandons it where that is possible, else leaves it, let go of, to
/// whoever comes next. A failed provision stays, without its volume.
Result<Record> fail(Record record, const OperationId& id, StoreTime now, const Failure& failure);

/// Tells that the holder is there.
Result<Record> beat(Record record, const OperationId& id, StoreTime now);

/// The instance of `epoch` is gone, and its provider said so.
Result<Record> lost(Record record, Epoch epoch);

/// Notes a failure beside the operations.
Record note_failure(Record record, StoreTime now, const Failure& failure);

Record renew_lease(Record record, const OwnerId& owner, StoreTime now,
                   std::chrono::milliseconds length);
Record release_lease(Record record, const OwnerId& owner, StoreTime now);

/// Refuses what the record still uses.
Result<Record> add_garbage(Record record, const Garbage& garbage);
Record remove_garbage(Record record, const Garbage& garbage);

}  // namespace cove::lifecycle
