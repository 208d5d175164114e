/// Copies of what the world can read on the host, for directories that sandboxes see.
#pragma once

#include <string>

#include <cove/result.hpp>

namespace cove::local {

/// Copies the entry at `path` ("ssl/openssl.cnf") below `from` to the same path below `to`; parents
/// are made. Files become 0644, directories 0755; links are copied as links. What is not there,
/// what the world cannot read, files of more than 8 MiB and what lies deeper than 6 directories is
/// left out. A link that is there already stays.
Result<void> copy_readable(int from, const std::string& path, int to);

/// Makes a directory at `path` below `directory`, with its parents (0755). Success where it is
/// there.
Result<void> make_path(int directory, const std::string& path, unsigned mode);

}  // namespace cove::local
