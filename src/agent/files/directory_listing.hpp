/// Lists a directory in pages whose memory does not grow with the directory.
#pragma once

#include <string>

#include <cove/files.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// The page after `options.after`, in the order of SortedWalk; entries that vanish meanwhile are
/// left out. A page may have fewer entries than asked for and still a `next`: names and link
/// targets of some MiB end it. `directory` is open for reading; `shown`: the path as errors name
/// it.
Result<FilePage> list_directory(base::UniqueFd directory, const ListOptions& options,
                                const std::string& shown);

}  // namespace cove::agent
