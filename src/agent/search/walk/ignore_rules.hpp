/// Ignore rules: one file's, and those of all directories from /workspace down to one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/search/walk/glob.hpp"

namespace cove::agent {

/// The rules of one ignore file, in git's syntax. A line that makes no sense is passed over, as git
/// does. The bytes are the sandbox's: anything is taken.
class IgnoreFile {
 public:
  static IgnoreFile parse(std::string_view text);

  bool empty() const noexcept { return rules_.empty(); }

  /// True: ignored; false: a rule says that it is not; none: no rule says anything. `path` is below
  /// the file's directory.
  std::optional<bool> decide(std::string_view path, std::string_view name, bool is_directory) const;

 private:
  struct Rule {
    Glob glob;
    bool ignores = true;  ///< false: begins with `!`
    bool directory_only = false;
  };
  using Index = std::unordered_map<std::string, std::vector<std::uint32_t>>;

  void add(std::string_view line);
  void try_rules(const Index& index, const std::string& key, bool is_directory,
                 std::optional<std::uint32_t>& last) const;

  std::vector<Rule> rules_;
  Index by_name_;                      // rules of one name
  Index by_extension_;                 // rules of all names with an ending `.xyz`
  std::vector<std::uint32_t> others_;  // all other rules
};

/// The names of ignore files, the later the stronger.
constexpr std::array<std::string_view, 3> kIgnoreFiles{".gitignore", ".ignore", ".coveignore"};

/// A directory's ignore files, and through `outer` those of the directories around it.
struct IgnoreLevel {
  std::shared_ptr<const IgnoreLevel> outer;
  std::size_t prefix = 0;  ///< bytes of a path below the root that lead here, with the last `/`
  std::array<IgnoreFile, kIgnoreFiles.size()> files;
};

/// `path` is below the root of the outermost level.
bool is_ignored(const IgnoreLevel* innermost, std::string_view path, std::string_view name,
                bool is_directory);

}  // namespace cove::agent
