/// Machinery: the parts that one Cove is made of, and how they are put together and taken apart.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cove/cove.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/worker_pool.hpp"
#include "base/system/system_clock.hpp"
#include "base/system/unique_fd.hpp"
#include "network/proxy.hpp"
#include "runtime/assembly/owner_files.hpp"

namespace cove::runtime {

/// A provider beside the usual one.
struct MadeProvider {
  std::shared_ptr<Provider> provider;
  SandboxPolicy policy;
};

/// In the order of making; each uses only those above it.
struct Machinery {
  /// `host_clock`: instead of this machine's; may be null.
  explicit Machinery(std::shared_ptr<const Clock> host_clock = nullptr)
      : own_clock(std::move(host_clock)) {}
  Machinery(const Machinery&) = delete;
  Machinery& operator=(const Machinery&) = delete;

  Config config;
  std::shared_ptr<LogSink> log;
  std::shared_ptr<LifecycleObserver> observer;
  const base::SystemClock system_clock;
  const std::shared_ptr<const Clock> own_clock;  ///< the host's; may be null
  const Clock& clock = own_clock ? *own_clock : system_clock;
  base::SystemIds ids;
  base::UniqueFd state_directory;
  std::unique_ptr<OwnerFiles> owners;
  std::unique_ptr<base::IoLoop> loop;
  std::unique_ptr<base::WorkerPool> blocking;
  std::shared_ptr<const PartTools> tools;  ///< for the host's parts
  std::unique_ptr<network::Proxy> egress;  ///< null without network `proxy`
  std::shared_ptr<MetadataStore> metadata;
  std::shared_ptr<ObjectStore> objects;
  std::shared_ptr<Provider> provider;
  std::vector<MadeProvider> others;
  std::unique_ptr<Snapshotter> snapshotter;
  std::unique_ptr<LifecycleManager> lifecycle;

  /// The provider that has an instance, by the name that its record keeps; null where it is none of
  /// this process.
  Provider* find_provider(const std::string& name) const;
};

/// Makes what the configuration names and the host does not bring. Blocks.
Result<std::unique_ptr<Machinery>> assemble(Config config, Parts parts);

/// Ends leases, parts and threads. Blocks until all of it is done; never on the loop's thread.
/// REQUIRES: no call runs.
void dismantle(Machinery& machinery);

}  // namespace cove::runtime
