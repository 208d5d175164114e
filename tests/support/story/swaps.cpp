// Whether a record may become what a swap makes of it.
#include <algorithm>

#include "lifecycle/rules/transitions.hpp"
#include "support/story/rules.hpp"

namespace cove::testing {
namespace {

using lifecycle::find_row;
using lifecycle::Row;
using lifecycle::row_of;
using lifecycle::TakeOver;

bool has(const Record& record, const Garbage& garbage) {
  return std::find(record.garbage.begin(), record.garbage.end(), garbage) != record.garbage.end();
}

bool has_volume(const Record& record, const Generation& generation) {
  return std::any_of(record.garbage.begin(), record.garbage.end(), [&](const Garbage& garbage) {
    const auto* volume = std::get_if<GarbageVolume>(&garbage);
    return volume != nullptr && volume->generation == generation;
  });
}

/// True where nothing is left to do after the row's next phase.
bool is_last(const Row& row) {
  if (!row.next) return true;
  const auto reached = find_row(row.kind, *row.next);
  return reached && !reached->next;
}

bool completes_archive(const Record& before, const Record& after) {
  return before.operation && before.operation->kind == OperationKind::kArchive &&
         after.state == SandboxState::kArchived && !after.operation;
}

/// True where a relocate's old volume is gone: from here on it restores in the new place.
bool arrives(const Record& before, const Record& after) {
  return before.operation && after.operation && before.operation->to && !after.operation->to &&
         after.operation->id == before.operation->id &&
         after.operation->phase == Phase::kVolumeDeleted;
}

}  // namespace

void Rules::on_change(const Record* before, const Record* after) {
  tell(before, after);
  if (before == nullptr) {
    const bool good = after->operation && after->operation->kind == OperationKind::kProvision;
    if (!good) wrong(*after, "begins without a provision");
    return;
  }
  if (after == nullptr) return check_removal(*before);
  const bool begins = before->operation && before->operation->kind == OperationKind::kProvision &&
                      after->operation && after->operation->id != before->operation->id;
  if (before->incarnation != after->incarnation && !begins) {
    wrong(*after, "became another incarnation");
  }
  if (after->epoch < before->epoch) wrong(*after, "its epoch went back");
  const bool same_volume = before->generation == after->generation && !after->generation.empty();
  if (same_volume && (before->provider != after->provider || before->node != after->node)) {
    wrong(*after, "its volume is said to be somewhere else");
  }
  check_operation(*before, *after);
  check_garbage(*before, *after);
  check_taken_off(*before, *after);
}

void Rules::check_removal(const Record& before) {
  if (!before.operation || before.operation->kind != OperationKind::kDestroy) {
    return wrong(before, "was removed without a destroy");
  }
  if (!is_buried(before)) wrong(before, "was removed without a tombstone");
  if (promised(before).empty() || is_allowed(Ask::Kind::kDestroy, before)) return;
  wrong(before, "was removed with its files, and nobody asked for that");
}

void Rules::check_operation(const Record& before, const Record& after) {
  if (!before.operation && !after.operation) {
    if (before.state == after.state) return;
    const bool lost =
        before.state == SandboxState::kRunning && after.state == SandboxState::kStopped;
    return lost ? check_lost(before) : wrong(after, "changed its state without an operation");
  }
  if (!before.operation) return check_claim(before, after);
  if (!row_of(before)) return wrong(before, "an operation that cannot be");
  if (!after.operation) return check_end(before, after);
  if (before.operation->id == after.operation->id) return check_same(before, after);
  check_next(before, after);
}

/// The holder of an operation went on.
void Rules::check_same(const Record& before, const Record& after) {
  const Operation& was = *before.operation;
  const Operation& is = *after.operation;
  if (was.owner != is.owner) wrong(after, "a take-over kept the operation's id");
  const bool moves = arrives(before, after);
  if (was.kind != is.kind || (before.state != after.state && !moves)) {
    return wrong(after, "an operation became another one");
  }
  if (moves && (after.provider != was.to->provider || after.state != SandboxState::kArchived)) {
    wrong(after, "a relocate went astray");
  }
  const bool on = is.phase == was.phase || row_of(before)->next == is.phase;
  const bool failed = is.kind == OperationKind::kProvision && is.phase == Phase::kClaimed;
  if (!on && !failed) wrong(after, "went over a phase");
}

/// Somebody else's operation stands there now.
void Rules::check_next(const Record& before, const Record& after) {
  const Row row = *row_of(before);
  const Operation& is = *after.operation;
  if (before.operation->kind == is.kind) {
    const Phase begins =
        row.take_over == TakeOver::kRestart ? lifecycle::first_phase(row) : row.phase;
    if (is.phase != begins) wrong(after, "a take-over began at a wrong phase");
    return;
  }
  const bool replaced = lifecycle::may_replace(row, is.kind);
  const bool abandoned = row.abandoned_to && lifecycle::may_start(*row.abandoned_to, is.kind);
  if (is.phase != Phase::kClaimed) wrong(after, "an operation began in the middle");
  if (!replaced && !abandoned) wrong(after, "an operation took the place of one that must end");
}

void Rules::check_end(const Record& before, const Record& after) {
  const Row row = *row_of(before);
  const bool completed = is_last(row) && after.state == row.to;
  const bool abandoned = row.abandoned_to == after.state;
  if (!completed && !abandoned) wrong(after, "an operation ended too early");
}

void Rules::check_claim(const Record& before, const Record& after) {
  const Operation& is = *after.operation;
  if (is.phase != Phase::kClaimed) wrong(after, "an operation began in the middle");
  if (!lifecycle::may_start(before.state, is.kind)) wrong(after, "an operation from a wrong state");
  const bool ends_use = is.kind == OperationKind::kStop || is.kind == OperationKind::kArchive ||
                        is.kind == OperationKind::kRelocate;
  if (!ends_use || is_allowed(Ask::Kind::kCancel, before)) return;
  for (const ActivityLease& lease : before.activity) {
    const SimHost* user = cluster_.world.find_host(lease.owner);
    const bool live = lease.expires_at > cluster_.world.store_time() && user != nullptr &&
                      user->alive() && lease.owner != is.owner;
    if (live) wrong(after, "is stopped while " + lease.owner.str() + " uses it");
  }
}

void Rules::check_lost(const Record& before) {
  for (SimNode* node : nodes_) {
    node->excuse_loose(before.sandbox_id, before.generation);
    for (const auto& [instance, state] : node->instances) {
      if (names_instance(before, instance) && !state.came_again) {
        wrong(before, "was called lost while its instance runs");
      }
    }
  }
}

/// What is replaced is put on the list in the same swap.
void Rules::check_garbage(const Record& before, const Record& after) {
  const bool archived = completes_archive(before, after);
  const auto is_named = [&](const Generation& generation) {
    return generation.empty() || lifecycle::names_volume(after, generation) ||
           has_volume(after, generation);
  };
  const bool volume_deleted =
      (archived && before.operation->phase != Phase::kClaimed) || arrives(before, after);
  if (!is_named(before.generation) && !volume_deleted) wrong(after, "its volume is forgotten");
  if (before.operation && !is_named(before.operation->generation)) {
    wrong(after, "the volume of an attempt is forgotten");
  }
  const auto is_kept = [&](const std::optional<SnapshotRef>& snapshot) {
    return !snapshot || after.snapshot == snapshot || has(after, GarbageSnapshot{*snapshot}) ||
           (after.operation && after.operation->snapshot == snapshot);
  };
  const bool dies = after.operation && after.operation->kind == OperationKind::kDestroy;
  const bool uploaded = before.operation && !is_kept(before.operation->snapshot);
  if (!is_kept(before.snapshot) || (uploaded && !dies)) wrong(after, "a snapshot is forgotten");
  const bool uploads = before.operation && (before.operation->kind == OperationKind::kArchive ||
                                            before.operation->kind == OperationKind::kRelocate);
  const bool loose = uploads && before.operation->phase == Phase::kClaimed && !archived;
  const bool goes_on = loose && after.operation && after.operation->id == before.operation->id;
  if (loose && !goes_on && !has(after, GarbageAttempt{before.operation->id})) {
    wrong(after, "what an archive uploaded is forgotten");
  }
}

/// What is taken off the list is gone.
void Rules::check_taken_off(const Record& before, const Record& after) {
  for (const Garbage& garbage : before.garbage) {
    const auto* volume = std::get_if<GarbageVolume>(&garbage);
    if (volume == nullptr || has(after, garbage)) continue;
    for (const SimNode* node : nodes_) {
      for (const auto& [there, content] : node->volumes) {
        const bool left = there.generation == volume->generation && !content.files.empty();
        if (left) wrong(after, "garbage was taken off the list and is still there");
      }
    }
  }
}

}  // namespace cove::testing
