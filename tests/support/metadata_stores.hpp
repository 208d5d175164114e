// The metadata stores that the contract is run on, each with blocking calls for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <cove/metadata_store.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "base/async/worker_pool.hpp"
#include "base/system_clock.hpp"

namespace cove::test {

/// A directory that goes with this object.
class StoreDirectory {
 public:
  StoreDirectory();
  ~StoreDirectory();
  StoreDirectory(const StoreDirectory&) = delete;
  StoreDirectory& operator=(const StoreDirectory&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A store and what it runs on. From any thread but the loop's.
class BlockingStore {
 public:
  Result<Version> insert(const DocumentId& id, const Document& document,
                         Durability durability = Durability::kRelaxed,
                         const CallContext& call = {}) {
    return base::sync_wait(loop, store->insert(id, document, durability, call));
  }
  Result<std::optional<StoredDocument>> find(const DocumentId& id, const CallContext& call = {}) {
    return base::sync_wait(loop, store->find(id, call));
  }
  Result<Version> swap(const DocumentId& id, Version expected, const Document& next,
                       Durability durability = Durability::kRelaxed, const CallContext& call = {}) {
    return base::sync_wait(loop, store->compare_and_swap(id, expected, next, durability, call));
  }
  Result<void> remove(const DocumentId& id, Version expected, const CallContext& call = {}) {
    return base::sync_wait(loop, store->remove(id, expected, call));
  }
  Result<DocumentPage> query(const DocumentQuery& query, const CallContext& call = {}) {
    return base::sync_wait(loop, store->query(query, call));
  }
  Result<StoreTime> now(const CallContext& call = {}) {
    return base::sync_wait(loop, store->now(call));
  }

  base::SystemClock clock;
  base::IoLoop loop;
  base::WorkerPool pool{2};
  std::shared_ptr<MetadataStore> store;
};

struct MemoryMetadata : BlockingStore {
  MemoryMetadata();
};

struct SqliteMetadata : BlockingStore {
  SqliteMetadata();
  explicit SqliteMetadata(const std::string& path);
  ~SqliteMetadata() { store.reset(); }

 private:
  std::unique_ptr<StoreDirectory> directory_;  ///< null where the path was given
};

#define EVERY_METADATA_STORE cove::test::MemoryMetadata, cove::test::SqliteMetadata

inline DocumentId sandbox(std::string name) { return {DocumentKind::kSandbox, std::move(name)}; }
inline Document text(std::string body) { return {std::move(body), {}}; }
inline std::uint64_t number_of(Version version) { return static_cast<std::uint64_t>(version); }

}  // namespace cove::test
