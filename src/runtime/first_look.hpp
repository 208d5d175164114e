/// What can be said of a state directory in which no Cove is yet, without making one there.
#pragma once

#include <string>
#include <vector>

#include <cove/cove.hpp>

namespace cove::runtime {

/// False where no Cove was ever opened in that directory, or it is not there. True where it cannot
/// be seen: opening it then says why.
bool has_cove(const std::string& state_dir);

/// What `doctor` would find, looked at from a temporary directory on the same file system, which is
/// gone afterwards. Blocks for some seconds. kInvalidArgument: the configuration is wrong.
Result<std::vector<Finding>> examine_before_first_use(Config config);

}  // namespace cove::runtime
