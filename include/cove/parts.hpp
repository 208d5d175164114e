/// Parts that the host brings instead of those that the configuration names.
///
///     Parts parts;
///     parts.metadata = std::make_shared<MyStore>();              // completes where it is awaited
///     parts.make_provider = [](std::shared_ptr<const PartTools> tools) { ... };  // needs the Cove
///     auto cove = Cove::open(config, parts);
///
/// A part belongs to one Cove, and goes while that closes, on its scheduler.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cove/clock.hpp>
#include <cove/lifecycle.hpp>
#include <cove/log.hpp>
#include <cove/metadata_store.hpp>
#include <cove/object_store.hpp>
#include <cove/provider.hpp>
#include <cove/scheduler.hpp>

namespace cove {

/// What a part of the host may use of its Cove. It outlives the part.
class PartTools {
 public:
  virtual ~PartTools() = default;

  /// Where the tasks of the part complete.
  virtual Scheduler& scheduler() const = 0;
  /// The time that this Cove goes by.
  virtual const Clock& clock() const = 0;

  /// Takes a connected Unix stream socket over, whatever comes of it, and gives the guest behind
  /// it: a cove-agent that was started for `instance`. On the scheduler. Errors: kUnavailable -
  /// closed, or no greeting in time; kConflict - another epoch answers; kIntegrity - another
  /// sandbox's agent; kProvider - no agent; kUnsupported - no protocol version in common.
  virtual Task<Result<std::shared_ptr<Guest>>> reach_agent(int socket, const InstanceRef& instance,
                                                           const CallContext& call) const = 0;

  /// True while the connection behind a guest of reach_agent is up. On the scheduler.
  virtual bool is_connected(const Guest& guest) const = 0;
};

/// Makes a part while the Cove opens, on the thread that opens it.
template <class Part>
using PartMaker =
    std::function<Result<std::shared_ptr<Part>>(std::shared_ptr<const PartTools> tools)>;

/// Any may be null: then it is the configuration's, or this machine's. Where both a part and its
/// maker are given, the part is taken.
struct Parts {
  std::shared_ptr<const Clock> clock;  ///< see Cove::clock_moved
  std::shared_ptr<MetadataStore> metadata;
  std::shared_ptr<ObjectStore> objects;
  std::shared_ptr<Provider> provider;
  std::shared_ptr<LogSink> log;
  std::shared_ptr<LifecycleObserver> observer;

  /// Providers beside the usual one, each with a name of its own; see Cove::relocate.
  std::vector<std::shared_ptr<Provider>> others;

  PartMaker<MetadataStore> make_metadata;
  PartMaker<ObjectStore> make_objects;
  PartMaker<Provider> make_provider;
};

/// Writes the cove-agent that the library carries, a static program, to a file of mode 0555; what
/// has the name is replaced as a whole. Blocks. Errors: kUnsupported - the library was built
/// without it; those of the file system.
Result<void> write_agent(const std::string& path);

}  // namespace cove
