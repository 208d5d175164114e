#include "prepare/skills/place/placement.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "base/async/byte_sources.hpp"
#include "base/async/spawn.hpp"
#include "base/system/system_clock.hpp"
#include "base/text/byte_text.hpp"
#include "base/text/display_text.hpp"
#include "base/values/caught.hpp"
#include "prepare/skills/package/package_stream.hpp"
#include "prepare/skills/place/guest_tree.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr const char* kDirectory = "skills";
constexpr const char* kUsageFile = "skills/.cove-used.json";
constexpr std::string_view kTemporary = ".tmp-";
constexpr std::string_view kChanged = ".changed-";
constexpr auto kLeftover = 1h;

GuestPath at(std::string path) { return {"", std::move(path)}; }

/// What lies in the skills' directory.
struct Present {
  std::vector<std::string> versions;
  std::vector<FileInfo> temporary;
};

Task<Result<Present>> look(Guest& guest, const CallContext& call) {
  Present present;
  const GuestPath directory = at(kDirectory);
  ListOptions options;
  for (;;) {
    Result<FilePage> page = co_await guest.list(directory, options, call);
    if (!page && page.error().code() == ErrorCode::kNotFound) co_return present;
    if (!page) co_return page.error();
    for (FileInfo& info : page->entries) {
      if (is_skill_name(info.path)) present.versions.push_back(info.path);
      const bool ours = info.path.starts_with(kTemporary) || info.path.starts_with(kChanged);
      if (ours) present.temporary.push_back(std::move(info));
    }
    if (page->next.empty()) co_return present;
    options.after = page->next;
  }
}

using Written = base::Completion<Result<void>>;

/// Nothing that is thrown here may pass the scheduler by.
Task<void> write_beside(Guest& guest, GuestPath path, PackageStream& stream,
                        std::shared_ptr<Written> written, const CallContext& call) {
  Result<void> done = ok();
  try {
    const Result<TreeCounts> counts = co_await guest.write_tree(path, stream, call);
    if (!counts) done = counts.error();
  } catch (...) {
    done = base::caught_error();
  }
  written->complete(std::move(done));
}

class Placement {
 public:
  Placement(const PlacementRequest& request, const CallContext& call)
      : request_(request), guest_(request.guest), shelf_(request.shelf), call_(call) {}

  Task<Result<PlacementReport>> run() {
    COVE_CO_TRY(const Present present, co_await look(guest_, call_));
    const std::set<std::string> there(present.versions.begin(), present.versions.end());
    for (SkillPackage& skill : request_.skills) {
      const bool is_there = there.contains(skill.version_id);
      const Result<void> seen_to = co_await see_to(skill, is_there);
      if (!seen_to) {
        co_return seen_to.error().with_context("skill", skill.version_id);
      }
    }
    COVE_CO_TRY_VOID(co_await collect(present));
    co_return std::move(report_);
  }

 private:
  Task<Result<void>> see_to(SkillPackage& skill, bool is_there) {
    const std::string& version = skill.version_id;
    if (is_there) {
      COVE_CO_TRY(const auto known, co_await shelf_.know(skill, call_));
      if (shelf_.is_verified(request_.instance, version, known->outline.hash)) co_return ok();
      const GuestPath place = at(skill_directory(version));
      COVE_CO_TRY(const std::string fault,
                  co_await compare_guest_tree(shelf_, guest_, place, known->outline, call_));
      if (fault.empty()) {
        shelf_.set_verified(request_.instance, version, known->outline.hash);
        co_return ok();
      }
      const GuestPath aside = at(beside(kChanged, version));
      const MoveOptions options;
      COVE_CO_TRY_VOID(co_await guest_.move(place, aside, options, call_));
      tell("skill " + base::quoted(version) + " is placed again: " + fault);
    }
    co_return co_await place(skill, is_there);
  }

  Task<Result<void>> place(SkillPackage& skill, bool was_there) {
    const std::string& version = skill.version_id;
    tell("placing skill " + base::quoted(version));
    const GuestPath temporary = at(beside(kTemporary, version));
    const GuestPath target = at(skill_directory(version));
    LoadedPackage loaded;
    Result<void> placed = co_await write(skill, temporary, loaded);
    if (placed) placed = co_await check_and_name(loaded, temporary, target);
    if (!placed) {
      co_await clear(temporary);
      const bool raced = loaded.known && placed.error().code() == ErrorCode::kAlreadyExists;
      if (!raced) co_return placed.error();
      // Somebody without the lease was faster; what is there counts if it is the same.
      COVE_CO_TRY(
          const std::string fault,
          co_await compare_guest_tree(shelf_, guest_, target, loaded.known->outline, call_));
      if (!fault.empty()) {
        co_return Error(ErrorCode::kConflict, "skill " + base::quoted(version) +
                                                  " was placed by another at the same time, and "
                                                  "differs: " +
                                                  fault);
      }
    }
    shelf_.set_verified(request_.instance, version, loaded.known->outline.hash);
    (was_there ? report_.replaced : report_.placed).push_back(version);
    co_return ok();
  }

  /// Writes the tree while the package is unpacked.
  Task<Result<void>> write(SkillPackage& skill, const GuestPath& temporary, LoadedPackage& loaded) {
    PackageStream stream(shelf_.parts().scheduler);
    const auto written = Written::make(shelf_.parts().scheduler);
    base::spawn(shelf_.parts().scheduler, write_beside(guest_, temporary, stream, written, call_));
    std::optional<Result<LoadedPackage>> package;
    std::exception_ptr thrown;
    try {
      auto read = co_await shelf_.load_into(stream, skill, call_);
      package.emplace(std::move(read));
    } catch (...) {
      thrown = std::current_exception();
      stream.fail(Error(ErrorCode::kInternal, "the package could not be read"));
    }
    const Result<void> wrote = co_await written->wait();
    if (thrown) std::rethrow_exception(thrown);
    if (!*package) co_return package->error();
    loaded = **std::move(package);
    co_return wrote;
  }

  /// Reads the tree back, and gives it its name by a rename.
  Task<Result<void>> check_and_name(const LoadedPackage& loaded, const GuestPath& temporary,
                                    const GuestPath& target) {
    COVE_CO_TRY(const std::string fault,
                co_await compare_guest_tree(shelf_, guest_, temporary, *loaded.package, call_));
    if (!fault.empty()) {
      co_return Error(ErrorCode::kIntegrity,
                      "what was just written is not what was sent: " + fault);
    }
    const MoveOptions options;
    COVE_CO_TRY_VOID(co_await guest_.move(temporary, target, options, call_));
    co_return ok();
  }

  Task<void> clear(const GuestPath& path) {
    // What is left is removed an hour later.
    const Result<void> ignored = co_await guest_.remove(path, true, call_);
    static_cast<void>(ignored);
  }

  /// What cannot be asked now is asked at the next placement: nothing is lost by that.
  Task<bool> may_remove(const std::vector<std::string>& expired) {
    if (!request_.is_shared) co_return true;
    const Result<bool> shared = co_await request_.is_shared(call_);
    if (shared && !*shared) co_return true;
    const std::string why =
        shared ? "another process uses the workspace" : shared.error().message();
    tell("kept " + std::to_string(expired.size()) + " that nobody here uses: " + why);
    co_return false;
  }

  Task<Result<void>> collect(const Present& present) {
    COVE_CO_TRY(const std::string before, co_await read_usage());
    SkillUsage usage = SkillUsage::parse(before);
    std::vector<std::string> versions = present.versions;
    for (const SkillPackage& skill : request_.skills) {
      usage.set_used(skill.version_id, request_.now);
      versions.push_back(skill.version_id);
    }
    for (const std::string& version : present.versions) {
      const bool in_use = request_.is_in_use && request_.is_in_use(version);
      if (in_use) usage.set_used(version, request_.now);
    }
    const SkillUsage with_all = usage;
    auto expired = usage.take_expired(versions, request_.now, request_.grace);
    if (!expired.empty() && !co_await may_remove(expired)) {
      expired.clear();
      usage = with_all;
    }
    for (const std::string& version : expired) {
      const Result<void> removed = co_await retire(version);
      if (removed) report_.collected.push_back(version);
      if (!removed) usage.set_used(version, request_.now);  // tried again after the grace time
    }
    COVE_CO_TRY_VOID(co_await clear_leftovers(present));
    co_return co_await write_usage(usage.text());
  }

  /// By a new name first, so that no half of it is ever seen under its own.
  Task<Result<void>> retire(const std::string& version) {
    const GuestPath place = at(skill_directory(version));
    const GuestPath aside = at(beside(kTemporary, version));
    const MoveOptions options;
    COVE_CO_TRY_VOID(co_await guest_.move(place, aside, options, call_));
    co_return co_await guest_.remove(aside, true, call_);
  }

  Task<Result<void>> clear_leftovers(const Present& present) {
    for (const FileInfo& info : present.temporary) {
      const auto age = request_.now - info.modified;
      const bool changed = info.path.starts_with(kChanged);
      if (age < (changed ? std::chrono::nanoseconds(request_.grace) : kLeftover)) continue;
      const GuestPath path = at(std::string(kDirectory) + "/" + info.path);
      co_await clear(path);
    }
    co_return ok();
  }

  Task<Result<std::string>> read_usage() {
    constexpr std::uint64_t kMost = 1U << 20U;
    ReadRange range;
    range.length = kMost;
    const GuestPath path = at(kUsageFile);
    Result<GuestFile> file = co_await guest_.read_file(path, range, call_);
    // No file, or something else in its place: nothing is known.
    if (!file) co_return std::string();
    std::string text;
    for (;;) {
      COVE_CO_TRY(const Bytes piece, co_await file->content->next(call_));
      if (piece.empty()) co_return text;
      text += base::text_of(piece);
    }
  }

  Task<Result<void>> write_usage(const std::string& text) {
    base::TextSource source(text);
    const WriteOptions options;
    const GuestPath path = at(kUsageFile);
    COVE_CO_TRY_VOID(co_await guest_.write_file(path, source, options, call_));
    co_return ok();
  }

  std::string beside(std::string_view kind, const std::string& version) {
    return std::string(kDirectory) + "/" + std::string(kind) + version + "-" +
           base::random_name(shelf_.parts().ids).substr(0, 16);
  }

  void tell(std::string text) {
    if (request_.tell) request_.tell(std::move(text));
  }

  const PlacementRequest& request_;
  Guest& guest_;
  SkillShelf& shelf_;
  const CallContext& call_;
  PlacementReport report_;
};

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace

std::string PlacementReport::summary(std::size_t asked) const {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (!placed.empty()) add("placed " + list_of(placed));
  if (!replaced.empty()) add("placed again " + list_of(replaced) + " (changed inside)");
  const std::size_t there = asked - std::min(asked, placed.size() + replaced.size());
  if (there > 0) add(std::to_string(there) + (there == 1 ? " was there" : " were there"));
  if (!collected.empty()) add("removed " + list_of(collected) + " (not used any more)");
  return text;
}

std::string skill_directory(const std::string& version_id) {
  return std::string(kDirectory) + "/" + version_id;
}

Task<Result<PlacementReport>> place_skills(const PlacementRequest& request,
                                           const CallContext& call) {
  Placement placement(request, call);
  co_return co_await placement.run();
}

}  // namespace cove::prepare
