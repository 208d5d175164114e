// A host that is killed (SIGKILL) in the middle of an archive's upload or a restore's extraction,
// at every step of the object store: the next call works at once and no file is lost.
#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "base/async/io_loop.hpp"
#include "base/async/worker_pool.hpp"
#include "objects/directory/directory_objects.hpp"
#include "support/child_process.hpp"
#include "support/fakes/fault_object_store.hpp"
#include "support/fixtures/live_cove.hpp"

using namespace cove;
using namespace cove::testing;
using cove::test::ChildProcess;
using cove::test::FaultKind;
using cove::test::FaultObjectStore;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};
const SandboxId kSandbox = sandbox_id_of(kAna);

/// The store that the configuration would make, made by hand so that it can be stepped on.
struct HostStore {
  explicit HostStore(const LiveCove& live)
      : inner(objects::open_directory_objects(live.state_directory() + "/objects", pool, loop)
                  .value()) {}

  base::IoLoop loop;
  base::WorkerPool pool{2};
  std::unique_ptr<ObjectStore> inner;
};

/// Runs `work` in a process that dies at the store's step `n`; false where it came to its end.
bool dies_at_step(const LiveCove& live, int n, void (*work)(const Cove&)) {
  ChildProcess host([&](int output) {
    HostStore store(live);
    const auto deadly = std::make_shared<FaultObjectStore>(*store.inner);
    Parts parts;
    parts.objects = deadly;
    auto cove = Cove::open(live.config(), std::move(parts)).value();
    deadly->fail_at(n, FaultKind::kKill);
    work(cove);
    if (::write(output, "!", 1) != 1) ::_exit(1);
    ::_exit(0);
  });
  return host.read(1).empty();
}

// Random, so that the archive is as large as the files: several pieces of 256 KiB.
constexpr const char* kMakeFiles =
    "mkdir -p data/deep && for i in 1 2 3 4 5 6 7 8; do head -c 200000 /dev/urandom > "
    "data/deep/$i.bin; done; ln -s 1.bin data/deep/link; find data | sort > list.txt; "
    "sha256sum data/deep/* > sums.txt";

constexpr const char* kCheckFiles =
    "sha256sum --quiet -c sums.txt && find data | sort | cmp - list.txt && echo whole";

void check_life_after(const LiveCove& live) {
  auto cove = live.open();
  auto workspace = cove.acquire(kAna).value();
  CHECK(shell(workspace.client(), kCheckFiles) == "whole");
  workspace.release().value();
  CHECK(cove.sweep().value().errors.empty());
  const Record record = cove.status(kSandbox).value();
  CHECK_FALSE(record.operation);
  CHECK(record.garbage.empty());
  CHECK(cove.orphans().value().volumes.empty());
  cove.close().value();
}

void stop_in_order(const LiveCove& live, bool then_archive) {
  auto cove = live.open();
  // A host that died after its acquire still has a lease.
  cove.stop(kSandbox, StopDrain::kCancel).value();
  if (then_archive) cove.archive(kSandbox).value();
  cove.close().value();
}

LiveCove& with_files(LiveCove& live) {
  auto cove = live.open();
  auto workspace = cove.acquire(kAna).value();
  shell(workspace.client(), kMakeFiles);
  workspace.release().value();
  cove.close().value();
  return live;
}

}  // namespace

TEST_CASE("Cove: a host killed anywhere in an upload loses no file",
          "[integration][runtime][slow]") {
  LiveCove live;
  with_files(live);
  int steps = 0;
  for (bool died = true; died; ++steps) {
    INFO("step " << steps);
    stop_in_order(live, false);
    died = dies_at_step(live, steps, [](const Cove& cove) { cove.archive(kSandbox).value(); });
    check_life_after(live);
  }
  CHECK(steps > 10);  // the upload was met, not only the calls around it
}

TEST_CASE("Cove: a host killed anywhere in an extraction loses no file",
          "[integration][runtime][slow]") {
  LiveCove live;
  with_files(live);
  int steps = 0;
  for (bool died = true; died; ++steps) {
    INFO("step " << steps);
    stop_in_order(live, true);
    died = dies_at_step(live, steps, [](const Cove& cove) { cove.acquire(kAna).value(); });
    check_life_after(live);
  }
  CHECK(steps > 10);
}
