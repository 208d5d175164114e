#include "support/metadata_stores.hpp"

#include <filesystem>
#include <stdexcept>

#include <stdlib.h>

#include "metadata/memory/memory_store.hpp"
#include "metadata/sqlite/sqlite_store.hpp"

namespace cove::test {

StoreDirectory::StoreDirectory() {
  path_ = (std::filesystem::temp_directory_path() / "cove-store-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory");
}

StoreDirectory::~StoreDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

MemoryMetadata::MemoryMetadata() { store = metadata::make_memory_store(clock); }

SqliteMetadata::SqliteMetadata() : directory_(std::make_unique<StoreDirectory>()) {
  store = metadata::open_sqlite_store(directory_->file("metadata.db"), pool, loop, clock).value();
}

SqliteMetadata::SqliteMetadata(const std::string& path) {
  store = metadata::open_sqlite_store(path, pool, loop, clock).value();
}

}  // namespace cove::test
