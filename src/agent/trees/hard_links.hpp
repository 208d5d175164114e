/// HardLinks: which files of a tree are one and the same.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

namespace cove::agent {

/// Remembers the first name of each file that has several, until the last was seen. Where very many
/// files have names that are elsewhere, the later ones are taken as files of their own.
class HardLinks {
 public:
  /// The name under which the file was seen first; none where this is the first.
  std::optional<std::string> first_name(const struct stat& facts, const std::string& path) {
    if (!S_ISREG(facts.st_mode) || facts.st_nlink < 2) return std::nullopt;
    const auto key = std::pair(facts.st_dev, facts.st_ino);
    const auto found = files_.find(key);
    if (found == files_.end()) {
      if (files_.size() < kMost) files_.emplace(key, File{path, facts.st_nlink - 1});
      return std::nullopt;
    }
    const std::string first = found->second.path;
    if (--found->second.others == 0) files_.erase(found);
    return first;
  }

 private:
  static constexpr std::size_t kMost = 262'144;
  struct File {
    std::string path;
    nlink_t others = 0;
  };
  std::map<std::pair<dev_t, ino_t>, File> files_;
};

}  // namespace cove::agent
