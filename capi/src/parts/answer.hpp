/// What the slots of a host's parts are answered with.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/metadata_store.hpp>
#include <cove/object_store.hpp>
#include <cove/provider.hpp>

#include "base/system/unique_fd.hpp"
#include "parts/given.hpp"

namespace cove::capi {

struct Nothing {};

struct DocumentsAnswer {
  std::vector<StoredDocument> documents;
  bool is_last = false;
};

struct ObjectsAnswer {
  std::vector<ObjectInfo> objects;
  bool is_last = false;
};

struct ObjectSize {
  std::uint64_t bytes = 0;
};

using Answer =
    std::variant<Nothing, Version, std::optional<StoredDocument>, DocumentsAnswer, StoreTime,
                 ObjectSize, ObjectsAnswer, GivenPtr<cove_byte_source>, Bytes, InstanceStatus,
                 GivenPtr<cove_offline_volume>, base::UniqueFd, ProviderInventory>;

}  // namespace cove::capi
