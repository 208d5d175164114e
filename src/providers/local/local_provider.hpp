/// The local provider: sandboxes on this machine, by bubblewrap.
///
///     auto provider = open_local_provider(options, {loop, executor, clock, ids});
///
/// As root every volume has its own host uid range; as an ordinary user everything belongs to that
/// user. docs/threat-model.md says what is a boundary and what is not; docs/formats.md what is kept
/// on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cove/clock.hpp>
#include <cove/egress.hpp>
#include <cove/id_source.hpp>
#include <cove/log.hpp>
#include <cove/provider.hpp>
#include <cove/result.hpp>

namespace cove::base {
class BlockingExecutor;
class IoLoop;
}  // namespace cove::base

namespace cove::local {

struct LocalOptions {
  std::string name = "local";    ///< as records keep it
  std::string state_dir;         ///< absolute; made with mode 0700
  std::string bubblewrap;        ///< path of bwrap; empty = looked up
  std::string agent;             ///< path of another cove-agent; empty = the library's
  std::string cgroup_parent;     ///< below each hierarchy; empty = "cove"
  std::uint32_t uid_base = 0;    ///< first host uid of the ranges; 0 = 536,870,912
  std::uint32_t uid_ranges = 0;  ///< how many ranges; 0 = 4096
  std::string uid_directory;     ///< where ranges are given out; empty = /var/lib/cove-uid-ranges
  std::string node;              ///< the node's name; empty = made of this machine and state_dir
};

/// What the provider works with. Borrowed but for `log`: all outlive it.
struct LocalRuntime {
  base::IoLoop& loop;
  base::BlockingExecutor& executor;
  const Clock& clock;
  IdSource& ids;
  std::shared_ptr<LogSink> log;  ///< may be null
  Egress* egress = nullptr;      ///< serves network `proxy`; null: nothing outside is reached
};

/// Opens the state directory; blocks on the disk. That this machine cannot isolate is no error
/// here but of the first start, so that what is on disk can be reached all the same. Errors:
/// kInvalidArgument; kPermissionDenied - the state directory is open to others; kQuotaExceeded -
/// the disk is full.
Result<std::shared_ptr<Provider>> open_local_provider(const LocalOptions& options,
                                                      const LocalRuntime& runtime);

}  // namespace cove::local
