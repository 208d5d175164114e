/// When which version of a skill was used last, kept in the workspace beside the versions. A hint:
/// it can be written from inside, and what is wrong in it only keeps a version longer.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cove::prepare {

/// By the host's clock, which others may read otherwise by minutes.
using WallTime = std::chrono::sys_seconds;

class SkillUsage {
 public:
  /// What is no such file, is empty.
  static SkillUsage parse(std::string_view text);
  std::string text() const;

  void set_used(const std::string& version_id, WallTime now) { used_[version_id] = now; }

  /// Of the versions that are there, those that nobody used for `grace`; they, and those that are
  /// not there, are forgotten. What is not known, is not Cove's: a directory of the user's own.
  std::vector<std::string> take_expired(const std::vector<std::string>& present, WallTime now,
                                        std::chrono::seconds grace);

  friend bool operator==(const SkillUsage&, const SkillUsage&) = default;

 private:
  std::map<std::string, WallTime> used_;
};

}  // namespace cove::prepare
