// The stores that are written in C, behind the C ABI's vtables: further implementations for the
// contracts of the seams.
#pragma once

#include <memory>
#include <utility>

#include "contract/c_stores/memory_stores.h"
#include "parts/metadata.hpp"
#include "parts/objects.hpp"
#include "support/fakes/loop_tools.hpp"
#include "support/fixtures/metadata_stores.hpp"

namespace cove::test {

template <std::uint32_t kFlags>
struct MetadataOfC : BlockingStore {
  MetadataOfC() {
    const cove_metadata_store slots = memory_metadata(kFlags);
    auto given = capi::take_given(&slots, &cove_metadata_store::destroy).value();
    capi::check_given(given->slots).value();
    store = capi::make_host_metadata(std::move(given),
                                     {std::make_shared<LoopTools>(loop, clock), nullptr});
  }
  ~MetadataOfC() { store.reset(); }
};
using MetadataInC = MetadataOfC<0>;
using BlockingMetadataInC = MetadataOfC<COVE_PART_BLOCKING>;

inline std::shared_ptr<ObjectStore> objects_of_c(std::uint32_t flags, base::IoLoop& loop,
                                                 const Clock& clock) {
  const cove_object_store slots = memory_objects(flags);
  auto given = capi::take_given(&slots, &cove_object_store::destroy).value();
  capi::check_given(given->slots).value();
  return capi::make_host_objects(std::move(given),
                                 {std::make_shared<LoopTools>(loop, clock), nullptr});
}

}  // namespace cove::test

#define EVERY_METADATA_STORE                                                       \
  cove::test::MemoryMetadata, cove::test::SqliteMetadata, cove::test::MetadataInC, \
      cove::test::BlockingMetadataInC
