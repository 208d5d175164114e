#include "fake_facade.hpp"

#include <memory>
#include <new>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "fake_answers.hpp"

namespace fake {

World& world() {
  static World instance;
  return instance;
}

void reset() { world() = World(); }

void World::deliver() {
  auto now = std::move(pending);
  pending.clear();
  for (auto& work : now) work();
}

namespace {

cove::Record record_of(const cove::SandboxId& sandbox) {
  cove::Record record;
  record.sandbox_id = sandbox;
  record.key = {"app", "demo", "ana"};
  record.state = cove::SandboxState::kArchived;
  return record;
}

cove::FileInfo file_at(const std::string& path) {
  return {path,
          cove::FileType::kRegular,
          5,
          0644,
          std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(7)),
          ""};
}

}  // namespace
}  // namespace fake

namespace cove {

using fake::world;

std::string_view name_of(SandboxState) noexcept { return "archived"; }
std::string_view name_of(OperationKind) noexcept { return "restore"; }
std::string_view name_of(Phase) noexcept { return "claimed"; }
std::string_view name_of(Reason) noexcept { return "idle"; }
std::string_view config_schema() noexcept { return "{}"; }

Result<Config> parse_config(std::string_view json) {
  COVE_TRY(const auto parsed, base::parse_json(json));
  Config config;
  config.state_dir = parsed.value("state_dir", "");
  return config;
}

class Cove::Impl {
 public:
  Impl() { ++world().open; }
  ~Impl() { --world().open; }
  std::shared_ptr<Parts> parts;
  bool closed = false;
};

Result<Cove> Cove::open(Config, Parts parts) {
  COVE_TRY_VOID(fake::reply());
  if (parts.log) parts.log->write(LogLevel::kInfo, "opened");
  world().observer = parts.observer;
  auto impl = std::make_shared<Impl>();
  impl->parts = std::make_shared<Parts>(std::move(parts));
  world().parts = impl->parts;
  return Cove(std::move(impl));
}

void Cove::clock_moved() const { ++world().clock_moves; }

Result<void> write_agent(const std::string& path) {
  world().agent_path = path;
  return fake::reply();
}

class Workspace::Impl {
 public:
  WorkspaceKey key;
  SandboxId sandbox{"app-1"};
  std::string directory = "/workspace/sessions/c1";
};

namespace {

Workspace workspace_of(const WorkspaceKey& key, const AcquireOptions& options,
                       const CallContext& call) {
  world().key = key;
  world().acquire = options;
  world().call = call;
  auto impl = std::make_shared<Workspace::Impl>();
  impl->key = key;
  return Workspace(std::move(impl));
}

}  // namespace

Result<Workspace> Cove::acquire(const WorkspaceKey& key, const AcquireOptions& options,
                                const CallContext& call) const {
  return fake::reply(workspace_of(key, options, call));
}
void Cove::acquire_async(WorkspaceKey key, AcquireOptions options, CallContext call,
                         std::function<void(Result<Workspace>)> done) const {
  fake::later(std::move(done), workspace_of(key, options, call));
}
Result<void> Cove::stop(const SandboxId&, const StopOptions& options,
                        const CallContext& call) const {
  world().drain = options.drain;
  world().wait = options.wait;
  world().call = call;
  return fake::reply();
}
Result<void> Cove::archive(const SandboxId&, const StopOptions& options, const CallContext&) const {
  world().drain = options.drain;
  return fake::reply();
}
Result<void> Cove::destroy(const SandboxId&, const CallContext&) const { return fake::reply(); }
Result<void> Cove::relocate(const SandboxId& sandbox, const RelocateOptions& options,
                            const CallContext& call) const {
  world().relocated = sandbox;
  world().relocate = options;
  world().call = call;
  return fake::reply();
}
Result<SweepReport> Cove::sweep(const SweepOptions& options, const CallContext& call) const {
  world().sweep = options;
  world().call = call;
  const SweepReport report{.examined = 3, .errors = {"one"}, .failed = 1};
  if (options.progress) options.progress({SandboxId("app-1"), "stop", "busy"}, report);
  return fake::reply(report);
}
Result<Record> Cove::status(const SandboxId& sandbox, const CallContext&) const {
  return fake::reply(fake::record_of(sandbox));
}
Result<RecordPage> Cove::list(const std::string&, const std::string&, std::uint32_t limit,
                              const CallContext&) const {
  world().limit = limit;
  return fake::reply(RecordPage{{fake::record_of(SandboxId("app-1"))}, "app-1"});
}
Result<std::uint32_t> Cove::destroy_source(const std::string& source,
                                           std::function<void(const SourceProgress&)> progress,
                                           const CallContext&) const {
  world().source = source;
  if (progress) progress({.destroyed = 2, .failed = 1, .sandbox = SandboxId("app-1")});
  return fake::reply(std::uint32_t{3});
}
void Cove::destroy_source_async(std::string source,
                                std::function<void(const SourceProgress&)> progress, CallContext,
                                std::function<void(Result<std::uint32_t>)> done) const {
  world().source = std::move(source);
  if (progress) progress({.destroyed = 1, .failed = 0, .sandbox = SandboxId("app-1")});
  fake::later(std::move(done), std::uint32_t{3});
}
Result<RecoverReport> Cove::recover(const DeploymentId& deployment, const CallContext&) const {
  return fake::reply(RecoverReport{.deployment = deployment, .archived = 2, .problems = {"one"}});
}
void Cove::recover_async(DeploymentId deployment, CallContext,
                         std::function<void(Result<RecoverReport>)> done) const {
  fake::later(std::move(done), RecoverReport{.deployment = deployment});
}
Result<std::string> Cove::metrics(const CallContext&) const {
  return fake::reply(std::string("cove_sandboxes 1\n"));
}
void Cove::metrics_async(CallContext, std::function<void(Result<std::string>)> done) const {
  fake::later(std::move(done), std::string("cove_sandboxes 1\n"));
}
void Cove::stop_async(SandboxId, StopOptions options, CallContext,
                      std::function<void(Result<void>)> done) const {
  world().drain = options.drain;
  fake::later(std::move(done));
}
void Cove::archive_async(SandboxId, StopOptions, CallContext,
                         std::function<void(Result<void>)> done) const {
  fake::later(std::move(done));
}
void Cove::destroy_async(SandboxId, CallContext, std::function<void(Result<void>)> done) const {
  fake::later(std::move(done));
}
void Cove::relocate_async(SandboxId sandbox, RelocateOptions options, CallContext call,
                          std::function<void(Result<void>)> done) const {
  world().relocated = std::move(sandbox);
  world().relocate = std::move(options);
  world().call = std::move(call);
  fake::later(std::move(done));
}
void Cove::sweep_async(SweepOptions options, CallContext,
                       std::function<void(Result<SweepReport>)> done) const {
  const SweepReport report{.examined = 3};
  if (options.progress) options.progress({SandboxId("app-1"), "archive", ""}, report);
  world().sweep = std::move(options);
  fake::later(std::move(done), report);
}
void Cove::status_async(SandboxId sandbox, CallContext,
                        std::function<void(Result<Record>)> done) const {
  fake::later(std::move(done), fake::record_of(sandbox));
}
std::vector<Finding> Cove::doctor() const {
  if (world().throws) throw std::runtime_error("the facade broke");
  return {{Finding::Level::kLimited, "cgroups", "not delegated", "run under systemd"}};
}
void Cove::doctor_async(CallContext, std::function<void(Result<std::vector<Finding>>)> done) const {
  fake::later(std::move(done),
              std::vector<Finding>{{Finding::Level::kGood, "disk space", "enough", ""}});
}
Result<void> Cove::close(std::chrono::milliseconds) {
  impl_->closed = true;
  impl_->parts.reset();
  world().pending.clear();
  world().callbacks = {};
  world().watch_callbacks = {};
  world().download_callbacks = {};
  world().sweep = {};
  world().grep_callbacks = {};
  world().find_callbacks = {};
  world().tool_options = {};
  return fake::reply();
}

const WorkspaceKey& Workspace::key() const { return impl_->key; }
const SandboxId& Workspace::sandbox_id() const { return impl_->sandbox; }
const std::string& Workspace::directory() const { return impl_->directory; }
AcquireWork Workspace::work() const { return AcquireWork::kRestored; }
PrepareReport Workspace::prepare_report() const { return world().report; }
SandboxClient Workspace::client() const { return SandboxClient(nullptr); }
Result<void> Workspace::release(const CallContext&) { return fake::reply(); }
void Workspace::release_async(CallContext, std::function<void(Result<void>)> done) {
  fake::later(std::move(done));
}

class SandboxFiles::Reach {};
class SandboxClient::Impl : public SandboxFiles::Reach {};
SandboxClient::SandboxClient(std::shared_ptr<Impl> impl)
    : SandboxFiles(impl), SandboxProcesses(impl), SandboxSearch(impl), impl_(impl) {}

Result<ExecResult> SandboxClient::exec(const ExecSpec& spec, const CallContext& call) const {
  world().exec = spec;
  world().call = call;
  return fake::reply(world().result);
}
ExecHandle SandboxClient::exec_async(ExecSpec spec, ExecCallbacks callbacks, CallContext call,
                                     StdinMode stdin_mode) const {
  world().stdin_mode = stdin_mode;
  world().exec = std::move(spec);
  world().call = std::move(call);
  world().callbacks = std::move(callbacks);
  return ExecHandle(nullptr);
}
Result<Bytes> SandboxFiles::read_file(const std::string& path, const ReadRange& range,
                                      const CallContext& call) const {
  world().path = path;
  world().range = range;
  world().call = call;
  return fake::reply(Bytes{std::byte{'h'}, std::byte{0}, std::byte{'i'}});
}
Result<FileInfo> SandboxFiles::write_file(const std::string& path, ByteView content,
                                          const WriteOptions& options, const CallContext&) const {
  world().path = path;
  world().written.assign(content.begin(), content.end());
  world().write = options;
  return fake::reply(fake::file_at(path));
}
Result<FileInfo> SandboxFiles::stat(const std::string& path, const CallContext&) const {
  return fake::reply(fake::file_at(path));
}
Result<FilePage> SandboxFiles::list(const std::string&, const ListOptions& options,
                                    const CallContext&) const {
  world().list = options;
  return fake::reply(FilePage{{fake::file_at("a"), fake::file_at("\xff")}, "\xff"});
}
Result<void> SandboxFiles::make_directory(const std::string& path, const CallContext&) const {
  world().path = path;
  return fake::reply();
}
Result<void> SandboxFiles::remove(const std::string& path, bool recursive,
                                  const CallContext&) const {
  world().path = path;
  world().recursive = recursive;
  return fake::reply();
}
void SandboxFiles::read_file_async(std::string path, ReadRange range, CallContext,
                                   Done<Bytes> done) const {
  world().path = std::move(path);
  world().range = range;
  fake::later(std::move(done), Bytes{std::byte{'h'}});
}
void SandboxFiles::write_file_async(std::string path, Bytes content, WriteOptions options,
                                    CallContext, Done<FileInfo> done) const {
  world().written = std::move(content);
  world().write = options;
  fake::later(std::move(done), fake::file_at(path));
}
void SandboxFiles::stat_async(std::string path, CallContext, Done<FileInfo> done) const {
  fake::later(std::move(done), fake::file_at(path));
}
void SandboxFiles::list_async(std::string, ListOptions options, CallContext,
                              Done<FilePage> done) const {
  world().list = std::move(options);
  fake::later(std::move(done), FilePage{{fake::file_at("a")}, ""});
}
void SandboxFiles::make_directory_async(std::string, CallContext, Done<void> done) const {
  fake::later(std::move(done));
}
void SandboxFiles::remove_async(std::string, bool recursive, CallContext, Done<void> done) const {
  world().recursive = recursive;
  fake::later(std::move(done));
}

}  // namespace cove
