/// cove_prepare: what an acquire is asked to prepare, and steps that the host answers.
#include <cstring>

#include <nlohmann/json.hpp>

#include "handles.hpp"
#include "support.hpp"
#include "support/fakes/stepped_scheduler.hpp"

using namespace std::chrono_literals;
using namespace cove;

namespace {

using PrepareHandle = std::unique_ptr<cove_prepare, FreeBy<cove_prepare_free>>;

PrepareHandle make_prepare() {
  cove_prepare* prepare = nullptr;
  REQUIRE(cove_prepare_create(&prepare, nullptr) == COVE_OK);
  return PrepareHandle(prepare);
}

/// Acquires, and gives what the facade was asked to prepare.
PrepareInputs& acquire_with(const CoveHandle& cove, const PrepareHandle& prepare,
                            WorkspaceHandle& out) {
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  options.prepare = prepare.get();
  cove_workspace* workspace = nullptr;
  REQUIRE(cove_acquire(cove.get(), &kAna, &options, &workspace, nullptr) == COVE_OK);
  out.reset(workspace);
  return fake::world().acquire.prepare;
}

/// Runs the only step of `inputs` as the pipeline would.
struct StepWorld {
  test::SteppedScheduler scheduler;
  std::string told;
  std::string reason;
  std::string output;
  std::string note = "before";
  bool nothing_to_do = false;
  CallContext call;

  Result<void> run(const PrepareInputs& inputs, const Workspace& workspace, Guest& guest) {
    const std::string session;
    const std::map<std::string, std::string> env;
    PrepareContext context{.guest = guest,
                           .scheduler = scheduler,
                           .clock = scheduler,
                           .call = call,
                           .session = session,
                           .env = env,
                           .workspace = &workspace,
                           .note = note,
                           .reason = {},
                           .output = {},
                           .nothing_to_do = false,
                           .tell = [this](std::string text) { told += text; }};
    Result<void> done = scheduler.run(inputs.steps.at(0).apply(context));
    note = context.note;
    reason = context.reason;
    output = context.output;
    nothing_to_do = context.nothing_to_do;
    return done;
  }
};

/// Stands where no guest is asked.
Guest& no_guest() { return *reinterpret_cast<Guest*>(&fake::world()); }

struct Asked {
  Heard heard;
  std::vector<cove_step_run*> runs;
};

void keep_run(void* user_data, cove_step_run* run) {
  static_cast<Asked*>(user_data)->runs.push_back(run);
}

void finish_at_once(void* user_data, cove_step_run* run) {
  auto& asked = *static_cast<Asked*>(user_data);
  asked.heard.text = cove_step_run_note(run);
  CHECK(cove_step_run_workspace(run) != nullptr);
  CHECK(cove_step_run_is_over(run) == 0);
  CHECK(cove_step_run_tell(run, "half", nullptr) == COVE_OK);
  cove_step_result result = COVE_STEP_RESULT_INIT;
  result.reason = "all good";
  result.output = "printed";
  result.note = "after";
  CHECK(cove_step_run_finish(run, &result, nullptr) == COVE_OK);
  CHECK(cove_step_run_finish(run, &result, nullptr) == COVE_FAILED_PRECONDITION);
  CHECK(cove_step_run_fail(run, COVE_INTERNAL, "no", nullptr, nullptr) == COVE_FAILED_PRECONDITION);
  cove_step_run_free(run);
}

void fail_at_once(void* /*user_data*/, cove_step_run* run) {
  CHECK(cove_step_run_fail(run, 99, "no", nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_step_run_fail(run, COVE_NOT_FOUND, "no such font", "log", nullptr) == COVE_OK);
  cove_step_run_free(run);
}

void let_go(void* /*user_data*/, cove_step_run* run) { cove_step_run_free(run); }

/// A Cove, a workspace and a step whose callback is `apply`.
struct StepCase {
  explicit StepCase(cove_step_fn apply) {
    const auto prepare = make_prepare();
    cove_step_options options = COVE_STEP_OPTIONS_INIT;
    options.policy = COVE_STEP_BEST_EFFORT;
    options.fingerprint = "f1";
    options.timeout_ms = 5000;
    options.after = COVE_STAGE_SKILLS;
    REQUIRE(cove_prepare_add_step(prepare.get(), "fonts", &options, apply, &asked, nullptr,
                                  nullptr) == COVE_OK);
    inputs = acquire_with(cove, prepare, workspace);
  }
  Result<void> run() { return world.run(inputs, workspace->workspace, no_guest()); }

  Asked asked;
  CoveHandle cove = open_cove();
  WorkspaceHandle workspace;
  PrepareInputs inputs;
  StepWorld world;
};

}  // namespace

TEST_CASE("Prepare: what was filled in is what the acquire takes", "[capi][prepare]") {
  const auto cove = open_cove();
  const auto prepare = make_prepare();
  cove_prepare* const raw = prepare.get();
  CHECK(cove_prepare_set_mirror(raw, COVE_MIRROR_NPM, "https://npm", nullptr) == COVE_OK);
  CHECK(cove_prepare_set_mirror(raw, COVE_MIRROR_RUBYGEMS, "https://gems", nullptr) == COVE_OK);
  CHECK(cove_prepare_set_mirror(raw, 8, "https://x", nullptr) == COVE_UNSUPPORTED);
  CHECK(cove_prepare_set_variable(raw, "A", "1", nullptr) == COVE_OK);
  CHECK(cove_prepare_set_variable(raw, "B", "2", nullptr) == COVE_OK);
  CHECK(cove_prepare_set_variable(raw, "B", nullptr, nullptr) == COVE_OK);
  CHECK(cove_prepare_set_secret(raw, "K", "secret", nullptr) == COVE_OK);
  CHECK(cove_prepare_set_locale(raw, "Asia/Tokyo", nullptr, nullptr) == COVE_OK);
  CHECK(cove_prepare_add_file(raw, "a.txt", "abc", 3, nullptr) == COVE_OK);
  CHECK(cove_prepare_add_file(raw, "b", nullptr, 1, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_add_host_file(raw, "c", "/srv/c", nullptr) == COVE_OK);
  cove_init_options init = COVE_INIT_OPTIONS_INIT;
  init.version = "7";
  CHECK(cove_prepare_set_init_script(raw, "echo", &init, nullptr) == COVE_OK);

  WorkspaceHandle workspace;
  const PrepareInputs& inputs = acquire_with(cove, prepare, workspace);
  CHECK(inputs.mirrors.npm == "https://npm");
  CHECK(inputs.mirrors.rubygems == "https://gems");
  CHECK(inputs.environment.variables == std::map<std::string, std::string>{{"A", "1"}});
  CHECK(inputs.environment.secrets.at("K") == "secret");
  CHECK(inputs.environment.time_zone == "Asia/Tokyo");
  REQUIRE(inputs.files.size() == 2);
  CHECK(std::get<Bytes>(inputs.files[0].content).size() == 3);
  CHECK(std::get<HostPath>(inputs.files[1].content).path == "/srv/c");
  REQUIRE(inputs.init);
  CHECK(inputs.init->text == "echo");
  CHECK(inputs.init->version == "7");
  CHECK(inputs.init->timeout == 30s);

  CHECK(cove_prepare_set_init_script(raw, nullptr, nullptr, nullptr) == COVE_OK);
  CHECK_FALSE(acquire_with(cove, prepare, workspace).init);
}

TEST_CASE("Prepare: without one nothing but the directory is prepared", "[capi][prepare]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  CHECK(fake::world().acquire.prepare.steps.empty());
  cove_prepare_free(nullptr);
  cove_step_run_free(nullptr);
  CHECK(cove_step_run_is_over(nullptr) == 1);
  CHECK(std::strlen(cove_step_run_note(nullptr)) == 0);
  CHECK(cove_step_run_workspace(nullptr) == nullptr);
}

TEST_CASE("Prepare: a step of the host is asked, told of and finished", "[capi][prepare]") {
  StepCase step(finish_at_once);
  const PrepareStep& shape = step.inputs.steps.at(0);
  CHECK(shape.name == "fonts");
  CHECK(shape.fingerprint == "f1");
  CHECK(shape.policy == StepPolicy::kBestEffort);
  CHECK(shape.timeout == 5s);
  CHECK(shape.after == PrepareStage::kSkills);
  REQUIRE(step.run());
  CHECK(step.asked.heard.text == "before");
  CHECK(step.world.note == "after");
  CHECK(step.world.reason == "all good");
  CHECK(step.world.output == "printed");
  CHECK_FALSE(step.world.nothing_to_do);
}

TEST_CASE("Prepare: a step that the host fails, or lets go of, failed", "[capi][prepare]") {
  StepCase failing(fail_at_once);
  const auto failed = failing.run();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ErrorCode::kNotFound);
  CHECK(failed.error().message() == "no such font");
  CHECK(failing.world.output == "log");

  StepCase leaving(let_go);
  const auto left = leaving.run();
  REQUIRE_FALSE(left);
  CHECK(left.error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("Prepare: a step that is not answered ends with its call, and a late answer is ignored",
          "[capi][prepare]") {
  StepCase step(keep_run);
  step.world.call.deadline = step.world.scheduler.now() + 3s;
  const auto late = step.run();
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == ErrorCode::kTimeout);
  REQUIRE(step.asked.runs.size() == 1);
  cove_step_run* const run = step.asked.runs[0];
  CHECK(cove_step_run_tell(run, "late", nullptr) == COVE_OK);
  CHECK(cove_step_run_finish(run, nullptr, nullptr) == COVE_OK);
  CHECK(step.world.told.empty());
  cove_step_run_free(run);
}

TEST_CASE("Prepare: user_data of steps and observers is dropped once, also after a refusal",
          "[capi][prepare]") {
  Heard step;
  Heard observer;
  const auto observe = [](void* user_data, int32_t event, const char* name, const char* text) {
    auto& heard = *static_cast<Heard*>(user_data);
    heard.text += std::to_string(event) + name + ":" + text + " ";
  };
  {
    const auto cove = open_cove();
    auto prepare = make_prepare();
    CHECK(cove_prepare_add_step(prepare.get(), "x", nullptr, nullptr, &step, on_drop, nullptr) ==
          COVE_INVALID_ARGUMENT);
    CHECK(step.dropped == 1);
    CHECK(cove_prepare_add_step(prepare.get(), "x", nullptr, let_go, &step, on_drop, nullptr) ==
          COVE_OK);
    CHECK(cove_prepare_set_observer(prepare.get(), observe, &observer, on_drop, nullptr) ==
          COVE_OK);
    WorkspaceHandle workspace;
    const PrepareInputs& inputs = acquire_with(cove, prepare, workspace);
    prepare.reset();
    CHECK(step.dropped == 1);
    PrepareEvent event;
    event.kind = PrepareEvent::Kind::kFinished;
    event.step = "x";
    event.report.emplace();
    event.report->step = "x";
    inputs.observer(event);
    CHECK(observer.text.find("4x:{") == 0);
    CHECK(observer.text.find("\"outcome\":\"skipped\"") != std::string::npos);
    fake::reset();
    CHECK(step.dropped == 2);
    CHECK(observer.dropped == 1);
  }
}

TEST_CASE("Prepare: the report comes as JSON", "[capi][prepare]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  PrepareReport& report = fake::world().report;
  report.path = PreparePath::kRun;
  report.input_files = {"sessions/c1/user_files/a.txt"};
  StepReport step;
  step.step = "app_init";
  step.stage = PrepareStage::kAppInit;
  step.policy = StepPolicy::kBestEffort;
  step.outcome = StepOutcome::kFailed;
  step.error = Error(ErrorCode::kFailedPrecondition, "exit code 1");
  step.output = "caf\xe9";
  step.retry_after = 30s;
  report.steps = {step};
  cove_buffer* raw = nullptr;
  REQUIRE(cove_workspace_prepare_report_json(workspace.get(), &raw, nullptr) == COVE_OK);
  const BufferHandle buffer(raw);
  const auto json = nlohmann::json::parse(cove_buffer_data(raw));
  CHECK(json["path"] == "run");
  CHECK(json["failed"] == true);
  CHECK(json["input_files"][0] == "sessions/c1/user_files/a.txt");
  const auto& first = json["steps"][0];
  CHECK(first["stage"] == "app_init");
  CHECK(first["error"]["code"] == "failed_precondition");
  CHECK(first["output"] == "caf\\xe9");
  CHECK(first["retry_after_ms"] == 30000);
}
