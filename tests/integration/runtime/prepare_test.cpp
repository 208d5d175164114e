#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

#include <catch2/catch.hpp>

#include "support/fixtures/live_cove.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;
namespace fs = std::filesystem;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

Bytes bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

/// An acquire of chat c1 with this init script.
AcquireOptions with_script(std::string text) {
  AcquireOptions options;
  options.chat_id = "c1";
  options.prepare.init = InitScript{.text = std::move(text), .version = {}, .cwd = {}};
  return options;
}

std::string outcome_of(const PrepareReport& report, const std::string& step) {
  for (const StepReport& one : report.steps) {
    if (one.step == step) return std::string(name_of(one.outcome)) + ": " + one.reason;
  }
  return "(none)";
}

/// Whether any file below `folder` holds `text`.
bool holds(const fs::path& folder, const std::string& text) {
  std::error_code none;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, none), end; !none && at != end;
       at.increment(none)) {
    if (!at->is_regular_file(none)) continue;
    std::ifstream file(at->path(), std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)),
                              std::istreambuf_iterator<char>());
    if (content.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("LivePrepare: script, files and environment are there when the workspace is handed out",
          "[integration][prepare]") {
  const LiveCove live;
  auto cove = live.open();
  auto options = with_script("echo \"$MODE\" > made.txt; date +%Z > zone.txt; echo told >&2");
  options.prepare.files = {{.name = "../数据.csv", .content = bytes("1,2\n"), .fingerprint = {}}};
  options.prepare.environment.variables = {{"MODE", "demo"}};
  options.prepare.environment.time_zone = "UTC+3";
  const auto workspace = cove.acquire(kAna, options).value();
  const PrepareReport report = workspace.prepare_report();
  CHECK(outcome_of(report, "app_init") == "applied: ");
  CHECK(report.steps.back().output == "told\n");
  REQUIRE(report.input_files == std::vector<std::string>{"sessions/c1/user_files/数据.csv"});
  const SandboxClient client = workspace.client();
  CHECK(shell(client, "cat /workspace/made.txt; echo $MODE; cat user_files/数据.csv") ==
        "demo\ndemo\n1,2");
  CHECK(shell(client, "cat /workspace/zone.txt; date +%Z") == "UTC\nUTC");
  CHECK(shell(client, "stat -c %a ~/.cove/state.json") == "600");
}

TEST_CASE("LivePrepare: another process finds all done, and a wake prepares again",
          "[integration][prepare]") {
  const LiveCove live;
  auto options = with_script("echo ran >> /workspace/log; echo x > ~/.mark");
  options.prepare.files = {{.name = "a.txt", .content = bytes("one"), .fingerprint = {}}};
  SandboxId sandbox;
  {
    auto cove = live.open();
    auto workspace = cove.acquire(kAna, options).value();
    sandbox = workspace.sandbox_id();
    CHECK(workspace.prepare_report().path == PreparePath::kRun);
    REQUIRE(workspace.release());
  }
  auto cove = live.open();
  {
    auto workspace = cove.acquire(kAna, options).value();
    CHECK(workspace.prepare_report().path == PreparePath::kUnchanged);
    CHECK(shell(workspace.client(), "wc -l < /workspace/log") == "1");
    REQUIRE(workspace.release());
  }
  REQUIRE(cove.stop(sandbox));
  {
    // The same volume, so the same HOME.
    auto workspace = cove.acquire(kAna, options).value();
    CHECK(workspace.work() == AcquireWork::kResumed);
    CHECK(workspace.prepare_report().path == PreparePath::kUnchanged);
    REQUIRE(workspace.release());
  }
  REQUIRE(cove.archive(sandbox));
  const auto workspace = cove.acquire(kAna, options).value();
  CHECK(workspace.work() == AcquireWork::kRestored);
  const PrepareReport report = workspace.prepare_report();
  CHECK(report.path == PreparePath::kRun);
  CHECK(outcome_of(report, "input_files/sessions/c1") == "applied: 0 written, 1 there already");
  CHECK(shell(workspace.client(), "wc -l < /workspace/log; cat ~/.mark; ls user_files") ==
        "2\nx\na.txt");
}

TEST_CASE("LivePrepare: ten chats of two processes at once run the script once",
          "[integration][prepare][threads]") {
  const LiveCove live;
  auto first = live.open();
  auto second = live.open();
  std::atomic<int> left{10};
  std::atomic<int> good{0};
  std::promise<void> all;
  for (int i = 0; i < 10; ++i) {
    auto options = with_script("echo ran >> /workspace/log; sleep 0.3");
    options.chat_id = "c" + std::to_string(i);
    const Cove& cove = i % 2 == 0 ? first : second;
    cove.acquire_async(kAna, options, {}, [&](Result<Workspace> got) {
      if (got) ++good;
      if (--left == 0) all.set_value();
    });
  }
  all.get_future().get();
  CHECK(good == 10);
  const auto workspace = first.acquire(kAna).value();
  CHECK(shell(workspace.client(), "wc -l < log") == "1");
  CHECK(shell(workspace.client(), "ls sessions | wc -l") == "10");
}

TEST_CASE("LivePrepare: a script that fails or hangs blocks nobody, and is left alone for a while",
          "[integration][prepare]") {
  const LiveCove live;
  auto cove = live.open();
  const auto failing = with_script("echo ran >> /workspace/log; echo why >&2; exit 3");
  const auto workspace = cove.acquire(kAna, failing).value();
  const PrepareReport report = workspace.prepare_report();
  CHECK(report.failed());
  CHECK(outcome_of(report, "app_init") == "failed: the script ended with exit code 3");
  CHECK(report.steps.back().output == "why\n");
  CHECK(report.steps.back().retry_after == 30s);
  auto other = live.open();
  const auto again = other.acquire(kAna, failing).value();
  CHECK_FALSE(again.prepare_report().failed());
  CHECK(again.prepare_report().steps.back().retry_after.has_value());
  CHECK(shell(again.client(), "wc -l < /workspace/log") == "1");

  auto hanging = with_script("(sleep 1000; touch late) & wait");
  hanging.prepare.init->timeout = 1s;
  const auto cut = cove.acquire(kAna, hanging).value();
  CHECK(outcome_of(cut.prepare_report(), "app_init") ==
        "failed: the script took longer than its 1000 ms");
  CHECK(shell(cut.client(), "pgrep -c sleep || true") == "0");
}

TEST_CASE("LivePrepare: secrets reach commands and nothing that stays",
          "[integration][prepare][security]") {
  struct Log final : LogSink {
    std::mutex mutex;
    std::string text;
    void write(LogLevel /*level*/, std::string_view message) override {
      const std::lock_guard lock(mutex);
      text.append(message).append("\n");
    }
  };
  const std::string secret = "s3cr3t-0123456789abcdef";
  const std::string in_workspace = "mark-of-the-workspace-0123456789";
  const std::string in_home = "mark-of-the-home-0123456789";
  const LiveCove live;
  const auto log = std::make_shared<Log>();
  auto cove = Cove::open(live.config(), {.log = log}).value();
  auto options = with_script("set -x; echo \"token is $TOKEN\"; exit 1");
  options.prepare.environment.secrets = {{"TOKEN", secret}};
  std::string heard;
  options.prepare.observer = [&heard](const PrepareEvent& event) {
    heard += event.text;
    if (event.report) heard += event.report->reason + event.report->output;
  };
  PrepareStep leak;
  leak.name = "leak";
  leak.fingerprint = "1";
  leak.policy = StepPolicy::kBestEffort;
  leak.apply = [](PrepareContext& context) -> Task<Result<void>> {
    context.note = context.env.at("TOKEN");
    co_return Error(ErrorCode::kProvider, "bad " + context.env.at("TOKEN"));
  };
  options.prepare.steps = {leak};
  auto workspace = cove.acquire(kAna, options).value();
  CHECK(shell(workspace.client(), "echo $TOKEN") == secret);
  // What the search must find shows that it looks into the volume's files, in both of its roots.
  shell(workspace.client(), "echo " + in_workspace + " > mark; echo " + in_home + " > ~/mark");
  const auto is_on_disk = [&live](const std::string& text) {
    return holds(live.state_directory(), text);
  };
  CHECK(is_on_disk(in_workspace));
  CHECK(is_on_disk(in_home));
  CHECK_FALSE(is_on_disk(secret));
  std::string told = heard;
  for (const StepReport& step : workspace.prepare_report().steps) {
    told += step.reason + step.output;
    if (step.error) told += step.error->describe();
  }
  CHECK(told.find("token is ***") != std::string::npos);
  CHECK(told.find(secret) == std::string::npos);
  REQUIRE(workspace.release());
  REQUIRE(cove.stop(workspace.sandbox_id()));
  CHECK(is_on_disk(in_workspace));
  CHECK(is_on_disk(in_home));
  CHECK_FALSE(is_on_disk(secret));
  REQUIRE(cove.archive(workspace.sandbox_id()));
  REQUIRE(cove.close());
  CHECK(log->text.find("***") != std::string::npos);
  CHECK(log->text.find(secret) == std::string::npos);
  CHECK_FALSE(holds(live.state_directory(), secret));
}

TEST_CASE("LivePrepare: what is inside cannot lead the state file elsewhere",
          "[integration][prepare][security]") {
  const LiveCove live;
  auto cove = live.open();
  const auto options = with_script("echo ran >> /workspace/log");
  const auto count = [&](const char* damage) {
    {
      auto workspace = cove.acquire(kAna).value();
      shell(workspace.client(), damage);
      REQUIRE(workspace.release());
    }
    auto fresh = live.open();
    const auto workspace = fresh.acquire(kAna, options).value();
    return shell(workspace.client(), "wc -l < /workspace/log");
  };
  CHECK(count("true") == "1");
  CHECK(count("true") == "1");
  CHECK(count("rm -rf ~/.cove && ln -s /workspace ~/.cove") == "2");
  CHECK(count("test ! -e /workspace/state.json && rm ~/.cove") == "3");
  CHECK(count("rm ~/.cove/state.json && mkfifo ~/.cove/state.json") == "4");
  CHECK(count("rm -f ~/.cove/state.json && ln -s /etc/passwd ~/.cove/state.json") == "5");
  CHECK(count("chmod 000 ~/.cove") == "6");
}

TEST_CASE("LivePrepare: files of HOME are reached by their own root only",
          "[integration][prepare][security]") {
  const LiveCove live;
  auto cove = live.open();
  AcquireOptions options;
  PrepareStep step;
  step.name = "home";
  step.fingerprint = "1";
  std::vector<ErrorCode> codes;
  step.apply = [&codes](PrepareContext& context) -> Task<Result<void>> {
    const GuestPath good{"", ".config/tool/rc", GuestRoot::kHome};
    const ReadRange whole;
    const GuestPath folder{"", ".config/tool", GuestRoot::kHome};
    COVE_CO_TRY_VOID(co_await context.guest.make_directory(folder, context.call));
    const std::vector<GuestPath> bad{{"", "../../etc/passwd", GuestRoot::kHome},
                                     {"", "/workspace/x", GuestRoot::kHome},
                                     {"", "/etc/passwd", GuestRoot::kHome},
                                     {"", "/home/sandbox/.cove/state.json", GuestRoot::kWorkspace}};
    for (const GuestPath& path : bad) {
      const auto read = co_await context.guest.read_file(path, whole, context.call);
      codes.push_back(read ? ErrorCode::kInternal : read.error().code());
    }
    const GuestPath inside{"", "x", GuestRoot::kWorkspace};
    const MoveOptions moving;
    const auto moved = co_await context.guest.move(good, inside, moving, context.call);
    codes.push_back(moved ? ErrorCode::kInternal : moved.error().code());
    co_return ok();
  };
  options.prepare.steps = {step};
  const auto workspace = cove.acquire(kAna, options).value();
  const auto escape = ErrorCode::kPathEscape;
  CHECK(codes ==
        std::vector<ErrorCode>{escape, escape, escape, escape, ErrorCode::kInvalidArgument});
  CHECK(shell(workspace.client(), "test -d ~/.config/tool && stat -c %U ~/.config") ==
        shell(workspace.client(), "id -un"));
}
