/// TemporaryFile: a file that is being made, until it gets its name.
#pragma once

#include <string>
#include <string_view>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// A name that nothing else has: `.cove-` and 16 random hex digits.
std::string temporary_name();

/// Whether `name` has that form.
bool is_temporary_name(std::string_view name) noexcept;

/// A file that has no name yet, or a `.cove-<random>` one where the file system or a missing /proc
/// leaves no other way. Until it gets a name nothing of it stays; where the process is killed, only
/// the named kind does. Every function returns 0 or the system's error number.
class TemporaryFile {
 public:
  /// `directory` is borrowed.
  explicit TemporaryFile(int directory) : directory_(directory) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// Makes it, empty, mode 0600, open for writing.
  int create();

  /// Gives it the name, in place of what has it.
  int rename_to(const std::string& name);

  /// The same, for a name that nothing is likely to have: where that is so, its name is its first,
  /// and no entry of the directory is made to be replaced.
  int place_at(const std::string& name);

  /// Gives it the name where that is free; EEXIST where it is not.
  int link_to(const std::string& name);

  int fd() const noexcept { return *fd_; }

 private:
  std::string link() const { return "/proc/self/fd/" + std::to_string(*fd_); }
  int create_named();
  int give_name();

  int directory_;
  base::UniqueFd fd_;
  std::string name_;  // in the directory; empty = none
};

}  // namespace cove::agent
