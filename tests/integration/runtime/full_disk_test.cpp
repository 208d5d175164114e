// The disk of the state directory is full: what gives room back still works.
#include <filesystem>
#include <stdexcept>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/fixtures/live_cove.hpp"
#include "support/skip.hpp"
#include "support/trees/small_disk.hpp"

using namespace cove;
using namespace cove::testing;
using cove::test::ChildProcess;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};
const WorkspaceKey kBob{"app", "demo", "bob"};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void require(const Result<void>& done, const std::string& what) {
  if (!done) throw std::runtime_error(what + ": " + done.error().describe());
}

void use_two_users(const LiveCove& live) {
  auto cove = live.open();
  for (const WorkspaceKey& key : {kAna, kBob}) {
    const auto workspace = cove.acquire(key).value();
    shell(workspace.client(), "echo kept > note.txt; head -c 6000000 /dev/urandom > data");
  }
}

void stop_archive_and_destroy(const LiveCove& live) {
  const SandboxId ana = sandbox_id_of(kAna);
  auto cove = live.open();
  require(cove.stop(ana), "stop");
  const auto archived = cove.archive(ana);
  require(!archived && archived.error().code() == ErrorCode::kQuotaExceeded, "archive fits");
  require(cove.status(ana)->state == SandboxState::kStopped, "not as it was");
  require(cove.destroy(sandbox_id_of(kBob)), "destroy");
}

/// What is left of the reserve was taken by others meanwhile; with the filler gone all is well.
void wake(const LiveCove& live) {
  auto cove = live.open();
  const auto workspace = cove.acquire(kAna).value();
  require(shell(workspace.client(), "cat note.txt") == "kept", "lost");
  require(std::filesystem::exists(live.state_directory() + "/reserve"), "no reserve");
}

void archive_ana(const LiveCove& live) {
  auto cove = live.open();
  const auto workspace = cove.acquire(kAna).value();
  shell(workspace.client(), "echo kept > note.txt; head -c 6000000 /dev/urandom > data");
  shell(workspace.client(), "sha256sum data > sum");
  require(cove.stop(sandbox_id_of(kAna)), "stop");
  require(cove.archive(sandbox_id_of(kAna)), "archive");
}

/// Twice: the second finds what the first left.
void fail_to_wake(const LiveCove& live) {
  for (int i = 0; i < 2; ++i) {
    auto cove = live.open();
    const auto workspace = cove.acquire(kAna);
    require(!workspace, "the archive fits");
    require(workspace.error().code() == ErrorCode::kQuotaExceeded, workspace.error().describe());
    require(cove.status(sandbox_id_of(kAna))->state == SandboxState::kArchived, "not as it was");
  }
}

void wake_whole(const LiveCove& live) {
  auto cove = live.open();
  const auto workspace = cove.acquire(kAna).value();
  require(shell(workspace.client(), "cat note.txt") == "kept", "lost");
  require(shell(workspace.client(), "sha256sum -c sum") == "data: OK", "not whole");
  require(cove.destroy(sandbox_id_of(kAna)), "destroy at the end");
}

}  // namespace

TEST_CASE("Cove: on a full disk a sandbox is stopped and destroyed, and an archive leaves it whole",
          "[integration][runtime][pain-77]") {
  if (::geteuid() != 0) return cove::test::skip("only root has a small disk with sandboxes on it");
  LiveCove live;
  const std::string disk = std::filesystem::path(live.state_directory()).parent_path();
  ChildProcess child([&](int) {
    require(cove::test::mount_small_disk(disk, "40m"), "no small disk");
    use_two_users(live);
    require(std::filesystem::exists(live.state_directory() + "/reserve"), "no reserve");
    cove::test::fill_disk(disk + "/filler");
    stop_archive_and_destroy(live);
    std::filesystem::remove(disk + "/filler");
    wake(live);
    auto cove = live.open();
    require(cove.destroy(sandbox_id_of(kAna)), "destroy at the end");
  });
  CHECK(child.wait().empty());
}

TEST_CASE("Cove: on a full disk an archived workspace stays archived, and wakes when there is room",
          "[integration][runtime]") {
  if (::geteuid() != 0) return cove::test::skip("only root has a small disk with sandboxes on it");
  LiveCove live;
  const std::string disk = std::filesystem::path(live.state_directory()).parent_path();
  ChildProcess child([&](int) {
    require(cove::test::mount_small_disk(disk, "40m"), "no small disk");
    archive_ana(live);
    cove::test::fill_disk(disk + "/filler");
    fail_to_wake(live);
    std::filesystem::remove(disk + "/filler");
    wake_whole(live);
  });
  CHECK(child.wait().empty());
}
