#include "prepare/skills/index.hpp"

#include <utility>

#include "base/text/display_text.hpp"
#include "prepare/skills/place/builtin_sync.hpp"
#include "prepare/skills/place/guest_tree.hpp"
#include "prepare/skills/place/placement.hpp"

namespace cove::prepare {
namespace {

constexpr const char* kWorkspace = "/workspace";

/// A package as it should lie somewhere.
struct Expected {
  std::string shown;
  std::string version;  ///< for what was verified
  std::string place;    ///< as commands see it
  GuestPath path;
  std::shared_ptr<const KnownPackage> known;
};

/// Looks whether it is there; says what is wrong, or nothing.
Task<Result<std::string>> verify(SkillShelf& shelf, Guest& guest, const std::string& instance,
                                 const Expected& expected, const CallContext& call) {
  const Package& outline = expected.known->outline;
  if (shelf.is_verified(instance, expected.version, outline.hash)) co_return std::string();
  COVE_CO_TRY(std::string fault,
              co_await compare_guest_tree(shelf, guest, expected.path, outline, call));
  if (fault.empty()) shelf.set_verified(instance, expected.version, outline.hash);
  co_return fault;
}

Task<Result<void>> add(SkillShelf& shelf, Guest& guest, const std::string& instance,
                       const Expected& expected, const std::string& version_id, SkillIndex& index,
                       const CallContext& call) {
  COVE_CO_TRY(const std::string fault, co_await verify(shelf, guest, instance, expected, call));
  if (!fault.empty()) {
    index.problems.push_back(expected.shown + " is not in " + expected.place +
                             " as it was published: " + fault);
    co_return ok();
  }
  for (const PackagedSkill& skill : expected.known->skills) {
    index.skills.push_back({.name = skill.name,
                            .description = skill.description,
                            .location = expected.place + "/" + skill.path,
                            .version_id = version_id});
  }
  co_return ok();
}

}  // namespace

Task<Result<SkillIndex>> index_skills(SkillShelf& shelf, Guest& guest, const std::string& instance,
                                      SkillInputs& inputs, const std::string& home,
                                      const CallContext& call) {
  SkillIndex index;
  for (SkillPackage& skill : inputs.published) {
    Expected expected;
    expected.shown = "skill " + base::quoted(skill.version_id);
    expected.version = skill.version_id;
    const std::string directory = skill_directory(skill.version_id);
    expected.place = kWorkspace + ("/" + directory);
    expected.path.path = directory;
    COVE_CO_TRY(expected.known, co_await shelf.know(skill, call));
    COVE_CO_TRY_VOID(co_await add(shelf, guest, instance, expected, skill.version_id, index, call));
  }
  const std::string none;
  for (const BuiltinSkill& skill : inputs.builtin) {
    Expected expected;
    expected.shown = "builtin skill " + base::quoted(skill.name);
    expected.version = "builtin/" + skill.name;
    const std::string directory = builtin_directory(skill.name);
    expected.place = home + "/" + directory;
    expected.path.path = directory;
    expected.path.root = GuestRoot::kHome;
    COVE_CO_TRY(expected.known, co_await shelf.know(skill, call));
    COVE_CO_TRY_VOID(co_await add(shelf, guest, instance, expected, none, index, call));
  }
  co_return index;
}

}  // namespace cove::prepare
