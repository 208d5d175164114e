/// What lies below a directory, as text that can be compared; independent of Cove's own walker.
#pragma once

#include <map>
#include <string>

namespace cove::test {

struct DescribeOptions {
  unsigned id_offset = 0;   // subtracted from owners
  bool with_owners = true;  // false: owners are left out
};

/// For each path (empty = `directory` itself): type, mode, owner, mtime in ns, size, content,
/// extents, link target, hard-link group, attributes user.*. Throws std::system_error.
std::map<std::string, std::string> describe_tree(const std::string& directory,
                                                 const DescribeOptions& options = {});

}  // namespace cove::test
