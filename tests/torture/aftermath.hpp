/// What must be true after a torture, whatever died in it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "place.hpp"

namespace torture {

/// Files that were acknowledged, by user.
using Written = std::map<std::uint32_t, std::set<std::uint64_t>>;

/// Repairs, wakes every workspace and looks for its files, destroys all, and looks for what is left
/// of it on this machine: processes, mounts, cgroups, directories. What is wrong, one line each.
std::vector<std::string> check_aftermath(const Place& place, const Written& written);

/// Removes the cgroups' parent, which the provider leaves.
void remove_cgroup_parent(const Place& place);

}  // namespace torture
