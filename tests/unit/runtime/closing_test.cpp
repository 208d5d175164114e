#include <future>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fakes/fake_cove.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::testing::FakeCove;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

bool refused(const Error& error) { return error.code() == ErrorCode::kFailedPrecondition; }

/// Every way in, on handles of a Cove that is closed or not this process's.
bool all_refused(Cove& cove, Workspace& workspace) {
  const SandboxId id = sandbox_id_of(kAna);
  const auto client = workspace.client();
  bool all = refused(cove.acquire(kAna).error()) && refused(cove.stop(id).error()) &&
             refused(cove.archive(id).error()) && refused(cove.destroy(id).error()) &&
             refused(cove.sweep().error()) && refused(cove.status(id).error()) &&
             refused(cove.list().error()) && refused(cove.orphans().error()) &&
             refused(workspace.release().error()) && refused(client.stat("a").error()) &&
             refused(client.exec({.argv = {"x"}}).error()) &&
             refused(client.download("a", [](ByteView) { return ok(); }).error()) &&
             refused(client.upload("a", [] { return Result<Bytes>(Bytes{}); }).error());
  int calls = 0;
  const auto count = [&](auto result) { calls += !result && refused(result.error()) ? 1 : 0; };
  cove.acquire_async(kAna, {}, {}, count);
  cove.status_async(id, {}, count);
  client.read_file_async("a", {}, {}, count);
  const auto handle = client.exec_async({.argv = {"x"}}, {.on_output = {}, .on_done = count});
  handle.resume();
  handle.cancel();
  return all && calls == 4 && cove.doctor().front().level == Finding::Level::kBroken;
}

}  // namespace

TEST_CASE("Cove: after close every call is refused, callbacks are still called",
          "[unit][runtime][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  auto workspace = cove.acquire(kAna).value();
  REQUIRE(cove.close());
  CHECK(all_refused(cove, workspace));
  CHECK(cove.close());
  CHECK(fake.provider->running() == 1);
}

TEST_CASE("Cove: the last copy closes, and workspaces may outlive it", "[unit][runtime][threads]") {
  FakeCove fake;
  std::optional<Cove> cove = fake.open();
  std::optional<Cove> copy = cove;
  const auto workspace = cove->acquire(kAna).value();
  cove.reset();
  CHECK(workspace.client().exec({.argv = {"x"}}));
  copy.reset();
  CHECK(refused(workspace.client().exec({.argv = {"x"}}).error()));
}

TEST_CASE("Cove: close is bounded by its timeout and goes on behind it",
          "[unit][runtime][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  std::promise<void> entered;
  std::promise<void> go;
  auto released = go.get_future().share();
  cove.status_async(sandbox_id_of(kAna), {}, [&entered, released](Result<Record>) {
    entered.set_value();
    released.wait();
  });
  entered.get_future().get();
  const auto late = cove.close(1ms);
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == ErrorCode::kTimeout);
  CHECK(refused(cove.status(sandbox_id_of(kAna)).error()));
  go.set_value();
  CHECK(cove.close(std::chrono::milliseconds::max()));
}

TEST_CASE("Cove: close inside a callback is refused, the last copy's end is not",
          "[unit][runtime][threads]") {
  FakeCove fake;
  std::promise<Result<void>> closed;
  std::promise<std::shared_ptr<Workspace>> kept;
  {
    auto cove = std::make_shared<Cove>(fake.open());
    Cove& alias = *cove;
    alias.acquire_async(kAna, {}, {}, [&, cove = std::move(cove)](Result<Workspace> got) mutable {
      closed.set_value(cove->close());
      kept.set_value(std::make_shared<Workspace>(*got));
      cove.reset();
    });
  }
  CHECK(refused(closed.get_future().get().error()));
  const auto workspace = kept.get_future().get();
  // The end of the last copy refuses calls at once or a moment later; it never blocks or crashes.
  while (workspace->client().exec({.argv = {"x"}})) {
  }
  CHECK(refused(workspace->client().exec({.argv = {"x"}}).error()));
}

TEST_CASE("Cove: close cancels what waits and calls back before it returns",
          "[unit][runtime][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto workspace = cove.acquire(kAna).value();
  fake.provider->set_unreachable(true);  // an acquire now tries again and again
  std::atomic<bool> called{false};
  cove.acquire_async(kAna, {}, {}, [&](Result<Workspace> got) { called = !got; });
  REQUIRE(cove.close());
  CHECK(called);
}

TEST_CASE("Cove: a child of fork() is refused everywhere and harms nothing", "[unit][runtime]") {
  FakeCove fake;
  std::optional<Cove> cove = fake.open();
  std::optional<Workspace> workspace = cove->acquire(kAna).value();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool good = all_refused(*cove, *workspace) && refused(cove->close().error());
    workspace.reset();
    cove.reset();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  CHECK(status == 0);
  CHECK(workspace->client().exec({.argv = {"x"}}));
  CHECK(cove->status(sandbox_id_of(kAna)).value().activity.size() == 1);
  CHECK(fake.provider->starts() == 1);
}
