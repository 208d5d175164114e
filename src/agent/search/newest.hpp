/// Newest: of all that is found, the few that were changed last.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include <cove/files.hpp>

#include "agent/search/walk/found.hpp"

namespace cove::agent {

class Newest {
 public:
  explicit Newest(std::size_t limit) : limit_(limit) {}

  /// Any thread.
  void add(const std::string& path, const FileInfo& facts);

  /// Everything kept, the newest first, and of one age in the order of their paths' bytes. Nothing
  /// is kept afterwards. Any thread.
  Found take(bool with_facts);

 private:
  static bool is_before(const FileInfo& a, const FileInfo& b);

  const std::size_t limit_;
  std::mutex mutex_;
  std::vector<FileInfo> heap_;  ///< guarded by mutex_; the last in the order in front
};

}  // namespace cove::agent
