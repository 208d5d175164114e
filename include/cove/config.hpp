/// The configuration of one Cove: a JSON document with a schema (docs/config.schema.json).
///
///     auto config = parse_config(R"({"state_dir": "/var/lib/myapp/cove"})");
///
/// Only `state_dir` is required: metadata is then SQLite, objects are a directory, and the provider
/// is the local one, all below it. An unknown or wrong key is kInvalidArgument and named.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <cove/lifecycle.hpp>
#include <cove/policy.hpp>
#include <cove/result.hpp>

namespace cove {

/// "metadata": where records live.
struct MetadataConfig {
  std::string type = "sqlite";  ///< "sqlite" | "memory"
  std::string path;             ///< of the database file; default `<state_dir>/metadata.db`
};

/// "objects": where snapshots live.
struct ObjectsConfig {
  std::string type = "directory";  ///< "directory" | "memory"
  std::string path;                ///< default `<state_dir>/objects`
};

/// "snapshot": what an archive keeps.
struct SnapshotConfig {
  bool include_home = false;  ///< HOME beside the workspace: caches and user installs come back too
};

/// "provider", and each of "providers": where sandboxes run.
struct ProviderConfig {
  std::string type = "local";  ///< "local"
  std::string bubblewrap;  ///< path of bwrap; default: looked up in /usr/bin, /usr/local/bin, /bin
  std::string agent;       ///< path of another cove-agent; default: the one in the library
  std::string
      cgroup_parent;  ///< where the sandboxes' cgroups go, below each hierarchy; default "cove"
  std::uint32_t uid_base = 0;    ///< first host uid of the ranges (root only); default 2^20 * 512
  std::uint32_t uid_ranges = 0;  ///< how many ranges of 65,536; default 4096
  std::string root_tree;         ///< of a named one: as policy.root_tree, which is the usual one's
};

/// All settings of one Cove; docs/configuration.md explains them.
struct Config {
  std::string state_dir;  ///< required; made with mode 0700, refused where others may enter
  MetadataConfig metadata;
  ObjectsConfig objects;
  SnapshotConfig snapshot;
  ProviderConfig provider;  ///< the usual one, called by its type: what is new begins there

  /// More of them, by the names that records keep; a workspace gets there by Cove::relocate. What
  /// `policy` says holds for them too, but for the root tree.
  std::map<std::string, ProviderConfig> providers;
  SandboxPolicy policy;         ///< "policy": {"network": "none"|"proxy"|"host", "proxy": {...},
                                ///< "system": "read_only"|"writable", "root_tree", "limits": {...}}
  LifecycleSettings lifecycle;  ///< durations in seconds: "stop_after_s", ...; its
                                ///< `running` is "quotas": {"running", ...}
  std::chrono::milliseconds sweep_every{0};  ///< 0 = only when Cove::sweep is called
  std::uint32_t blocking_threads =
      4;  ///< 1 to 64; for what has no asynchronous form (SQLite, disk)
};

/// Parses and checks a configuration.
Result<Config> parse_config(std::string_view json);

/// The JSON Schema that parse_config checks against.
std::string_view config_schema() noexcept;

}  // namespace cove
