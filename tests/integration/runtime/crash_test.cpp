// A host that is killed (SIGKILL) right after a named phase of a lifecycle operation, on the real
// provider, store and disk: the next call finishes or abandons what was begun, at once, and no file
// is lost.
#include <csignal>
#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/fixtures/live_cove.hpp"

using namespace cove;
using namespace cove::testing;
using cove::test::ChildProcess;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};
const SandboxId kSandbox = sandbox_id_of(kAna);

/// The hook: kills its own process where the record has just taken the phase.
class KillAt final : public LifecycleObserver {
 public:
  KillAt(OperationKind kind, Phase phase) : kind_(kind), phase_(phase) {}
  void on_event(const LifecycleEvent& event) override {
    if (event.kind == kind_ && event.phase == phase_) ::raise(SIGKILL);
  }

 private:
  OperationKind kind_;
  Phase phase_;
};

struct CrashPoint {
  OperationKind kind;
  Phase phase;
};

void prepare_for(OperationKind kind, const Cove& cove) {
  if (kind == OperationKind::kProvision) return;
  auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  shell(workspace.client(), "echo hello > note.txt");
  workspace.release().value();
  if (kind == OperationKind::kStop) return;
  cove.stop(kSandbox).value();
  if (kind == OperationKind::kRestore) cove.archive(kSandbox).value();
}

void perform(OperationKind kind, const Cove& cove) {
  switch (kind) {
    case OperationKind::kStop: static_cast<void>(cove.stop(kSandbox)); break;
    case OperationKind::kArchive: static_cast<void>(cove.archive(kSandbox)); break;
    case OperationKind::kDestroy: static_cast<void>(cove.destroy(kSandbox)); break;
    default: static_cast<void>(cove.acquire(kAna, {.chat_id = "c1"})); break;
  }
}

/// Dies in the middle of `point.kind`; false where it came through without meeting the point.
bool die_at(const LiveCove& live, const CrashPoint& point) {
  ChildProcess host([&](int output) {
    Parts parts;
    parts.observer = std::make_shared<KillAt>(point.kind, point.phase);
    auto cove = Cove::open(live.config(), std::move(parts)).value();
    perform(point.kind, cove);
    if (::write(output, "!", 1) != 1) ::_exit(1);
  });
  return host.read(1).empty();
}

/// What anybody finds who comes next.
void check_life_after(const LiveCove& live, const CrashPoint& point) {
  auto cove = live.open();
  auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  const bool had_file =
      point.kind != OperationKind::kProvision && point.kind != OperationKind::kDestroy;
  CHECK(shell(workspace.client(), "cat note.txt 2>/dev/null || echo none") ==
        (had_file ? "hello" : "none"));
  workspace.release().value();
  const SweepReport swept = cove.sweep().value();
  CHECK(swept.errors.empty());
  const Record record = cove.status(kSandbox).value();
  CHECK(record.state == SandboxState::kRunning);
  CHECK_FALSE(record.operation);
  CHECK(record.garbage.empty());
  CHECK(cove.orphans().value().volumes.empty());
  CHECK(cove.orphans().value().instances.empty());
}

}  // namespace

TEST_CASE("Cove: a host killed after any phase of any operation loses no file and blocks nobody",
          "[integration][runtime][pain-14][pain-15]") {
  using enum OperationKind;
  using enum Phase;
  const auto point =
      GENERATE(CrashPoint{kProvision, kClaimed}, CrashPoint{kProvision, kVolumeCreated},
               CrashPoint{kProvision, kInstanceStarted}, CrashPoint{kResume, kClaimed},
               CrashPoint{kResume, kInstanceStarted}, CrashPoint{kStop, kClaimed},
               CrashPoint{kStop, kDrained}, CrashPoint{kStop, kInstanceStopped},
               CrashPoint{kArchive, kClaimed}, CrashPoint{kArchive, kArchiveUploaded},
               CrashPoint{kArchive, kProviderDeleted}, CrashPoint{kArchive, kVolumeDeleted},
               CrashPoint{kRestore, kClaimed}, CrashPoint{kRestore, kVolumeCreated},
               CrashPoint{kRestore, kSnapshotRestored}, CrashPoint{kRestore, kInstanceStarted},
               CrashPoint{kDestroy, kClaimed}, CrashPoint{kDestroy, kProviderDeleted},
               CrashPoint{kDestroy, kVolumeDeleted}, CrashPoint{kDestroy, kArchiveDeleted});
  INFO(name_of(point.kind) << " at " << name_of(point.phase));
  const LiveCove live;
  {
    auto cove = live.open();
    prepare_for(point.kind, cove);
    cove.close().value();
  }
  REQUIRE(die_at(live, point));
  check_life_after(live, point);
}
