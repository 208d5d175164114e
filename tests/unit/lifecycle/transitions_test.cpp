// Every (state, operation, phase, event) against the table of the design, written down here once
// more by hand.
#include "lifecycle/rules/transitions.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::lifecycle;
using namespace std::chrono_literals;

namespace {

struct Course {
  OperationKind kind;
  SandboxState during;
  std::vector<Phase> phases;
  SandboxState to;
  SandboxState abandoned_to;
  std::size_t abandonable;  // how many of the phases, from the first
  // From this phase on the state is another one, and a take-over begins there again.
  std::size_t arrives = SIZE_MAX;
  SandboxState after = SandboxState::kAbsent;
};

const std::vector<Course>& courses() {
  using enum SandboxState;
  using enum Phase;
  static const std::vector<Course> all{
      {OperationKind::kProvision,
       kAbsent,
       {kClaimed, kVolumeCreated, kInstanceStarted},
       kRunning,
       kAbsent,
       3},
      {OperationKind::kResume, kStopped, {kClaimed, kInstanceStarted}, kRunning, kStopped, 2},
      {OperationKind::kStop,
       kRunning,
       {kClaimed, kDrained, kInstanceStopped},
       kStopped,
       kRunning,
       1},
      {OperationKind::kArchive,
       kStopped,
       {kClaimed, kArchiveUploaded, kProviderDeleted, kVolumeDeleted},
       kArchived,
       kStopped,
       1},
      {OperationKind::kRestore,
       kArchived,
       {kClaimed, kVolumeCreated, kSnapshotRestored, kInstanceStarted},
       kRunning,
       kArchived,
       4},
      {OperationKind::kDestroy,
       kAbsent,
       {kClaimed, kProviderDeleted, kVolumeDeleted, kArchiveDeleted},
       kAbsent,
       kAbsent,
       0},
      {OperationKind::kRelocate,
       kStopped,
       {kClaimed, kArchiveUploaded, kProviderDeleted, kVolumeDeleted, kVolumeCreated,
        kSnapshotRestored, kInstanceStarted},
       kRunning,
       kStopped,
       1,
       3,
       kArchived},
  };
  return all;
}

const Course& course_of(OperationKind kind) {
  return *std::find_if(courses().begin(), courses().end(),
                       [kind](const Course& course) { return course.kind == kind; });
}

std::optional<std::size_t> position(const Course& course, SandboxState state, Phase phase) {
  const auto found = std::find(course.phases.begin(), course.phases.end(), phase);
  if (found == course.phases.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(found - course.phases.begin());
  const bool in_state = state == (at < course.arrives ? course.during : course.after);
  return in_state ? std::optional(at) : std::nullopt;
}

/// True while what is archived is still on its volume.
bool is_leaving(SandboxState state, OperationKind kind) {
  return state == SandboxState::kStopped && kind == OperationKind::kRelocate;
}

const OperationId kMine("mine");
const OwnerId kOwner("m1/p1");
const StoreTime kNow(1000s);

SnapshotRef snapshot(const std::string& name) {
  SnapshotRef made;
  made.objects.push_back({ObjectKey(name), 1, std::string(64, 'a')});
  return made;
}

Record base_record(SandboxState state) {
  Record record;
  record.sandbox_id = SandboxId("app-1");
  record.key = {"app", "demo", "ana"};
  record.state = state;
  record.provider = "sim";
  record.node = NodeId("m1");
  record.incarnation = Incarnation("i1");
  record.epoch = Epoch(7);
  if (state == SandboxState::kRunning || state == SandboxState::kStopped) {
    record.generation = Generation("old");
  }
  record.snapshot = snapshot("first");
  return record;
}

/// A record in the middle of an operation, as it would be in the store.
Record busy_record(SandboxState state, OperationKind kind, Phase phase) {
  Record record = base_record(state);
  Operation operation;
  operation.id = kMine;
  operation.kind = kind;
  operation.phase = phase;
  operation.owner = kOwner;
  if (kind == OperationKind::kProvision || kind == OperationKind::kRestore ||
      kind == OperationKind::kRelocate) {
    operation.generation = Generation("made");
  }
  operation.epoch = Epoch(7);
  if (is_leaving(state, kind)) operation.to = Location{"other", NodeId("m9")};
  const bool archives = kind == OperationKind::kArchive || is_leaving(state, kind);
  if (archives && phase != Phase::kClaimed) operation.snapshot = snapshot("second");
  record.operation = operation;
  return record;
}

Attempt attempt(const std::string& id) {
  Attempt attempt;
  attempt.id = OperationId(id);
  attempt.owner = OwnerId("m2/p2");
  attempt.now = kNow;
  attempt.generation = Generation("new");
  attempt.provider = "sim";
  attempt.node = NodeId("m2");
  attempt.incarnation = Incarnation("another life");
  return attempt;
}

/// A volume of the place where records are before an operation.
GarbageVolume at_sim(const std::string& generation) {
  return {NodeId("m1"), Generation(generation), Epoch(7), "sim"};
}

bool has(const Record& record, const Garbage& garbage) {
  return std::find(record.garbage.begin(), record.garbage.end(), garbage) != record.garbage.end();
}

template <class Visit>
void for_each_combination(const Visit& visit) {
  for (const SandboxState state : kAllStates) {
    for (const OperationKind kind : kAllKinds) {
      for (const Phase phase : kAllPhases) {
        const Course& course = course_of(kind);
        const auto at = position(course, state, phase);
        INFO(name_of(state) << " " << name_of(kind) << " " << name_of(phase));
        visit(busy_record(state, kind, phase), course, at);
      }
    }
  }
}

}  // namespace

TEST_CASE("Transitions: an operation starts from the states of the design alone",
          "[unit][lifecycle]") {
  for (const SandboxState state : kAllStates) {
    for (const OperationKind kind : kAllKinds) {
      INFO(name_of(state) << " " << name_of(kind));
      const bool allowed = kind == OperationKind::kDestroy || course_of(kind).during == state;
      CHECK(may_start(state, kind) == allowed);
      const auto claimed = claim(base_record(state), kind, attempt("next"));
      REQUIRE(claimed.has_value() == allowed);
      if (!allowed) {
        CHECK(claimed.error().code() == ErrorCode::kFailedPrecondition);
        continue;
      }
      CHECK(claimed->operation->kind == kind);
      CHECK(claimed->operation->phase == Phase::kClaimed);
      CHECK(claimed->operation->id == OperationId("next"));
      CHECK(claimed->state == course_of(kind).during);
    }
  }
}

TEST_CASE("Transitions: every phase leads to the next one of the design", "[unit][lifecycle]") {
  for_each_combination(
      [](const Record& record, const Course& course, std::optional<std::size_t> at) {
        const bool has_next = at && *at + 1 < course.phases.size();
        std::optional<SnapshotRef> uploaded;
        if (has_next && course.phases[*at + 1] == Phase::kArchiveUploaded) uploaded = snapshot("x");
        const auto next = advance(record, kMine, kNow, uploaded);
        REQUIRE(next.has_value() == has_next);
        if (!has_next) return;
        CHECK(next->operation->phase == course.phases[*at + 1]);
        CHECK(next->state == (*at + 1 < course.arrives ? course.during : course.after));
        CHECK(next->operation->heartbeat_at == kNow);
        const auto foreign = advance(record, OperationId("other"), kNow, uploaded);
        REQUIRE_FALSE(foreign);
        CHECK(foreign.error().code() == ErrorCode::kConflict);
      });
}

TEST_CASE("Transitions: an operation completes at its last phase alone", "[unit][lifecycle]") {
  for_each_combination(
      [](const Record& record, const Course& course, std::optional<std::size_t> at) {
        const bool last = at && *at + 1 == course.phases.size();
        const auto done = complete(record, kMine, kNow);
        REQUIRE(done.has_value() == last);
        if (!last) return;
        CHECK(done->state == course.to);
        CHECK_FALSE(done->operation);
        CHECK(done->failures == 0);
        const bool has_volume =
            course.to == SandboxState::kRunning || course.to == SandboxState::kStopped;
        if (course.kind != OperationKind::kDestroy) CHECK(done->generation.empty() != has_volume);
        CHECK_FALSE(complete(record, OperationId("other"), kNow));
      });
}

TEST_CASE("Transitions: an operation can be abandoned where the design says so",
          "[unit][lifecycle]") {
  for_each_combination(
      [](const Record& record, const Course& course, std::optional<std::size_t> at) {
        const bool allowed = at && *at < course.abandonable;
        const auto given_up = abandon(record);
        REQUIRE(given_up.has_value() == allowed);
        if (!allowed) return;
        CHECK(given_up->state == course.abandoned_to);
        CHECK_FALSE(given_up->operation);
        CHECK(given_up->generation == record.generation);
        CHECK(given_up->snapshot == record.snapshot);
        const bool leaves = course.kind == OperationKind::kRelocate;
        const bool made_volume = !record.operation->generation.empty() && !leaves;
        CHECK(has(*given_up, at_sim("made")) == made_volume);
        CHECK(has(*given_up, GarbageVolume{NodeId("m9"), Generation("made"), Epoch(7), "other"}) ==
              leaves);
        CHECK(has(*given_up, GarbageAttempt{kMine}) ==
              (leaves || course.kind == OperationKind::kArchive));
        CHECK(given_up->provider == "sim");
      });
}

TEST_CASE(
    "Transitions: a take-over has a new id, and where it starts something, a start of its own",
    "[unit][lifecycle]") {
  for_each_combination(
      [](const Record& record, const Course& course, std::optional<std::size_t> at) {
        const auto taken = take_over(record, attempt("next"));
        REQUIRE(taken.has_value() == at.has_value());
        if (!at) return;
        CHECK(taken->operation->id == OperationId("next"));
        CHECK(taken->operation->owner == OwnerId("m2/p2"));
        CHECK(taken->operation->attempt == 2);
        const bool begins = course.kind == OperationKind::kProvision;
        CHECK(taken->incarnation == (begins ? Incarnation("another life") : record.incarnation));
        const bool leaves = is_leaving(record.state, course.kind);
        const bool starts = course.to == SandboxState::kRunning && !leaves;
        const Phase first = course.phases[course.arrives == SIZE_MAX ? 0 : course.arrives];
        CHECK(taken->epoch == (starts ? Epoch(8) : Epoch(7)));
        CHECK(taken->operation->phase == (starts ? first : record.operation->phase));
        if (record.operation->generation.empty()) return;
        CHECK(taken->operation->generation == Generation("new"));
        CHECK(taken->operation->snapshot == record.operation->snapshot);
        // Until its old volume is gone the record says where that is.
        CHECK(taken->node == (leaves ? NodeId("m1") : NodeId("m2")));
        CHECK((taken->operation->to == Location{"sim", NodeId("m2")}) == leaves);
        if (!leaves) CHECK(has(*taken, at_sim("made")));
      });
}

TEST_CASE("Transitions: only a destroy, and a restore after the upload, take another's place",
          "[unit][lifecycle]") {
  for_each_combination(
      [](const Record& record, const Course& course, std::optional<std::size_t> at) {
        for (const OperationKind kind : kAllKinds) {
          INFO("replaced by " << name_of(kind));
          const bool archives =
              course.kind == OperationKind::kArchive || course.kind == OperationKind::kRelocate;
          const bool after_upload = archives && at && *at >= 1;
          const bool allowed =
              at && ((kind == OperationKind::kDestroy && course.kind != OperationKind::kDestroy) ||
                     (kind == OperationKind::kRestore && after_upload));
          const auto claimed = claim(record, kind, attempt("next"));
          REQUIRE(claimed.has_value() == allowed);
          if (!allowed || kind != OperationKind::kRestore) continue;
          CHECK(claimed->state == SandboxState::kArchived);
          CHECK(claimed->generation.empty());
          CHECK(claimed->operation->generation == Generation("new"));
          CHECK_FALSE(claimed->operation->to);
          CHECK(claimed->node == NodeId("m2"));
          const bool arrived = record.state == SandboxState::kArchived;
          CHECK(claimed->snapshot == snapshot(arrived ? "first" : "second"));
          CHECK(has(*claimed, at_sim("old")) == !arrived);
          CHECK(has(*claimed, GarbageSnapshot{snapshot("first")}) == !arrived);
          if (arrived) CHECK(has(*claimed, at_sim("made")));
        }
      });
}

TEST_CASE("Transitions: a relocate is a restore in the new place once its old volume is gone",
          "[unit][lifecycle][relocate]") {
  const Record record =
      busy_record(SandboxState::kStopped, OperationKind::kRelocate, Phase::kProviderDeleted);
  const auto arrived = advance(record, kMine, kNow);
  REQUIRE(arrived);
  CHECK(arrived->state == SandboxState::kArchived);
  CHECK(arrived->provider == "other");
  CHECK(arrived->node == NodeId("m9"));
  CHECK(arrived->generation.empty());
  CHECK(arrived->snapshot == snapshot("second"));
  CHECK_FALSE(arrived->operation->snapshot);
  CHECK_FALSE(arrived->operation->to);
  CHECK(arrived->operation->generation == Generation("made"));
  CHECK(arrived->epoch == Epoch(8));
  CHECK(arrived->operation->epoch == Epoch(8));
  // The snapshot before; the old volume is deleted, and on no list.
  CHECK(arrived->garbage == std::vector<Garbage>{GarbageSnapshot{snapshot("first")}});
  const auto failed = fail(*arrived, kMine, kNow, Failure{"no bwrap", true, false, 5});
  REQUIRE(failed);
  CHECK(failed->operation->error == "no bwrap");
  Attempt back = attempt("back");
  back.provider = "third";
  const auto elsewhere = claim(*failed, OperationKind::kRestore, back);
  REQUIRE(elsewhere);
  CHECK(elsewhere->provider == "third");
  CHECK(has(*elsewhere, GarbageVolume{NodeId("m9"), Generation("made"), Epoch(8), "other"}));
}

TEST_CASE("Transitions: a relocate says where it goes from its claim on",
          "[unit][lifecycle][relocate]") {
  Attempt to = attempt("next");
  to.provider = "other";
  const Record stopped = base_record(SandboxState::kStopped);
  const auto claimed = claim(stopped, OperationKind::kRelocate, to);
  REQUIRE(claimed);
  CHECK(claimed->operation->to == Location{"other", NodeId("m2")});
  CHECK(claimed->provider == "sim");
  CHECK(claimed->node == NodeId("m1"));
  CHECK(claimed->epoch == stopped.epoch);
  CHECK(place_of_made(*claimed) == Location{"other", NodeId("m2")});
  const Record used = renew_lease(stopped, OwnerId("m3/p3"), kNow, 60s);
  CHECK_FALSE(claim(used, OperationKind::kRelocate, to));
}

TEST_CASE("Transitions: a failed attempt is abandoned where it can be, else let go of",
          "[unit][lifecycle]") {
  const Failure failure{"no room", true, false, 5};
  for_each_combination(
      [&](const Record& record, const Course& course, std::optional<std::size_t> at) {
        const auto failed = fail(record, kMine, kNow, failure);
        REQUIRE(failed.has_value() == at.has_value());
        if (!at) return;
        CHECK(failed->failures == 1);
        CHECK(failed->failed_at == kNow);
        const bool provision = course.kind == OperationKind::kProvision;
        const bool given_up = *at < course.abandonable && !provision;
        CHECK(failed->operation.has_value() == !given_up);
        if (given_up) return;
        CHECK(failed->operation->error == "no room");
        if (provision) CHECK(failed->operation->generation.empty());
      });
}

TEST_CASE("Transitions: only the holder tells that it is there, and it changes nothing else",
          "[unit][lifecycle]") {
  for_each_combination([](const Record& record, const Course&, std::optional<std::size_t> at) {
    const auto beaten = beat(record, kMine, kNow);
    REQUIRE(beaten.has_value() == at.has_value());
    CHECK_FALSE(beat(record, OperationId("other"), kNow));
    if (!at) return;
    Record same = *beaten;
    same.operation->heartbeat_at = record.operation->heartbeat_at;
    CHECK(to_json(same) == to_json(record));
    CHECK(beaten->operation->heartbeat_at == kNow);
  });
}

TEST_CASE("Transitions: a stop that lets what runs finish says until when; a take-over does not",
          "[unit][lifecycle]") {
  Attempt stopping = attempt("next");
  stopping.drain_for = 10s;
  const auto claimed = claim(base_record(SandboxState::kRunning), OperationKind::kStop, stopping);
  REQUIRE(claimed);
  CHECK(claimed->operation->drain_until == stopping.now + 10s);
  const auto taken = take_over(*claimed, attempt("third"));
  REQUIRE(taken);
  CHECK(taken->operation->drain_until == StoreTime{});
}

TEST_CASE("Transitions: an instance is lost while it is the record's current one",
          "[unit][lifecycle][pain-16]") {
  for_each_combination([](const Record& record, const Course&, std::optional<std::size_t>) {
    CHECK_FALSE(lost(record, Epoch(7)));
  });
  for (const SandboxState state : kAllStates) {
    CHECK(lost(base_record(state), Epoch(7)).has_value() == (state == SandboxState::kRunning));
    CHECK_FALSE(lost(base_record(state), Epoch(6)));
  }
  CHECK(lost(base_record(SandboxState::kRunning), Epoch(7))->state == SandboxState::kStopped);
}

TEST_CASE("Transitions: a live lease forbids stop and archive, not destroy",
          "[unit][lifecycle][pain-20][pain-25]") {
  const OwnerId other("m3/p3");
  const Record used = renew_lease(base_record(SandboxState::kRunning), other, kNow, 60s);
  auto by = attempt("next");
  CHECK_FALSE(claim(used, OperationKind::kStop, by));
  by.leases = LeaseRule::kOthers;
  CHECK_FALSE(claim(used, OperationKind::kStop, by));
  const auto refused = claim(used, OperationKind::kStop, by).error();
  CHECK_THAT(refused.message(), Catch::Contains("for 60 s more"));
  CHECK(refused.retry_after() == 60s);
  by.owner = other;
  CHECK(claim(used, OperationKind::kStop, by));
  by.owner = kOwner;
  by.leases = LeaseRule::kNone;
  CHECK(claim(used, OperationKind::kStop, by)->activity.empty());
  CHECK(claim(used, OperationKind::kDestroy, attempt("next")));
  auto later = attempt("next");
  later.now = kNow + 60s;
  CHECK(claim(used, OperationKind::kStop, later)->activity.empty());
}

TEST_CASE("Transitions: leases are renewed, released and expire", "[unit][lifecycle]") {
  const OwnerId other("m3/p3");
  Record record = renew_lease(base_record(SandboxState::kRunning), kOwner, kNow, 60s);
  record = renew_lease(record, other, kNow + 30s, 60s);
  record = renew_lease(record, kOwner, kNow + 40s, 60s);
  REQUIRE(record.activity.size() == 2);
  CHECK(record.last_active_at == kNow + 40s);
  CHECK(has_live_lease(record, kNow + 95s, OwnerId()));
  CHECK_FALSE(has_live_lease(record, kNow + 95s, kOwner));
  CHECK_FALSE(has_live_lease(record, kNow + 100s, OwnerId()));
  CHECK(release_lease(record, kOwner, kNow + 50s).activity.size() == 1);
  CHECK(release_lease(record, kOwner, kNow + 95s).activity.empty());
}

TEST_CASE("Transitions: the garbage list takes nothing that is in use", "[unit][lifecycle]") {
  const Record record =
      busy_record(SandboxState::kArchived, OperationKind::kRestore, Phase::kClaimed);
  CHECK_FALSE(add_garbage(record, at_sim("made")));
  CHECK_FALSE(add_garbage(record, GarbageSnapshot{snapshot("first")}));
  CHECK_FALSE(add_garbage(record, GarbageAttempt{kMine}));
  CHECK_FALSE(add_garbage(base_record(SandboxState::kRunning), at_sim("old")));
  const Garbage old = at_sim("gone");
  const auto added = add_garbage(record, old);
  REQUIRE(added);
  CHECK(has(*added, old));
  CHECK(add_garbage(*added, old)->garbage.size() == 1);
  CHECK(remove_garbage(*added, old).garbage.empty());
}

TEST_CASE("Transitions: failures add up to needs_attention, and success clears them",
          "[unit][lifecycle]") {
  Record record = base_record(SandboxState::kStopped);
  for (int i = 0; i < 4; ++i)
    record = note_failure(record, kNow, Failure{"broken", true, false, 5});
  CHECK(record.needs_attention.empty());
  record = note_failure(record, kNow, Failure{"broken", true, false, 5});
  CHECK(record.needs_attention == "broken");
  CHECK(note_failure(base_record(SandboxState::kStopped), kNow, Failure{"gone", true, true, 5})
            .needs_attention == "gone");
  CHECK(note_failure(record, kNow, Failure{"called off", false, false, 5}).failures == 5);
  record.operation =
      busy_record(SandboxState::kStopped, OperationKind::kResume, Phase::kInstanceStarted)
          .operation;
  CHECK(complete(record, kMine, kNow)->needs_attention.empty());
}
