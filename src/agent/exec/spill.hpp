/// Spill files: whole outputs of which something had to be dropped, in $HOME/.cove/spill.
///
/// One file holds at most 64 MiB, all together at most 256 MiB: where a byte more is written the
/// oldest file goes. They lie in the sandbox, with its own ids: what is in there is a hint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

struct SpillLimits {
  std::uint64_t file_bytes = 64ULL << 20;
  std::uint64_t total_bytes = 256ULL << 20;
};

class SpillStore;

/// One stream's file. Removes nothing when destroyed: results name it.
class SpillFile {
 public:
  SpillFile(SpillStore& store, std::string name, base::UniqueFd fd);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Appends what fits; past the file's limit bytes are passed over. A full disk ends the file.
  void append(std::string_view bytes);

  /// Bytes from `offset` on; fewer where the sandbox cut the file.
  std::string read(std::uint64_t offset, std::size_t limit) const;

  std::uint64_t size() const noexcept { return size_; }

  /// Where it is, as the sandbox names it; empty once it is gone.
  std::string path() const;

  /// Deletes it.
  void remove();

 private:
  friend class SpillStore;

  SpillStore* store_;
  std::string name_;
  base::UniqueFd fd_;
  std::uint64_t size_ = 0;
};

class SpillStore {
 public:
  /// Of the sandbox's home; nothing is made or looked at before the first file.
  explicit SpillStore(std::string home, SpillLimits limits = {});
  ~SpillStore();

  /// Makes the file `name`. Errors of the disk; kAlreadyExists.
  Result<std::unique_ptr<SpillFile>> create(const std::string& name);

 private:
  friend class SpillFile;
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;
    SpillFile* open = nullptr;
  };

  Result<void> open_directory();
  void take_over_old();
  bool make_room(std::uint64_t bytes, const std::string& except);
  void grew(const std::string& name, std::uint64_t bytes);
  void closed(const std::string& name);
  void remove(const std::string& name);

  std::string home_;
  SpillLimits limits_;
  base::UniqueFd directory_;
  std::list<Entry> entries_;  ///< the oldest first
  std::uint64_t total_ = 0;
};

}  // namespace cove::agent
