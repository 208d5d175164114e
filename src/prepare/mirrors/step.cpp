#include "prepare/mirrors/step.hpp"

#include <algorithm>
#include <utility>

#include "base/sha256.hpp"
#include "base/text/display_text.hpp"
#include "prepare/mirrors/managed_file.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCopies = "/.cove/mirrors/";
constexpr std::string_view kBefore = ".before";
constexpr std::string_view kWritten = ".written";
constexpr std::string_view kAptList = "/etc/apt/sources.list";
constexpr std::string_view kAptDirectory = "/etc/apt/sources.list.d/";
constexpr std::string_view kAptNew = "/etc/apt/sources.list.d/cove-mirror.sources";
constexpr const char* kOsRelease = "/etc/os-release";
constexpr int kMostTries = 3;

std::optional<std::string> content_of(const GuestFilesFound& found, const std::string& path) {
  const auto at = found.files.find(path);
  return at == found.files.end() ? std::nullopt : std::optional(at->second);
}

/// Collects what is to be done, file by file.
class Planner {
 public:
  explicit Planner(const GuestFilesFound& found) : found_(found) {}

  void add(const ManagedFile& file) {
    const std::string path = file.path.starts_with('/') ? file.path : found_.home + "/" + file.path;
    if (found_.odd.contains(path)) {
      note(path, "it is no readable file of at most 256 KiB");
      return;
    }
    const auto present = content_of(found_, path);
    const auto memory = memory_of(file.id);
    Result<FilePlan> plan = plan_file(file, present, memory);
    if (!plan) {
      note(path, plan.error().message());
      return;
    }
    // The copies first: what a crash leaves between is a copy of something that is not there yet,
    // which restores nothing.
    remember(file.id, memory, plan->memory, after_);
    if (plan->content == present) return;
    GuestFileChange change;
    change.path = path;
    change.present = present;
    change.content = std::move(plan->content);
    change.for_all = file.path.starts_with('/');
    files_.push_back(std::move(change));
  }

  void note(const std::string& path, const std::string& why) {
    notes_.push_back(base::escaped(path) + " is left as it is: " + why);
  }

  MirrorPlan finish() {
    MirrorPlan plan;
    plan.changes = std::move(copies_);
    std::move(files_.begin(), files_.end(), std::back_inserter(plan.changes));
    std::move(after_.begin(), after_.end(), std::back_inserter(plan.changes));
    plan.notes = std::move(notes_);
    return plan;
  }

 private:
  std::string copy_path(const std::string& id, std::string_view kind) const {
    return found_.home + kCopies + id + std::string(kind);
  }

  std::optional<FileMemory> memory_of(const std::string& id) const {
    auto written = content_of(found_, copy_path(id, kWritten));
    if (!written) return std::nullopt;
    return FileMemory{content_of(found_, copy_path(id, kBefore)), *std::move(written)};
  }

  void remember(const std::string& id, const std::optional<FileMemory>& old,
                const std::optional<FileMemory>& now, std::vector<GuestFileChange>& after) {
    if (old == now) return;
    const auto before = now ? now->before : std::nullopt;
    const auto written = now ? std::optional(now->written) : std::nullopt;
    // Where nothing of Cove's is left, the copies go after the file.
    std::vector<GuestFileChange>& changes = now ? copies_ : after;
    change_copy(copy_path(id, kBefore), before, changes);
    change_copy(copy_path(id, kWritten), written, changes);
  }

  void change_copy(const std::string& path, const std::optional<std::string>& content,
                   std::vector<GuestFileChange>& changes) {
    GuestFileChange change;
    change.path = path;
    change.present = content_of(found_, path);
    change.content = content;
    if (change.present != change.content) changes.push_back(std::move(change));
  }

  const GuestFilesFound& found_;
  std::vector<GuestFileChange> copies_;
  std::vector<GuestFileChange> files_;
  std::vector<GuestFileChange> after_;
  std::vector<std::string> notes_;
};

bool is_apt_file(std::string_view path) {
  return path == kAptList || path.starts_with(kAptDirectory);
}

ManagedFile apt_file(const std::string& path, const AptMirror& mirror) {
  ManagedFile file;
  file.id = "apt-" + path.substr(path.rfind('/') + 1);
  file.path = path;
  file.kind =
      path.ends_with(".sources") ? ManagedFile::Kind::kAptDeb822 : ManagedFile::Kind::kAptOneLine;
  file.apt = mirror;
  return file;
}

/// True where a copy of a file of APT's is kept.
bool has_apt_copies(const GuestFilesFound& found) {
  const std::string prefix = found.home + kCopies + "apt-";
  const auto at = found.files.lower_bound(prefix);
  return at != found.files.end() && at->first.starts_with(prefix);
}

void add_apt(Planner& planner, const Mirrors& mirrors, const GuestFilesFound& found) {
  const bool wanted = !mirrors.apt.empty();
  if (!wanted && !has_apt_copies(found)) return;
  if (!found.may_write_apt) {
    planner.note("/etc/apt", "it is not the sandbox's own; apt needs a writable system layer");
    return;
  }
  const Distribution system = read_os_release(content_of(found, kOsRelease).value_or(""));
  const AptMirror mirror = wanted ? apt_mirror(system, mirrors.apt) : AptMirror();
  bool any_official = false;
  for (const auto& [path, text] : found.files) {
    if (!is_apt_file(path) || path == kAptNew) continue;
    planner.add(apt_file(path, mirror));
    const bool ours = wanted && text.find(mirror.main) != std::string::npos;
    any_official = any_official || ours || names_official(text);
  }
  ManagedFile extra = apt_file(std::string(kAptNew), mirror);
  if (wanted && any_official) extra.apt = AptMirror();
  if (wanted && !any_official && !system.is_known()) {
    planner.note("/etc/apt", "it names no archive of Debian or Ubuntu, and the system is neither");
    return;
  }
  if (wanted && !any_official) extra.apt_new_text = new_sources(system, mirror);
  planner.add(extra);
}

std::vector<std::string> paths_of(const std::vector<ManagedFile>& files) {
  std::vector<std::string> paths;
  for (const ManagedFile& file : files) paths.push_back(file.path);
  return paths;
}

Task<Result<void>> apply_once(const Mirrors& mirrors, PrepareContext& context) {
  const std::vector<std::string> paths = paths_of(home_files(mirrors));
  COVE_CO_TRY(const GuestFilesFound found,
              co_await read_guest_files(context.guest, paths, true, context.call));
  const MirrorPlan plan = plan_mirrors(mirrors, found);
  if (!plan.changes.empty()) {
    COVE_CO_TRY_VOID(co_await write_guest_files(context.guest, plan.changes, context.call));
  }
  context.reason = std::to_string(plan.changes.size()) + " files written";
  for (const std::string& note : plan.notes) context.reason += "; " + note;
  co_return ok();
}

/// Whether an earlier preparation set mirrors.
Task<Result<bool>> has_copies(PrepareContext& context) {
  if (!context.note.empty()) co_return true;
  GuestPath path;
  path.path = ".cove/mirrors";
  path.root = GuestRoot::kHome;
  const Result<FileInfo> info = co_await context.guest.stat(path, context.call);
  if (info) co_return true;
  if (info.error().code() == ErrorCode::kNotFound) co_return false;
  // An agent that gives no files of HOME: the command that reads them finds out.
  if (info.error().code() == ErrorCode::kUnsupported) co_return true;
  co_return info.error();
}

Task<Result<void>> apply(Mirrors mirrors, PrepareContext& context) {
  const bool none = mirrors == Mirrors();
  if (none) {
    COVE_CO_TRY(const bool before, co_await has_copies(context));
    if (!before) {
      context.nothing_to_do = true;
      context.reason = "no mirrors are configured";
      co_return ok();
    }
  }
  for (int tries = 1;; ++tries) {
    Result<void> applied = co_await apply_once(mirrors, context);
    const bool again = !applied && applied.error().code() == ErrorCode::kConflict;
    if (!again || tries == kMostTries) {
      if (applied) context.note = none ? "" : "set";
      co_return applied;
    }
  }
}

std::string fingerprint_of(const Mirrors& mirrors) {
  if (mirrors == Mirrors()) return "none";
  std::string text = "1";
  for (const std::string* url : {&mirrors.npm, &mirrors.pypi, &mirrors.apt, &mirrors.go,
                                 &mirrors.cargo, &mirrors.maven, &mirrors.rubygems}) {
    text += "\n" + *url;
  }
  return base::sha256_hex(text);
}

}  // namespace

MirrorPlan plan_mirrors(const Mirrors& mirrors, const GuestFilesFound& found) {
  Planner planner(found);
  for (const ManagedFile& file : home_files(mirrors)) planner.add(file);
  add_apt(planner, mirrors, found);
  return planner.finish();
}

PrepareStep mirrors_step(const Mirrors& mirrors) {
  PrepareStep step;
  step.name = "mirrors";
  step.after = PrepareStage::kMirrors;
  step.policy = StepPolicy::kBestEffort;
  step.timeout = 60s;
  step.fingerprint = fingerprint_of(mirrors);
  step.apply = [mirrors](PrepareContext& context) { return apply(mirrors, context); };
  return step;
}

}  // namespace cove::prepare
