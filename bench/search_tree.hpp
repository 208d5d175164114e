/// A real tree of some 40,000 files, on this machine and in a workspace: what Debian brings of
/// Python and documentation, and a large npm tree.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <cove/sandbox_client.hpp>

namespace bench {

class SearchTree {
 public:
  /// Uses the tree at `--tree DIR` of the arguments; else makes one and removes it at the end. The
  /// npm part is left out, and said to be, where npm cannot fetch it.
  SearchTree(int argc, char** argv);
  ~SearchTree();
  SearchTree(const SearchTree&) = delete;
  SearchTree& operator=(const SearchTree&) = delete;

  const std::string& path() const noexcept { return path_; }

  /// Puts the same tree at /workspace/tree.
  bool copy_into(const cove::SandboxClient& client) const;

 private:
  std::string path_;
  bool own_ = false;
};

/// The first of the names that is a program on this machine, as a path.
std::optional<std::string> find_program(std::initializer_list<const char*> names);

}  // namespace bench
