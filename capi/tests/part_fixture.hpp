/// A part of a host whose slots do what each case says, and what Cove's side of it is asked with.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/async/spawn.hpp"
#include "base/system/system_clock.hpp"
#include "parts/metadata.hpp"
#include "support.hpp"
#include "support/fakes/loop_tools.hpp"

namespace part {

/// Keeps what is written.
class KeptLog final : public cove::LogSink {
 public:
  void write(cove::LogLevel, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(message);
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Where Cove would be.
struct Surroundings {
  cove::base::SystemClock clock;
  cove::base::IoLoop loop;
  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();

  cove::capi::PartRuntime runtime() {
    return {std::make_shared<cove::test::LoopTools>(loop, clock), log};
  }
  template <class T>
  T wait(cove::Task<T> task) {
    return cove::base::sync_wait(loop, std::move(task));
  }
};

/// What a store of the host does, which each case sets; unanswered otherwise.
struct Host {
  std::function<void(cove_done*)> insert;
  std::function<void(const char*, cove_done*)> find;
  std::function<void(const cove_document*, std::uint64_t, cove_done*)> swap;
  std::function<void(const cove_document_query*, cove_done*)> query;
  std::function<void(cove_done*)> now;
  int destroyed = 0;
  std::int32_t durability = -1;

  static Host& of(void* self) { return *static_cast<Host*>(self); }
};

inline cove_metadata_store slots_of(Host& host) {
  cove_metadata_store slots{};
  slots.struct_size = sizeof slots;
  slots.self = &host;
  slots.destroy = [](void* self) { ++Host::of(self).destroyed; };
  slots.insert = [](void* self, const cove_document*, int32_t durability, cove_done* done) {
    Host::of(self).durability = durability;
    Host::of(self).insert(done);
  };
  slots.find = [](void* self, uint32_t, const char* name, cove_done* done) {
    Host::of(self).find(name, done);
  };
  slots.compare_and_swap = [](void* self, const cove_document* next, uint64_t expected, int32_t,
                              cove_done* done) { Host::of(self).swap(next, expected, done); };
  slots.remove = [](void*, uint32_t, const char*, uint64_t, cove_done* done) {
    cove_done_free(done);
  };
  slots.query = [](void* self, const cove_document_query* query, cove_done* done) {
    Host::of(self).query(query, done);
  };
  slots.now = [](void* self, cove_done* done) { Host::of(self).now(done); };
  return slots;
}

/// A store over that host, and the calls that the cases make.
struct StoreOfHost : Surroundings {
  explicit StoreOfHost(std::uint32_t flags = 0) {
    cove_metadata_store slots = slots_of(host);
    slots.flags = flags;
    auto given = cove::capi::take_given(&slots, &cove_metadata_store::destroy).value();
    store = cove::capi::make_host_metadata(std::move(given), runtime());
  }
  ~StoreOfHost() { store.reset(); }

  cove::Result<std::optional<cove::StoredDocument>> find(const std::string& name,
                                                         const cove::CallContext& call = {}) {
    const cove::DocumentId id{cove::DocumentKind::kSandbox, name};
    return wait(store->find(id, call));
  }
  cove::Result<cove::StoreTime> now(const cove::CallContext& call = {}) {
    return wait(store->now(call));
  }

  Host host;
  std::shared_ptr<cove::MetadataStore> store;
};

inline cove_document document(const char* name) {
  cove_document made{};
  made.struct_size = sizeof made;
  made.kind = COVE_DOCUMENT_SANDBOX;
  made.name = name;
  made.version = 1;
  return made;
}

/// Answers and lets go; also on threads, where nothing may be checked.
inline void give_time(cove_done* done, std::int64_t ms) {
  cove_done_time(done, ms, nullptr);
  cove_done_free(done);
}

}  // namespace part
