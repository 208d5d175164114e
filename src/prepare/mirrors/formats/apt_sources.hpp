/// APT's sources, one-line (`deb ...`) and deb822 (`URIs: ...`): the archives of Debian and Ubuntu
/// are taken from a mirror; all other sources are the user's own.
#pragma once

#include <string>
#include <string_view>

#include <cove/result.hpp>

namespace cove::prepare {

/// What /etc/os-release says.
struct Distribution {
  std::string id;        ///< "debian", "ubuntu"
  std::string codename;  ///< "bookworm"

  bool is_known() const noexcept { return (id == "debian" || id == "ubuntu") && !codename.empty(); }
};
Distribution read_os_release(std::string_view text);

struct AptMirror {
  std::string main;
  std::string security;  ///< empty = it is not known where the mirror has it: left as it is
};

/// Debian's security archive lies beside the main one: `.../debian` and `.../debian-security`.
/// Ubuntu's is in it.
AptMirror apt_mirror(const Distribution& distribution, const std::string& url);

/// True where the file names an archive of Debian or Ubuntu.
bool names_official(std::string_view text);

/// The file with the mirror in place of the official archives. `deb822`: by the file's name.
std::string merged_sources(std::string_view text, bool deb822, const AptMirror& mirror);

/// The file with the archives of `before` where it has what `written` has in their place.
std::string restored_sources(std::string_view text, bool deb822, std::string_view before,
                             std::string_view written);

/// A deb822 file for a system that names no official archive: main, updates and security.
std::string new_sources(const Distribution& distribution, const AptMirror& mirror);

}  // namespace cove::prepare
