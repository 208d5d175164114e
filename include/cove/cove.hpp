/// Cove: a persistent, isolated workspace for every user of an agent application.
///
///     auto config = cove::parse_config(R"({"state_dir": "/var/lib/app"})").value();
///     auto cove = cove::Cove::open(config).value();
///     auto workspace = cove.acquire({"app", "shop", "ana"}, {.chat_id = "c1"}).value();
///     auto result = workspace.client().exec({.argv = {"python3", "-c", "print(6 * 7)"}}).value();
///     workspace.release().value();
///
/// Reading order: result.hpp, workspace_key.hpp, this header, sandbox_client.hpp, exec.hpp,
/// exec_handle.hpp, sandbox_processes.hpp, process.hpp, sandbox_files.hpp, files.hpp, edit.hpp,
/// transfer.hpp, file_watch.hpp, sandbox_search.hpp, search.hpp, tools.hpp, prepare_inputs.hpp,
/// prepare.hpp, skills.hpp; then record.hpp and lifecycle.hpp; then the seams: metadata_store.hpp,
/// object_store.hpp, provider.hpp, guest.hpp (its parts are guest_commands.hpp, guest_files.hpp and
/// guest_search.hpp), egress.hpp, snapshot.hpp, scheduler.hpp, clock.hpp, id_source.hpp; parts.hpp
/// for who brings some of these.
///
/// Cove is a guest in its host's process: it installs no signal handler, reads no environment
/// variable, prints nothing, and changes no directory or mask. `Cove` and `Workspace` may be used
/// from any thread. After fork() without exec, the child's calls fail with kFailedPrecondition.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/config.hpp>
#include <cove/lifecycle.hpp>
#include <cove/parts.hpp>
#include <cove/prepare_inputs.hpp>
#include <cove/sandbox_client.hpp>
#include <cove/skills.hpp>
#include <cove/version.hpp>
#include <cove/workspace_key.hpp>

namespace cove {

/// From where a workspace is seen, and what is made ready in it.
struct AcquireOptions {
  std::string chat_id;  ///< whose session directory; empty = /workspace itself
  SandboxId sandbox;    ///< adopts a record of another id; empty = the key's own

  /// What makes it ready for the task; see prepare.hpp. Empty = only its directory.
  PrepareInputs prepare;
};

/// A workspace that runs and is held by this process. A handle that may be copied; the last copy's
/// end lets go without waiting. After the host was away for long, a call brings the workspace back
/// by itself.
class Workspace {
 public:
  /// Who owns it.
  const WorkspaceKey& key() const;
  /// The sandbox that it is.
  const SandboxId& sandbox_id() const;

  /// The session's directory as commands see it: "/workspace/sessions/c1".
  const std::string& directory() const;

  /// What the acquire had to do.
  AcquireWork work() const;

  /// What its last preparation did: the acquire's, or that of a wake since.
  PrepareReport prepare_report() const;

  /// The skills of the acquire's inputs that lie in the workspace as they were published, for the
  /// model's prompt. Asks the guest once per instance, then nobody. Errors: as SandboxClient's
  /// calls; those of reading a package again that this process has not read yet.
  Result<SkillIndex> skills(const CallContext& call = {}) const;

  /// The same, through a callback on Cove's I/O thread, called exactly once.
  void skills_async(CallContext call, std::function<void(Result<SkillIndex>)> done) const;

  /// What works in it, from its session.
  SandboxClient client() const;

  /// Ends this handle's use and moves last_active_at. Later calls fail with kFailedPrecondition.
  Result<void> release(const CallContext& call = {});

  /// The same, through a callback on Cove's I/O thread, called exactly once.
  void release_async(CallContext call, std::function<void(Result<void>)> done);

  class Impl;  ///< src/runtime
  explicit Workspace(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

/// One thing that `doctor` looked at.
struct Finding {
  /// How well it is: as it should be; less than that, but it works; it does not work.
  enum class Level : std::uint8_t { kGood, kLimited, kBroken };
  Level level = Level::kGood;
  std::string subject;  ///< "user namespaces"
  std::string detail;   ///< what was seen
  std::string remedy;   ///< what to do; empty where nothing is needed
};

class Cove {
 public:
  /// Opens the state directory and the stores, and starts the I/O thread.
  /// Errors: kInvalidArgument; kPermissionDenied - the state directory is open to others;
  /// kUnavailable.
  static Result<Cove> open(Config config, Parts parts = {});

  /// Brings a workspace up, from whatever it is in, prepares it, and holds it. Errors: as
  /// LifecycleManager::acquire; kInvalidArgument - the inputs; that of a required step that failed,
  /// with the context `step` and `output`.
  Result<Workspace> acquire(const WorkspaceKey& key, const AcquireOptions& options = {},
                            const CallContext& call = {}) const;

  /// Removes a chat's session directory with all in it, on request: deleting a chat alone removes
  /// nothing. Brings the workspace up. Success where it is not there; kInvalidArgument: no chat id.
  Result<void> remove_session(const WorkspaceKey& key, const AcquireOptions& options,
                              const CallContext& call = {}) const;

  /// The same, through a callback on Cove's I/O thread, called exactly once.
  void acquire_async(WorkspaceKey key, AcquireOptions options, CallContext call,
                     std::function<void(Result<Workspace>)> done) const;
  void remove_session_async(WorkspaceKey key, AcquireOptions options, CallContext call,
                            std::function<void(Result<void>)> done) const;

  /// Checks a package (see inspect_skill_package) and keeps it in the object store under a version
  /// id that it has for ever. The same bytes again are a success. Errors: as
  /// inspect_skill_package; kAlreadyExists - the version id has another content, or had it before
  /// it was removed; those of the object store. After kUnavailable it may be there: add it again.
  Result<SkillPackageInfo> add_skill(const std::string& version_id, ByteView package,
                                     const CallContext& call = {}) const;

  /// Those that were added, by version id.
  Result<std::vector<SkillPackageInfo>> list_skills(const CallContext& call = {}) const;

  /// A package that was added, for PrepareInputs::skills. kNotFound: there is none.
  Result<SkillPackage> find_skill(const std::string& version_id,
                                  const CallContext& call = {}) const;

  /// Takes a package out of the object store; workspaces keep what they have. kNotFound.
  Result<void> remove_skill(const std::string& version_id, const CallContext& call = {}) const;

  /// The same, through a callback on Cove's I/O thread, called exactly once.
  void add_skill_async(std::string version_id, Bytes package, CallContext call,
                       std::function<void(Result<SkillPackageInfo>)> done) const;
  void list_skills_async(CallContext call,
                         std::function<void(Result<std::vector<SkillPackageInfo>>)> done) const;
  void remove_skill_async(std::string version_id, CallContext call,
                          std::function<void(Result<void>)> done) const;

  /// See LifecycleManager; each blocks until done.
  Result<void> stop(const SandboxId& sandbox, StopDrain drain = StopDrain::kRefuse,
                    const CallContext& call = {}) const;
  Result<void> archive(const SandboxId& sandbox, StopDrain drain = StopDrain::kRefuse,
                       const CallContext& call = {}) const;
  Result<void> stop(const SandboxId& sandbox, const StopOptions& options,
                    const CallContext& call = {}) const;
  Result<void> archive(const SandboxId& sandbox, const StopOptions& options,
                       const CallContext& call = {}) const;
  Result<void> destroy(const SandboxId& sandbox, const CallContext& call = {}) const;
  Result<void> relocate(const SandboxId& sandbox, const RelocateOptions& options,
                        const CallContext& call = {}) const;
  Result<SweepReport> sweep(const CallContext& call = {}) const;
  Result<SweepReport> sweep(const SweepOptions& options, const CallContext& call = {}) const;
  Result<std::uint32_t> destroy_source(
      const std::string& source,
      std::function<void(const SourceProgress& so_far)> progress = nullptr,
      const CallContext& call = {}) const;
  Result<void> revive_source(const std::string& source, const CallContext& call = {}) const;
  Result<void> set_idle_policy(const std::string& source, const IdlePolicy& policy,
                               const CallContext& call = {}) const;
  Result<IdlePolicy> idle_policy(const std::string& source, const CallContext& call = {}) const;
  Result<RecoverReport> recover(const DeploymentId& deployment = {},
                                const CallContext& call = {}) const;
  Result<std::string> metrics(const CallContext& call = {}) const;
  Result<Record> status(const SandboxId& sandbox, const CallContext& call = {}) const;
  Result<RecordPage> list(const std::string& source = {}, const std::string& after = {},
                          std::uint32_t limit = 100, const CallContext& call = {}) const;
  Result<OrphanReport> orphans(const CallContext& call = {}) const;

  /// The same, through a callback on Cove's I/O thread, called exactly once.
  void stop_async(SandboxId sandbox, StopDrain drain, CallContext call,
                  std::function<void(Result<void>)> done) const;
  void archive_async(SandboxId sandbox, StopDrain drain, CallContext call,
                     std::function<void(Result<void>)> done) const;
  void stop_async(SandboxId sandbox, StopOptions options, CallContext call,
                  std::function<void(Result<void>)> done) const;
  void archive_async(SandboxId sandbox, StopOptions options, CallContext call,
                     std::function<void(Result<void>)> done) const;
  void destroy_async(SandboxId sandbox, CallContext call,
                     std::function<void(Result<void>)> done) const;
  void relocate_async(SandboxId sandbox, RelocateOptions options, CallContext call,
                      std::function<void(Result<void>)> done) const;
  void destroy_source_async(std::string source,
                            std::function<void(const SourceProgress& so_far)> progress,
                            CallContext call,
                            std::function<void(Result<std::uint32_t>)> done) const;
  void revive_source_async(std::string source, CallContext call,
                           std::function<void(Result<void>)> done) const;
  void set_idle_policy_async(std::string source, IdlePolicy policy, CallContext call,
                             std::function<void(Result<void>)> done) const;
  void idle_policy_async(std::string source, CallContext call,
                         std::function<void(Result<IdlePolicy>)> done) const;
  void recover_async(DeploymentId deployment, CallContext call,
                     std::function<void(Result<RecoverReport>)> done) const;
  void metrics_async(CallContext call, std::function<void(Result<std::string>)> done) const;
  void sweep_async(SweepOptions options, CallContext call,
                   std::function<void(Result<SweepReport>)> done) const;
  void status_async(SandboxId sandbox, CallContext call,
                    std::function<void(Result<Record>)> done) const;
  void list_async(std::string source, std::string after, std::uint32_t limit, CallContext call,
                  std::function<void(Result<RecordPage>)> done) const;
  void orphans_async(CallContext call, std::function<void(Result<OrphanReport>)> done) const;

  /// Says what this machine can isolate and what is missing, and how to get it. Blocks.
  std::vector<Finding> doctor() const;

  /// The same on a thread of Cove's own for what blocks, with a callback on its I/O thread.
  void doctor_async(CallContext call, std::function<void(Result<std::vector<Finding>>)> done) const;

  /// Says that the host's own clock (Parts::clock) jumped ahead: what waited for a time that has
  /// come goes on now, instead of when it would have come at the clock's pace. Any thread.
  void clock_moved() const;

  /// Lets go of everything and ends the I/O thread; ends no sandbox. kTimeout: something is still
  /// in a callback; it is left with its own state. Later calls fail with kFailedPrecondition.
  /// Without it, the last copy of the Cove closes with 10 s.
  Result<void> close(std::chrono::milliseconds timeout = std::chrono::seconds(10));

  class Impl;  ///< src/runtime

 private:
  explicit Cove(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace cove
