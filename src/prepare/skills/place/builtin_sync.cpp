#include "prepare/skills/place/builtin_sync.hpp"

#include <set>
#include <utility>

#include "base/text/display_text.hpp"
#include "prepare/skills/package/package_tar.hpp"
#include "prepare/skills/place/guest_tree.hpp"

namespace cove::prepare {
namespace {

GuestPath in_home(std::string path) { return {"", std::move(path), GuestRoot::kHome}; }

bool is_same(const PackageEntry& wanted, const PackageEntry* present) {
  return present != nullptr && present->type == wanted.type &&
         present->executable == wanted.executable && present->sha256 == wanted.sha256 &&
         present->target == wanted.target;
}

/// What has to go before the rest can be written, and what is not wanted: the uppermost only.
std::vector<std::string> surplus(const Package& wanted, const Package& present) {
  std::vector<std::string> paths;
  for (const PackageEntry& entry : present.entries) {
    const PackageEntry* const found = wanted.find(entry.path);
    const bool goes = found == nullptr ||
                      (found->type != entry.type && (found->type == PackageEntryType::kDirectory ||
                                                     entry.type == PackageEntryType::kDirectory));
    const bool below = !paths.empty() && entry.path.starts_with(paths.back() + "/");
    if (goes && !below) paths.push_back(entry.path);
  }
  return paths;
}

Task<Result<void>> remove_there(Guest& guest, const std::string& path, const CallContext& call) {
  const GuestPath place = in_home(path);
  const Result<void> removed = co_await guest.remove(place, true, call);
  if (!removed && removed.error().code() != ErrorCode::kNotFound) co_return removed.error();
  co_return ok();
}

/// What is there; empty where nothing is. Where it is of no use, it is removed.
Task<Result<Package>> present_of(SkillShelf& shelf, Guest& guest, const std::string& directory,
                                 const Package& wanted, const CallContext& call) {
  const GuestPath place = in_home(directory);
  Result<std::optional<Package>> found =
      co_await read_guest_tree(shelf, guest, place, wanted, call);
  if (found && *found) co_return **std::move(found);
  const bool missing = !found && found.error().code() == ErrorCode::kNotFound;
  const bool odd = !found && is_of_the_tree(found.error());
  if (!found && !missing && !odd) co_return found.error();
  if (!missing) COVE_CO_TRY_VOID(co_await remove_there(guest, directory, call));
  co_return Package();
}

}  // namespace

std::string builtin_directory(const std::string& name) { return ".cove/builtin/" + name; }

Task<Result<BuiltinReport>> sync_builtin(SkillShelf& shelf, Guest& guest, const BuiltinSkill& skill,
                                         const CallContext& call) {
  BuiltinReport report;
  const std::string directory = builtin_directory(skill.name);
  COVE_CO_TRY(const auto known, co_await shelf.know(skill, call));
  COVE_CO_TRY(const Package present,
              co_await present_of(shelf, guest, directory, known->outline, call));
  std::set<std::string> changed;
  for (const PackageEntry& entry : known->outline.entries) {
    if (!is_same(entry, present.find(entry.path))) changed.insert(entry.path);
  }
  for (const std::string& path : surplus(known->outline, present)) {
    COVE_CO_TRY_VOID(co_await remove_there(guest, directory + "/" + path, call));
    ++report.removed;
  }
  if (changed.empty()) co_return report;
  COVE_CO_TRY(const LoadedPackage loaded, co_await shelf.load(skill, call));
  TarChoice choice;
  choice.wanted = [&changed](const PackageEntry& entry) { return changed.contains(entry.path); };
  const auto tar = tar_of(loaded.package, std::move(choice));
  const GuestPath place = in_home(directory);
  COVE_CO_TRY_VOID(co_await guest.write_tree(place, *tar, call));
  report.written = changed.size();
  co_return report;
}

Task<Result<void>> remove_builtin(Guest& guest, const std::string& name, const CallContext& call) {
  const std::string directory = builtin_directory(name);
  co_return co_await remove_there(guest, directory, call);
}

}  // namespace cove::prepare
