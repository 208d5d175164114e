/// Builtin skills in `$HOME/.cove/builtin/<name>`, which the file tools may read and not write.
#pragma once

#include <string>
#include <vector>

#include <cove/guest.hpp>
#include <cove/prepare_inputs.hpp>

#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

struct BuiltinReport {
  std::uint64_t written = 0;  ///< files and links
  std::uint64_t removed = 0;
};

/// Makes one builtin skill what it should be: writes the files that differ, each by a rename, and
/// removes those that it has not. One round trip where nothing differs.
Task<Result<BuiltinReport>> sync_builtin(SkillShelf& shelf, Guest& guest, const BuiltinSkill& skill,
                                         const CallContext& call);

/// Removes a builtin skill; success where it is not there.
Task<Result<void>> remove_builtin(Guest& guest, const std::string& name, const CallContext& call);

/// Where it lies, seen from HOME.
std::string builtin_directory(const std::string& name);

}  // namespace cove::prepare
