#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include <catch2/catch.hpp>

#include "base/system/system_clock.hpp"
#include "metadata/memory/memory_store.hpp"
#include "support/fakes/counting_store.hpp"
#include "support/fakes/fake_cove.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::testing::CountingStore;
using cove::testing::FakeCove;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

std::size_t times(const std::vector<std::string>& calls, const std::string& name) {
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), name));
}

/// A step that counts.
PrepareStep counting(std::atomic<int>& count, const std::string& fingerprint = "1") {
  PrepareStep step;
  step.name = "count";
  step.fingerprint = fingerprint;
  step.apply = [&count](PrepareContext& /*context*/) -> Task<Result<void>> {
    ++count;
    co_return ok();
  };
  return step;
}

AcquireOptions with(PrepareStep step, const std::string& chat = "c1") {
  AcquireOptions options;
  options.chat_id = chat;
  options.prepare.steps = {std::move(step)};
  return options;
}

}  // namespace

TEST_CASE("CovePrepare: an acquire prepares once, and says what it did",
          "[unit][runtime][prepare]") {
  FakeCove fake;
  auto cove = fake.open();
  std::atomic<int> count{0};
  const auto first = cove.acquire(kAna, with(counting(count))).value();
  const PrepareReport report = first.prepare_report();
  CHECK(report.path == PreparePath::kRun);
  REQUIRE(report.steps.size() == 2);
  CHECK(report.steps[0].step == "directories/sessions/c1");
  CHECK(report.steps[1].step == "host/count");
  CHECK(report.steps[1].outcome == StepOutcome::kApplied);

  const std::size_t before = fake.provider->guest_calls().size();
  const auto again = cove.acquire(kAna, with(counting(count))).value();
  CHECK(again.prepare_report().path == PreparePath::kRemembered);
  CHECK(fake.provider->guest_calls().size() == before);
  CHECK(count == 1);
}

TEST_CASE("CovePrepare: a warm acquire costs one swap and one round trip in another process",
          "[unit][runtime][prepare]") {
  const base::SystemClock clock;
  const auto store = std::make_shared<CountingStore>(metadata::make_memory_store(clock));
  FakeCove fake;
  auto cove = fake.open(fake.config(), {.metadata = store});
  std::atomic<int> count{0};
  // Held on to: what lets go of it would write when it likes.
  const auto first = cove.acquire(kAna, with(counting(count))).value();
  store->wait_for_lease_writes(2);  // its lease is taken and given back
  auto elsewhere = fake.open(fake.config(), {.metadata = store});
  const std::size_t asked = fake.provider->guest_calls().size();
  store->writes = 0;
  const auto workspace = elsewhere.acquire(kAna, with(counting(count))).value();
  CHECK(workspace.prepare_report().path == PreparePath::kUnchanged);
  const auto calls = fake.provider->guest_calls();
  CHECK(std::vector<std::string>(calls.begin() + static_cast<std::ptrdiff_t>(asked), calls.end()) ==
        std::vector<std::string>{"read_file"});
  CHECK(store->writes == 1);

  store->writes = 0;
  REQUIRE(elsewhere.acquire(kAna, with(counting(count))));
  CHECK(fake.provider->guest_calls().size() == calls.size());
  CHECK(store->writes <= 1);
  CHECK(count == 1);
}

TEST_CASE("CovePrepare: wrong inputs are refused before anything is started",
          "[unit][runtime][prepare]") {
  FakeCove fake;
  auto cove = fake.open();
  AcquireOptions options;
  options.prepare.mirrors.npm = "nonsense";
  const auto refused = cove.acquire(kAna, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  options = {};
  options.prepare.files = {
      {.name = "x", .content = HostPath{fake.scratch / "none"}, .fingerprint = {}}};
  CHECK(cove.acquire(kAna, options).error().code() == ErrorCode::kNotFound);
  CHECK(fake.provider->starts() == 0);
}

TEST_CASE("CovePrepare: every command gets the variables, below its own",
          "[unit][runtime][prepare]") {
  FakeCove fake;
  auto cove = fake.open();
  AcquireOptions options;
  options.prepare.environment.variables = {{"A", "1"}, {"B", "2"}};
  options.prepare.environment.secrets = {{"TOKEN", "s3cr3t"}};
  const auto workspace = cove.acquire(kAna, options).value();
  std::map<std::string, std::string> seen;
  fake.provider->only_guest()->on_run = [&seen](const std::string& /*session*/,
                                                const ExecSpec& spec) -> Result<ExecResult> {
    seen = spec.env;
    return ExecResult{};
  };
  REQUIRE(workspace.client().exec({.argv = {"x"}, .env = {{"B", "own"}}}));
  CHECK(seen == std::map<std::string, std::string>{{"A", "1"}, {"B", "own"}, {"TOKEN", "s3cr3t"}});
  // Without anything else to prepare nothing is asked of the guest for it.
  CHECK(times(fake.provider->guest_calls(), "read_file") == 0);
}

TEST_CASE("CovePrepare: a required step that fails is the acquire's error, and holds nothing",
          "[unit][runtime][prepare]") {
  FakeCove fake;
  auto cove = fake.open();
  std::atomic<int> tries{0};
  PrepareStep step;
  step.name = "must";
  step.fingerprint = "1";
  step.apply = [&tries](PrepareContext& context) -> Task<Result<void>> {
    ++tries;
    context.output = "why";
    co_return Error(ErrorCode::kUnavailable, "not today");
  };
  const auto refused = cove.acquire(kAna, with(step));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
  CHECK(refused.error().context() == Error::Context{{"step", "host/must"}, {"output", "why"}});
  // It is no reason to look for another guest, nor to try again by itself.
  CHECK(tries == 1);
  CHECK(fake.provider->starts() == 1);
  CHECK(cove.acquire(kAna).value().release());
  CHECK(cove.status(sandbox_id_of(kAna)).value().activity.empty());
}

TEST_CASE("CovePrepare: a step's own client reaches the guest that is prepared",
          "[unit][runtime][prepare][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  std::promise<std::string> heard;
  std::thread worker;
  PrepareStep step;
  step.name = "client";
  step.fingerprint = "1";
  step.apply = [&](PrepareContext& context) -> Task<Result<void>> {
    const auto done = base::Completion<Result<void>>::make(context.scheduler);
    const SandboxClient client = context.workspace->client();
    worker = std::thread([client, done, &heard] {
      const auto result = client.exec({.argv = {"x"}});
      heard.set_value(result ? result->out.head : result.error().describe());
      done->complete(ok());
    });
    co_return co_await base::wait_bounded<void>(done, context.scheduler, context.call);
  };
  const auto workspace = cove.acquire(kAna, with(step));
  worker.join();
  REQUIRE(workspace);
  CHECK(heard.get_future().get() == "sessions/c1:x");
}

TEST_CASE("CovePrepare: whatever a step's client does is done under the preparation's lease",
          "[unit][runtime][prepare][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  std::uint64_t token = 0;
  std::size_t before = 0;
  std::thread worker;
  PrepareStep step;
  step.name = "client";
  step.fingerprint = "1";
  step.apply = [&](PrepareContext& context) -> Task<Result<void>> {
    token = context.call.fence;
    before = fake.provider->only_guest()->log.fences.size();
    const auto done = base::Completion<Result<void>>::make(context.scheduler);
    const SandboxClient client = context.workspace->client();
    const CallContext call = context.call;
    worker = std::thread([client, call, done] {
      // With the step's context and with one of its own; blocking, by callback, and streamed.
      CHECK(client.exec({.argv = {"x"}}));
      CHECK(client.exec({.argv = {"x"}}, call));
      CHECK(client.write_file("note", testing::bytes_of("text")));
      std::promise<void> streamed;
      ExecCallbacks callbacks;
      callbacks.on_done = [&](Result<ExecResult>) { streamed.set_value(); };
      const ExecHandle running = client.exec_async({.argv = {"x"}}, std::move(callbacks), call);
      streamed.get_future().wait();
      std::promise<void> poured;
      DownloadCallbacks pieces;
      pieces.on_piece = [](ByteView) { return Flow::kContinue; };
      pieces.on_done = [&](Result<void>) { poured.set_value(); };
      const DownloadHandle download = client.download_async("note", std::move(pieces), call);
      poured.get_future().wait();
      done->complete(ok());
    });
    co_return co_await base::wait_bounded<void>(done, context.scheduler, context.call);
  };
  const auto workspace = cove.acquire(kAna, with(step));
  worker.join();
  REQUIRE(workspace);
  CHECK(token > 0);
  const testing::FakeGuestLog& log = fake.provider->only_guest()->log;
  REQUIRE(log.fences.size() >= before + 5);
  for (std::size_t i = before; i < log.fences.size(); ++i) {
    INFO(log.calls[i]);
    CHECK(log.fences[i] == token);
  }
}

TEST_CASE("CovePrepare: a step whose instance ends meanwhile does not wait for itself",
          "[unit][runtime][prepare][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  std::atomic<int> runs{0};
  std::vector<std::thread> workers;
  PrepareStep step;
  step.name = "killer";
  step.fingerprint = "1";
  step.apply = [&](PrepareContext& context) -> Task<Result<void>> {
    if (++runs > 1) co_return ok();
    fake.provider->only_guest()->faults = {Error(ErrorCode::kUnavailable, "gone"),
                                           Error(ErrorCode::kUnavailable, "gone")};
    fake.provider->kill_all();
    const auto done = base::Completion<Result<void>>::make(context.scheduler);
    const SandboxClient client = context.workspace->client();
    workers.emplace_back([client, done] {
      const auto result = client.exec({.argv = {"x"}});
      done->complete(result ? Result<void>(ok()) : result.error());
    });
    co_return co_await base::wait_bounded<void>(done, context.scheduler, context.call);
  };
  const auto workspace = cove.acquire(kAna, with(step));
  for (auto& worker : workers) worker.join();
  REQUIRE(workspace);
  CHECK(runs == 2);
  CHECK(fake.provider->starts() == 2);
}

TEST_CASE("CovePrepare: a handle whose sandbox wakes on another instance is prepared again",
          "[unit][runtime][prepare]") {
  FakeCove fake;
  auto cove = fake.open();
  std::atomic<int> count{0};
  const auto ana = cove.acquire(kAna, with(counting(count))).value();
  const auto other = cove.acquire(kAna, {.chat_id = "c2"}).value();
  fake.provider->kill_all();
  // The other handle wakes it; its own inputs are prepared, which are none.
  REQUIRE(other.client().exec({.argv = {"x"}}));
  CHECK(count == 1);
  REQUIRE(ana.client().exec({.argv = {"x"}}));
  CHECK(count == 2);
  CHECK(ana.prepare_report().path == PreparePath::kRun);
  REQUIRE(ana.client().exec({.argv = {"x"}}));
  CHECK(count == 2);
}

TEST_CASE("CovePrepare: of ten chats at once one applies what they have in common",
          "[unit][runtime][prepare][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  std::atomic<int> count{0};
  std::atomic<int> good{0};
  std::atomic<int> left{10};
  std::promise<void> all;
  for (int i = 0; i < 10; ++i) {
    cove.acquire_async(kAna, with(counting(count), "c" + std::to_string(i)), {},
                       [&](Result<Workspace> got) {
                         if (got) ++good;
                         if (--left == 0) all.set_value();
                       });
  }
  all.get_future().get();
  CHECK(good == 10);
  CHECK(count == 1);
  REQUIRE(cove.close());
}

TEST_CASE("CovePrepare: a best-effort step that fails is told to the log",
          "[unit][runtime][prepare]") {
  struct Log final : LogSink {
    std::string text;
    void write(LogLevel level, std::string_view message) override {
      if (level == LogLevel::kWarning) text += message;
    }
  };
  FakeCove fake;
  const auto log = std::make_shared<Log>();
  auto cove = fake.open(fake.config(), {.log = log});
  PrepareStep step;
  step.name = "weak";
  step.fingerprint = "1";
  step.policy = StepPolicy::kBestEffort;
  step.apply = [](PrepareContext& /*context*/) -> Task<Result<void>> {
    co_return Error(ErrorCode::kProvider, "broken");
  };
  const auto workspace = cove.acquire(kAna, with(step)).value();
  CHECK(workspace.prepare_report().failed());
  CHECK(log->text ==
        "prepare of " + sandbox_id_of(kAna).str() + ": step 'host/weak' failed: broken");
}

TEST_CASE("CovePrepare: a session's directory that a command removed is made again",
          "[unit][runtime][prepare]") {
  FakeCove fake;
  auto cove = fake.open();
  std::atomic<int> count{0};
  const auto made = [&] { return times(fake.provider->guest_calls(), "make_directory"); };
  const auto workspace = cove.acquire(kAna, with(counting(count))).value();
  CHECK(made() == 1);
  CHECK(workspace.client().read_file("none").error().code() == ErrorCode::kNotFound);
  REQUIRE(cove.acquire(kAna, with(counting(count))));
  CHECK(made() == 2);
  CHECK(count == 1);
}
