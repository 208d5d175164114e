/// What a sandbox sees of the host's system: an allow-list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cove/result.hpp>

namespace cove::local {

struct SystemEntry {
  enum class Kind : std::uint8_t {
    kBind,     ///< `source` (a path) is bound read-only
    kSymlink,  ///< a link to `source` is made
    kOwn,      ///< `source` (a path) is bound writable: of the sandbox's own system layer
    kEmpty,    ///< an empty directory
  };
  Kind kind = Kind::kBind;
  std::string source;
  std::string destination;  ///< absolute, inside

  friend bool operator==(const SystemEntry&, const SystemEntry&) = default;
};

struct SystemView {
  std::vector<SystemEntry> entries;
  bool own_etc = false;     ///< /etc is among the entries: it is not that of made_up_etc.hpp
  bool has_passwd = false;  ///< with own_etc: there is an /etc/passwd to be covered
  bool has_group = false;
  bool has_resolv_conf = false;
  bool has_hosts = false;  ///< with own_etc: Cove made it, so the host's hosts may cover its own
};

/// The host's own: /usr, and /bin, /sbin and the /lib* as they are there (links or directories).
/// Never /root, /home, /etc, /var, /opt, /srv, /run.
Result<SystemView> host_system_view();

/// A root file system tree that the host application names: its top entries, but for those that
/// every sandbox has of its own. `directory` is where to look now, `path` how bubblewrap finds it.
Result<SystemView> tree_system_view(int directory, const std::string& path);

}  // namespace cove::local
