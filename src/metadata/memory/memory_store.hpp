/// Records in this process's memory: for tests, simulations, and hosts that keep nothing.
///
///     auto store = metadata::make_memory_store(clock);
///
/// Its tasks complete where they are awaited, without suspending, so it runs under any scheduler.
/// Safe from any thread.
#pragma once

#include <functional>
#include <memory>

#include <cove/clock.hpp>
#include <cove/metadata_store.hpp>

namespace cove::metadata {

/// `clock`, which must outlive the store, judges deadlines. `time` is the store's time, and may be
/// called from any thread; without it, store time is `clock` counted from 1970. Where `time` goes
/// back the store's time stands still.
std::shared_ptr<MetadataStore> make_memory_store(const Clock& clock,
                                                 std::function<StoreTime()> time = nullptr);

}  // namespace cove::metadata
