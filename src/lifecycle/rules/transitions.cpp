#include "lifecycle/rules/transitions.hpp"

#include <algorithm>
#include <utility>

#include "base/text/utf8.hpp"

namespace cove::lifecycle {
namespace {

constexpr std::size_t kMaxErrorBytes = 2048;

std::string shortened(std::string text) {
  text.resize(base::cut_before(text, kMaxErrorBytes));
  return text;
}

Error refusal(const Record& record, std::string_view what) {
  std::string text =
      "sandbox '" + record.sandbox_id.str() + "' is " + std::string(name_of(record.state));
  if (record.operation) {
    text += " with " + std::string(name_of(record.operation->kind)) + " at " +
            std::string(name_of(record.operation->phase));
  }
  return Error(ErrorCode::kFailedPrecondition, text + ": " + std::string(what));
}

/// The row of an operation that `id` still holds.
Result<Row> held_row(const Record& record, const OperationId& id) {
  if (!record.operation || record.operation->id != id) {
    return Error(ErrorCode::kConflict,
                 "the operation on sandbox '" + record.sandbox_id.str() + "' was taken over");
  }
  const auto row = row_of(record);
  if (!row) return refusal(record, "no such operation can be there");
  return *row;
}

void push_garbage(Record& record, Garbage garbage) {
  const bool known =
      std::find(record.garbage.begin(), record.garbage.end(), garbage) != record.garbage.end();
  if (!known) record.garbage.push_back(std::move(garbage));
}

/// Puts the volume that the operation makes on the list.
void discard_made_volume(Record& record) {
  Operation& operation = *record.operation;
  if (operation.generation.empty()) return;
  const Location place = place_of_made(record);
  push_garbage(record,
               GarbageVolume{place.node, operation.generation, operation.epoch, place.provider});
  operation.generation = Generation();
}

void discard_current_volume(Record& record) {
  if (record.generation.empty()) return;
  push_garbage(record,
               GarbageVolume{record.node, record.generation, record.epoch, record.provider});
  record.generation = Generation();
}

void replace_snapshot(Record& record, const SnapshotRef& snapshot) {
  if (record.snapshot && *record.snapshot != snapshot) {
    push_garbage(record, GarbageSnapshot{*record.snapshot});
  }
  record.snapshot = snapshot;
}

bool uploads(OperationKind kind) {
  return kind == OperationKind::kArchive || kind == OperationKind::kRelocate;
}

/// True where nothing was uploaded whole: what was written lies under the operation's id.
bool has_loose_upload(const Operation& operation) {
  return uploads(operation.kind) && operation.phase == Phase::kClaimed;
}

/// True for a relocate while its old volume is, or may be, there.
bool is_leaving(const Record& record) {
  return record.operation->kind == OperationKind::kRelocate &&
         record.state == SandboxState::kStopped;
}

/// Takes out what the operation made so far, as far as nothing refers to it.
void discard_attempt(Record& record) {
  discard_made_volume(record);
  if (has_loose_upload(*record.operation)) {
    push_garbage(record, GarbageAttempt{record.operation->id});
  }
}

bool makes_volume(OperationKind kind) {
  return kind == OperationKind::kProvision || kind == OperationKind::kRestore ||
         kind == OperationKind::kRelocate;
}

bool starts_instance(OperationKind kind) {
  return makes_volume(kind) || kind == OperationKind::kResume;
}

void begin_start(Record& record) {
  record.epoch = next(record.epoch);
  record.operation->epoch = record.epoch;
}

/// Gives the operation the names of an attempt: a volume and a start of its own.
void begin_attempt(Record& record, const Attempt& attempt) {
  Operation& operation = *record.operation;
  operation.id = attempt.id;
  operation.owner = attempt.owner;
  operation.heartbeat_at = attempt.now;
  operation.drain_until = StoreTime{};
  if (operation.kind == OperationKind::kStop && attempt.drain_for.count() > 0) {
    operation.drain_until = attempt.now + attempt.drain_for;
  }
  operation.error.clear();
  if (makes_volume(operation.kind)) operation.generation = attempt.generation;
  // Until its old volume is gone, a relocate's record says where that is.
  if (is_leaving(record)) {
    operation.to = Location{attempt.provider, attempt.node};
    return;
  }
  if (makes_volume(operation.kind)) {
    record.provider = attempt.provider;
    record.node = attempt.node;
  }
  if (starts_instance(operation.kind)) begin_start(record);
}

/// The old volume is gone: from here on it is a restore in the new place.
void arrive(Record& record) {
  Operation& operation = *record.operation;
  replace_snapshot(record, *operation.snapshot);
  operation.snapshot.reset();
  record.provider = operation.to->provider;
  record.node = operation.to->node;
  operation.to.reset();
  record.generation = Generation();
  record.state = SandboxState::kArchived;
  begin_start(record);
}

Result<void> check_leases(const Record& record, OperationKind kind, const Attempt& attempt) {
  const bool ends_use = kind == OperationKind::kStop || uploads(kind);
  if (!ends_use) return {};
  if (attempt.leases == LeaseRule::kNone) return {};
  const OwnerId except = attempt.leases == LeaseRule::kOthers ? attempt.owner : OwnerId();
  const std::chrono::milliseconds left = lease_left(record, attempt.now, except);
  if (left.count() == 0) return {};
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  return refusal(record, "it is in use by another process, for " + std::to_string(seconds) +
                             " s more if that makes no further call: wait, or cancel what runs")
      .with_retry_after(left);
}

/// Takes the present operation out of the way of `kind`, which may replace it.
void make_way(Record& record, OperationKind kind) {
  discard_attempt(record);
  if (kind == OperationKind::kRestore && record.operation->snapshot) {
    replace_snapshot(record, *record.operation->snapshot);
    discard_current_volume(record);
  }
  record.operation.reset();
}

void drop_expired_leases(Record& record, StoreTime now) {
  std::erase_if(record.activity,
                [&](const ActivityLease& lease) { return lease.expires_at <= now; });
}

/// What is true once an operation is complete.
void apply_outcome(Record& record) {
  const Operation& operation = *record.operation;
  switch (operation.kind) {
    case OperationKind::kProvision:
    case OperationKind::kRestore:
    case OperationKind::kRelocate: record.generation = operation.generation; break;
    case OperationKind::kArchive:
      replace_snapshot(record, *operation.snapshot);
      record.generation = Generation();
      break;
    case OperationKind::kResume:
    case OperationKind::kStop:
    case OperationKind::kDestroy:
    case OperationKind::kLost: break;
  }
}

}  // namespace

std::optional<Row> row_of(const Record& record) noexcept {
  if (!record.operation) return std::nullopt;
  return find_row(record.state, record.operation->kind, record.operation->phase);
}

Location place_of_made(const Record& record) {
  if (record.operation && record.operation->to) return *record.operation->to;
  return Location{record.provider, record.node};
}

std::chrono::milliseconds lease_left(const Record& record, StoreTime now, const OwnerId& except) {
  std::chrono::milliseconds left{0};
  for (const ActivityLease& lease : record.activity) {
    if (lease.owner != except) left = std::max(left, lease.expires_at - now);
  }
  return left;
}

bool has_live_lease(const Record& record, StoreTime now, const OwnerId& except) {
  return lease_left(record, now, except).count() > 0;
}

bool names_volume(const Record& record, const Generation& generation) {
  if (generation.empty()) return false;
  return record.generation == generation ||
         (record.operation && record.operation->generation == generation);
}

Record first_record(const SandboxId& sandbox, const WorkspaceKey& key, const Attempt& attempt) {
  Record record;
  record.sandbox_id = sandbox;
  record.key = key;
  record.incarnation = attempt.incarnation;
  record.created_at = attempt.now;
  record.last_active_at = attempt.now;
  record.operation.emplace();
  record.operation->kind = OperationKind::kProvision;
  record.operation->started_at = attempt.now;
  begin_attempt(record, attempt);
  return record;
}

Result<Record> claim(Record record, OperationKind kind, const Attempt& attempt) {
  if (record.operation) {
    const auto row = row_of(record);
    if (!row || !may_replace(*row, kind)) return refusal(record, "it is busy");
    make_way(record, kind);
  } else if (!may_start(record.state, kind)) {
    return refusal(record, "it cannot " + std::string(name_of(kind)));
  }
  COVE_TRY_VOID(check_leases(record, kind, attempt));
  if (kind == OperationKind::kRestore && !record.snapshot) {
    return refusal(record, "it has no snapshot");
  }
  if (attempt.leases == LeaseRule::kNone) record.activity.clear();
  drop_expired_leases(record, attempt.now);
  if (kind == OperationKind::kRestore) record.state = SandboxState::kArchived;
  if (kind == OperationKind::kDestroy) record.state = SandboxState::kAbsent;
  record.operation.emplace();
  record.operation->kind = kind;
  record.operation->started_at = attempt.now;
  begin_attempt(record, attempt);
  return record;
}

Result<Record> take_over(Record record, const Attempt& attempt) {
  const auto row = row_of(record);
  if (!row) return refusal(record, "there is nothing to take over");
  discard_attempt(record);
  if (row->take_over == TakeOver::kRestart) record.operation->phase = first_phase(*row);
  // Nothing lives yet; and where a first write that was sent again brought a destroyed sandbox's
  // record back, what its tombstone deletes must not be what comes now.
  if (row->kind == OperationKind::kProvision) record.incarnation = attempt.incarnation;
  ++record.operation->attempt;
  begin_attempt(record, attempt);
  return record;
}

Result<Record> advance(Record record, const OperationId& id, StoreTime now,
                       const std::optional<SnapshotRef>& snapshot) {
  COVE_TRY(const Row row, held_row(record, id));
  if (!row.next) return refusal(record, "it is at its last phase");
  if ((*row.next == Phase::kArchiveUploaded) != snapshot.has_value()) {
    return refusal(record, "a snapshot comes with the upload, and only then");
  }
  if (snapshot) record.operation->snapshot = snapshot;
  record.operation->phase = *row.next;
  if (row.kind == OperationKind::kRelocate && *row.next == Phase::kVolumeDeleted) arrive(record);
  record.operation->heartbeat_at = now;
  return record;
}

Result<Record> complete(Record record, const OperationId& id, StoreTime now) {
  COVE_TRY(const Row row, held_row(record, id));
  if (row.next) return refusal(record, "there is still something to do");
  apply_outcome(record);
  record.operation.reset();
  record.state = row.to;
  if (row.to == SandboxState::kRunning) record.last_active_at = now;
  record.failures = 0;
  record.failed_at = StoreTime{};
  record.needs_attention.clear();
  return record;
}

Result<Record> abandon(Record record) {
  const auto row = row_of(record);
  if (!row) return refusal(record, "there is nothing to abandon");
  if (!row->abandoned_to) return refusal(record, "it cannot be abandoned any more");
  discard_attempt(record);
  record.operation.reset();
  record.state = *row->abandoned_to;
  return record;
}

Result<Record> fail(Record record, const OperationId& id, StoreTime now, const Failure& failure) {
  COVE_TRY(const Row row, held_row(record, id));
  record = note_failure(std::move(record), now, failure);
  if (row.abandoned_to && row.kind != OperationKind::kProvision) return abandon(std::move(record));
  if (row.kind == OperationKind::kProvision) {
    discard_made_volume(record);
    record.operation->phase = Phase::kClaimed;
  }
  record.operation->heartbeat_at = now;
  record.operation->error = shortened(failure.error);
  return record;
}

Result<Record> beat(Record record, const OperationId& id, StoreTime now) {
  COVE_TRY_VOID(held_row(record, id));
  record.operation->heartbeat_at = now;
  return record;
}

Result<Record> lost(Record record, Epoch epoch) {
  if (record.operation) return refusal(record, "its operation decides");
  if (record.state != SandboxState::kRunning || record.epoch != epoch) {
    return refusal(
        record, "no instance of epoch " + std::to_string(number_of(epoch)) + " is its current one");
  }
  record.state = SandboxState::kStopped;
  return record;
}

Record note_failure(Record record, StoreTime now, const Failure& failure) {
  if (!failure.counts) return record;
  ++record.failures;
  record.failed_at = now;
  if (failure.integrity || record.failures >= failure.attention_after) {
    record.needs_attention = shortened(failure.error);
  }
  return record;
}

Record renew_lease(Record record, const OwnerId& owner, StoreTime now,
                   std::chrono::milliseconds length) {
  std::erase_if(record.activity, [&](const ActivityLease& lease) {
    return lease.expires_at <= now || lease.owner == owner;
  });
  record.activity.push_back(ActivityLease{owner, now + length});
  record.last_active_at = std::max(record.last_active_at, now);
  return record;
}

Record release_lease(Record record, const OwnerId& owner, StoreTime now) {
  std::erase_if(record.activity, [&](const ActivityLease& lease) {
    return lease.expires_at <= now || lease.owner == owner;
  });
  record.last_active_at = std::max(record.last_active_at, now);
  return record;
}

Result<Record> add_garbage(Record record, const Garbage& garbage) {
  const auto* volume = std::get_if<GarbageVolume>(&garbage);
  if (volume != nullptr && names_volume(record, volume->generation)) {
    return refusal(record, "volume " + volume->generation.str() + " is in use");
  }
  const auto* snapshot = std::get_if<GarbageSnapshot>(&garbage);
  if (snapshot != nullptr && record.snapshot == snapshot->snapshot) {
    return refusal(record, "the snapshot is its current one");
  }
  const auto* attempt = std::get_if<GarbageAttempt>(&garbage);
  if (attempt != nullptr && record.operation && record.operation->id == attempt->attempt) {
    return refusal(record, "the attempt is going on");
  }
  push_garbage(record, garbage);
  return record;
}

Record remove_garbage(Record record, const Garbage& garbage) {
  std::erase(record.garbage, garbage);
  return record;
}

}  // namespace cove::lifecycle
