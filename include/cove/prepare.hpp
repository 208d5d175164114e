/// Prepare: makes a running workspace ready for a task, once, and at nearly no cost when nothing
/// changed.
///
///     PrepareStep step{.name = "fonts", .fingerprint = "noto-2", .after = PrepareStage::kSkills};
///     step.apply = [](PrepareContext& context) { return install_fonts(context); };
///     auto workspace = cove->acquire(key, {.chat_id = "c1", .prepare = {.steps = {step}}});
///     host.show(workspace->prepare_report());
///
/// An acquire runs an ordered list of steps: directories > mirrors > input files > skills > builtin
/// skills > app init script > skill init scripts > capability scan; a host's own steps stand behind
/// the stage they name, in the order given. A step is done when its fingerprint is the one that
/// the sandbox's state file (`$HOME/.cove/state.json`) has for its name. The file can be written
/// from inside, so it is a hint: what must hold against a hostile sandbox is checked where it is
/// used.
///
/// Of ten chats that begin at once one prepares; the others wait in their order, until their own
/// deadline, and find it done. A step that fails is never recorded as done.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/error.hpp>
#include <cove/guest.hpp>
#include <cove/ids.hpp>
#include <cove/provider.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

namespace cove {

class Workspace;

/// The order of the pipeline. A step of a host stands behind all of Cove's own of its stage.
enum class PrepareStage : std::uint8_t {
  kDirectories = 1,
  kMirrors = 2,
  kInputFiles = 3,
  kSkills = 4,
  kBuiltinSkills = 5,
  kAppInit = 6,
  kSkillInit = 7,
  kCapabilities = 8,
};

/// What the failure of a step means.
enum class StepPolicy : std::uint8_t {
  kRequired = 1,  ///< its failure is the acquire's

  /// Its failure is reported; a later acquire tries again: after 30 s, and twice as long after each
  /// further failure, up to an hour. Another fingerprint is tried at once.
  kBestEffort = 2,
};

/// What a step works with, while it runs. On Cove's scheduler, as the seams are.
struct PrepareContext {
  Guest& guest;  ///< files of HOME: GuestRoot::kHome in guest_files.hpp
  Scheduler& scheduler;
  const Clock& clock;

  /// Ends at the step's timeout, or when the acquire ends. Pass it to every call.
  const CallContext& call;

  const std::string& session;  ///< of this acquire, as in GuestPath

  /// Variables and secrets of this acquire, for ExecSpec::env; calls of `workspace` have them
  /// already.
  const std::map<std::string, std::string>& env;

  /// The workspace that is being prepared, for steps that would rather use the public client: its
  /// callback forms here, its blocking forms on a thread of the step's own. Null in tests of
  /// steps without a Cove. When the instance ends meanwhile its calls fail with kUnavailable.
  const Workspace* workspace = nullptr;

  /// What is being prepared. Null in tests of steps without a Cove.
  const InstanceRef* instance = nullptr;

  /// What the step kept when it was last done, and what it keeps once it is done now: at most 16
  /// KiB of UTF-8, in the state file, so a hint like all of that. Empty at first.
  std::string note;

  /// For the report, whatever comes of the step: a sentence, and the end of what its programs
  /// wrote (cut to 8 KiB).
  std::string reason;
  std::string output;

  /// The step found that there is nothing to do: reported as skipped, with `reason`.
  bool nothing_to_do = false;

  /// Tells the host's progress callback. Empty where nobody listens.
  std::function<void(std::string text)> tell;
};

/// One thing that makes a workspace ready.
struct PrepareStep {
  /// `[A-Za-z0-9_][A-Za-z0-9._-]{0,63}`, unique in its pipeline; the state file knows a host's step
  /// as `host/<name>`.
  std::string name;

  /// What the step's result depends on, as any text: another one, and it is applied again. Empty =
  /// it is applied at every acquire.
  std::string fingerprint;

  StepPolicy policy = StepPolicy::kRequired;
  std::chrono::milliseconds timeout{std::chrono::seconds(30)};  ///< 1 s to 600 s

  /// The stage that the step belongs to; a host's step stands at that stage's end.
  PrepareStage after = PrepareStage::kBuiltinSkills;

  /// Does it; idempotent, since it may be repeated after a crash. Called on Cove's scheduler; must
  /// not block. A coroutine that is a lambda reads its captures through `this` step, which lives
  /// until the task ends. What it throws is kInternal.
  std::function<Task<Result<void>>(PrepareContext& context)> apply;
};

/// What became of a step.
enum class StepOutcome : std::uint8_t { kSkipped = 1, kApplied = 2, kFailed = 3 };

/// What became of one step.
struct StepReport {
  std::string step;  ///< as the state file names it: "mirrors", "host/fonts"
  PrepareStage stage = PrepareStage::kDirectories;
  StepPolicy policy = StepPolicy::kRequired;
  StepOutcome outcome = StepOutcome::kSkipped;
  std::chrono::milliseconds duration{0};
  std::string reason;          ///< why it was skipped, how it failed, or what it did; may be empty
  std::string output;          ///< the last 8 KiB of what its programs wrote, without secrets
  std::optional<Error> error;  ///< of a step that failed

  /// When a step that failed is tried again; also of one that is skipped until then.
  std::optional<std::chrono::milliseconds> retry_after;
};

/// How much an acquire had to look at.
enum class PreparePath : std::uint8_t {
  kRemembered = 1,  ///< this process prepared the same instance with the same inputs: nothing asked
  kUnchanged = 2,   ///< the state file says that all is done: one round trip to the guest
  kRun = 3,         ///< at least one step was applied, failed or tried
};

/// What an acquire's preparation did. Without secrets.
struct PrepareReport {
  PreparePath path = PreparePath::kRemembered;
  std::vector<StepReport> steps;          ///< in their order; up to the required one that failed
  std::chrono::milliseconds duration{0};  ///< all of it
  std::chrono::milliseconds waited{0};    ///< of that, for other chats' preparation
  std::vector<std::string> input_files;   ///< where each input file is, below /workspace

  /// Whether any step failed.
  bool failed() const noexcept {
    for (const StepReport& step : steps) {
      if (step.outcome == StepOutcome::kFailed) return true;
    }
    return false;
  }
};

/// Something that happens while a workspace is prepared.
struct PrepareEvent {
  /// What happened.
  enum class Kind : std::uint8_t {
    kWaiting = 1,   ///< another chat's preparation goes first
    kStarted = 2,   ///< a step begins
    kProgress = 3,  ///< a step says how far it is
    kFinished = 4,  ///< a step was skipped, applied or failed
  };

  Kind kind = Kind::kStarted;
  SandboxId sandbox;
  std::string step;
  std::string text;                  ///< of kProgress
  std::optional<StepReport> report;  ///< of kFinished
};

/// Called on Cove's scheduler; must not block.
using PrepareObserver = std::function<void(const PrepareEvent& event)>;

/// The names that reports, the command and the bindings show: "app_init", "best_effort", "applied",
/// "unchanged", "finished".
std::string_view name_of(PrepareStage stage) noexcept;
std::string_view name_of(StepPolicy policy) noexcept;
std::string_view name_of(StepOutcome outcome) noexcept;
std::string_view name_of(PreparePath path) noexcept;
std::string_view name_of(PrepareEvent::Kind kind) noexcept;

}  // namespace cove
