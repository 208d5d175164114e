/// Blocking calls of an ObjectStore, so that a test reads from top to bottom.
#pragma once

#include <string>
#include <vector>

#include <cove/object_store.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "support/fakes/byte_sources.hpp"

namespace cove::test {

class BlockingObjects {
 public:
  BlockingObjects(ObjectStore& store, base::IoLoop& loop) : store_(store), loop_(loop) {}

  Result<ObjectInfo> put(const std::string& key, ByteSource& source, const CallContext& call = {}) {
    return base::sync_wait(loop_, store_.put_if_absent(ObjectKey(key), source, call));
  }
  Result<ObjectInfo> put(const std::string& key, const std::string& text) {
    const ObjectKey name(key);
    TextSource source(text);
    const CallContext call;
    return base::sync_wait(loop_, store_.put_if_absent(name, source, call));
  }
  Result<std::string> get(const std::string& key, const CallContext& call = {}) {
    return base::sync_wait(loop_, read(ObjectKey(key), call));
  }
  Result<std::unique_ptr<ByteSource>> open(const std::string& key) {
    const ObjectKey name(key);
    const CallContext call;
    return base::sync_wait(loop_, store_.get(name, call));
  }
  Result<ObjectInfo> stat(const std::string& key) {
    const ObjectKey name(key);
    const CallContext call;
    return base::sync_wait(loop_, store_.stat(name, call));
  }
  Result<void> remove(const std::string& key) {
    const ObjectKey name(key);
    const CallContext call;
    return base::sync_wait(loop_, store_.remove(name, call));
  }
  Result<ObjectPage> list(const std::string& prefix, const std::string& after, std::uint32_t limit,
                          const CallContext& call = {}) {
    return base::sync_wait(loop_, store_.list(prefix, after, limit, call));
  }

  /// Every key below `prefix`, by pages of `limit`.
  std::vector<std::string> keys(const std::string& prefix = "", std::uint32_t limit = 1000) {
    std::vector<std::string> keys;
    std::string after;
    do {
      const ObjectPage page = list(prefix, after, limit).value();
      for (const ObjectInfo& object : page.objects) keys.push_back(object.key.str());
      after = page.next;
    } while (!after.empty());
    return keys;
  }

 private:
  Task<Result<std::string>> read(ObjectKey key, const CallContext& call) {
    COVE_CO_TRY(const auto source, co_await store_.get(key, call));
    co_return co_await read_all(*source, call);
  }

  ObjectStore& store_;
  base::IoLoop& loop_;
};

}  // namespace cove::test
