/// A Cove of fakes: records and objects in memory, instances of a FakeProvider.
#pragma once

#include <memory>

#include <cove/cove.hpp>

#include "base/async/io_loop.hpp"
#include "support/fakes/fake_provider.hpp"
#include "support/trees/scratch_directory.hpp"

namespace cove::testing {

struct FakeCove {
  ScratchDirectory scratch;
  base::IoLoop spare;  // for a fake command that hangs
  std::shared_ptr<FakeProvider> provider = std::make_shared<FakeProvider>(spare);

  Config config() const {
    Config config;
    config.state_dir = scratch / "state";
    config.metadata.type = "memory";
    config.objects.type = "memory";
    config.blocking_threads = 1;
    return config;
  }

  Cove open(const Config& config, Parts parts = {}) const {
    parts.provider = provider;
    return Cove::open(config, std::move(parts)).value();
  }
  Cove open() const { return open(config()); }
};

}  // namespace cove::testing
