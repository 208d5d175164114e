/// The user's files as they are read from the sandbox and written to it: one command each.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cove/guest.hpp>

namespace cove::prepare {

/// What the first command found. Paths are as commands see them, absolute.
struct GuestFilesFound {
  std::string home;
  bool may_write_apt = false;                ///< it is root, and /etc/apt can be written to
  std::map<std::string, std::string> files;  ///< those that are there
  std::set<std::string> odd;  ///< there, but no file, not readable, or of more than 256 KiB
};

/// A file that should become another one.
struct GuestFileChange {
  std::string path;                    ///< absolute
  std::optional<std::string> present;  ///< as it was read; another content, and nothing is done
  std::optional<std::string> content;  ///< none = it goes
  bool for_all = false;                ///< a new file may be read by everybody, else by its owner
};

/// Reads files below HOME, copies below `$HOME/.cove/mirrors`, and with `apt` what APT reads.
Task<Result<GuestFilesFound>> read_guest_files(Guest& guest, const std::vector<std::string>& paths,
                                               bool apt, const CallContext& call);

/// Writes the changes in their order, each by a rename; a link is followed, a file keeps its mode.
/// kConflict: somebody changed a file since it was read; it and those after it are as they were.
Task<Result<void>> write_guest_files(Guest& guest, const std::vector<GuestFileChange>& changes,
                                     const CallContext& call);

/// The programs, for tests. sh, without anything that bash or GNU alone have.
std::string reading_script(const std::vector<std::string>& paths, bool apt);
std::string writing_script(const std::vector<GuestFileChange>& changes);

/// kProvider: it is not what the reading script writes.
Result<GuestFilesFound> parse_found(std::string_view output);

}  // namespace cove::prepare
