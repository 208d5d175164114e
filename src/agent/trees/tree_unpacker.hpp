/// TreeUnpacker: places the entries of a tar archive below a directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include <cove/bytes.hpp>
#include <cove/files.hpp>
#include <cove/result.hpp>

#include "agent/files/directory_trail.hpp"
#include "agent/files/file_locks.hpp"
#include "agent/files/temporary_file.hpp"
#include "base/tar/tar_reader.hpp"

namespace cove::agent {

/// Nothing is written outside the directory or through a link, whatever the archive says; each file
/// appears whole, by a rename. Errors: as of GuestFiles::write_tree.
class TreeUnpacker final : private base::TarSink {
 public:
  /// `top`: a directory, O_PATH. `shown`: its path as errors name it. `locks` is borrowed.
  TreeUnpacker(base::UniqueFd top, std::string shown, FileLocks& locks);
  ~TreeUnpacker() override;

  /// Takes the next bytes of the archive. After an error it is of no more use.
  Result<void> feed(ByteView bytes) { return reader_.feed(bytes); }

  /// The input is at its end.
  Result<TreeCounts> finish();

 private:
  /// A directory on the way to where it stands.
  struct Level {
    std::string name;
    std::optional<mode_t> mode;        // to set when it is left
    std::optional<timespec> modified;  // the same
  };

  Result<void> entry(const base::TarEntry& entry) override;
  Result<void> data(ByteView bytes) override;
  Result<void> entry_end() override;

  Result<std::vector<std::string>> names_of(const std::string& path) const;
  Result<void> go_to(const std::vector<std::string>& names, std::size_t depth);
  Result<void> enter(const std::string& name);
  Result<void> leave();
  Result<int> here();
  Result<void> check_replaceable(int directory) const;
  Result<void> place_link(int directory, const base::TarEntry& entry);
  Result<void> place_hard_link(int directory, const base::TarEntry& entry);
  Result<void> rename(int directory, const std::string& temporary);
  Error failed(int error_number) const;

  base::UniqueFd top_;
  std::string shown_;
  FileLocks& locks_;
  base::TarReader reader_;
  DirectoryTrail trail_;
  std::vector<Level> levels_;
  TreeCounts counts_;
  std::string entry_path_;  // as errors name it
  std::string name_;        // the last part of the entry's path
  base::TarEntry entry_;
  std::optional<TemporaryFile> file_;  // after trail_: it works in a directory that the trail holds
};

}  // namespace cove::agent
