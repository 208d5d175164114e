/// The front matter of a SKILL.md: YAML between two lines `---` at the file's beginning. The one
/// place that calls libyaml.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cove/result.hpp>

namespace cove::prepare {

struct FrontMatterValue {
  enum class Kind : unsigned char { kNull, kText, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;                ///< of kText, whatever way it was written
  std::vector<std::string> items;  ///< of kList: those that are texts
  int line = 0;                    ///< in the file, from 1
};

using FrontMatter = std::map<std::string, FrontMatterValue>;

/// Reads the top level; what lies deeper is checked and dropped. `file` names the file in errors,
/// which are kInvalidArgument and begin "file:line: ". Bounded: 64 KiB, 16 levels, 64 anchors and
/// 64 aliases, and no alias is ever expanded but one for a whole value of the top level.
Result<FrontMatter> read_front_matter(const std::string& file, std::string_view text);

}  // namespace cove::prepare
