/// Which providers and stores there are, by the names that the configuration uses. Adding one is a
/// line in registry.cpp (and its name in docs/config.schema.json).
#pragma once

#include <memory>
#include <vector>

#include <cove/cove.hpp>

#include "runtime/assembly/machinery.hpp"

namespace cove::runtime {

/// Each blocks, briefly. kInvalidArgument: no such type.
Result<std::shared_ptr<MetadataStore>> make_metadata(Machinery& machinery);
Result<std::shared_ptr<ObjectStore>> make_objects(Machinery& machinery);
Result<std::shared_ptr<Provider>> make_provider(Machinery& machinery);

/// Those that the configuration gives names.
Result<std::vector<MadeProvider>> make_named_providers(Machinery& machinery);

/// Whether a sandbox could start at this provider, as far as the configuration tells; asked before
/// one is moved there. kFailedPrecondition says why not. Blocks, briefly.
Result<void> check_destination(const Config& config, const std::string& name);

/// The one form of snapshots that there is. REQUIRES: the object store is made.
std::unique_ptr<Snapshotter> make_snapshotter(Machinery& machinery);

/// What the configured providers find on this machine. Blocks.
std::vector<Finding> probe_provider(const Machinery& machinery);

}  // namespace cove::runtime
