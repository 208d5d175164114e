// Claims, with a million records in the metadata file: a page of due sandboxes costs at most 3x of
// the bare indexed query, and walking all of them takes bounded memory; the compare-and-swap of an
// acquire at most 2x of the bare statements; a warm acquire through the facade at most 2x of one
// round trip to the agent and one bare compare-and-swap.
//
//   bench-scale [--check] [--records N]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <cove/cove.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "base/async/worker_pool.hpp"
#include "base/system/system_clock.hpp"
#include "measure.hpp"
#include "metadata/sqlite/sqlite_store.hpp"
#include "million.hpp"

namespace {

constexpr double kMemoryMiB = 32;

std::uint32_t records_of(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--records") == 0) {
      return static_cast<std::uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
    }
  }
  return 1'000'000;
}

std::string make_directory() {
  const char* place = std::getenv("TMPDIR");
  std::string name = std::string(place != nullptr ? place : "/tmp") + "/cove-bench.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

cove::Cove open_cove(const std::string& directory) {
  cove::Config config;
  config.state_dir = directory + "/state";
  return cove::Cove::open(config).value();
}

/// A field of /proc/self/status in MiB.
double memory_of(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != field) continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}

/// The store on the file, in its blocking form.
class Store {
 public:
  explicit Store(const std::string& path)
      : store_(cove::metadata::open_sqlite_store(path, pool_, loop_, clock_).value()) {}

  cove::Result<cove::DocumentPage> next_page(std::int64_t active_before) {
    cove::DocumentQuery query;
    query.order = cove::QueryOrder::kByActivity;
    query.state = "running";
    query.active_before = cove::StoreTime(std::chrono::milliseconds(active_before));
    query.limit = 200;
    query.after = after_;
    auto page = cove::base::sync_wait(loop_, store_->query(query, call_));
    if (page) after_ = page->next;
    return page;
  }

  cove::StoredDocument find(const std::string& name) {
    const cove::DocumentId id{cove::DocumentKind::kSandbox, name};
    return cove::base::sync_wait(loop_, store_->find(id, call_)).value().value();
  }

  bool swap(const cove::StoredDocument& at, const cove::Document& next,
            cove::Durability durability) {
    return cove::base::sync_wait(
               loop_, store_->compare_and_swap(at.id, at.version, next, durability, call_))
        .has_value();
  }

 private:
  cove::base::SystemClock clock_;
  cove::base::IoLoop loop_;
  cove::base::WorkerPool pool_{4};
  std::shared_ptr<cove::MetadataStore> store_;
  cove::CallContext call_;
  std::string after_;
};

bench::Measured measure_pages(Store& store, bench::BareSqlite& bare) {
  const std::int64_t before = bench::due_before();
  const auto ours = [&] {
    const auto page = store.next_page(before);
    return page && !page->documents.empty();
  };
  const auto theirs = [&] { return bare.next_page(before) > 0; };
  return bench::measure(
      "a page of 200 due sandboxes of the sweep",
      {{"cove store query", bench::timed(ours)}, {"bare indexed query", bench::timed(theirs)}},
      {{.against = "bare indexed query", .at_most = 3}}, 60, 5);
}

/// Walks every due sandbox, page by page.
bench::Measured measure_memory(const std::string& path) {
  bench::Measured measured;
  Store store(path);
  const std::int64_t before = bench::due_before();
  static_cast<void>(store.next_page(before));
  const double at_first = memory_of("VmRSS:");
  std::size_t seen = 0;
  double most = at_first;
  for (;;) {
    const auto page = store.next_page(before);
    if (!page) return measured;
    seen += page->documents.size();
    most = std::max(most, memory_of("VmRSS:"));
    if (page->next.empty()) break;
  }
  measured.ran = true;
  measured.holds = most - at_first < kMemoryMiB;
  std::printf("walking %zu due sandboxes\n  %-4s %.1f MiB more memory (goal: below %.0f MiB)\n",
              seen, measured.holds ? "ok" : "MISS", most - at_first, kMemoryMiB);
  return measured;
}

bench::Measured measure_swaps(Store& store, bench::BareSqlite& bare, std::uint32_t records,
                              cove::Durability durability) {
  std::uint32_t number = 7;
  const auto next_name = [&] {
    number = (number * 48'271U + 11) % records;
    return bench::record_name(number);
  };
  const auto milliseconds_of = [](const auto& work) -> std::optional<double> {
    const auto start = std::chrono::steady_clock::now();
    if (!work()) return std::nullopt;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return took.count();
  };
  const auto ours = [&] {
    const cove::StoredDocument at = store.find(next_name());
    cove::Document next = at.document;
    next.index.active_at = *next.index.active_at + std::chrono::milliseconds(1);
    return milliseconds_of([&] { return store.swap(at, next, durability); });
  };
  bare.set_full(durability == cove::Durability::kDurable);
  const auto theirs = [&] {
    const std::string name = next_name();
    const cove::StoredDocument at = store.find(name);
    const std::int64_t active = at.document.index.active_at->time_since_epoch().count() + 1;
    const auto version = static_cast<std::int64_t>(at.version);
    return milliseconds_of([&] { return bare.swap(name, version, active, at.document.body); });
  };
  const bool durable = durability == cove::Durability::kDurable;
  return bench::measure(durable ? "compare-and-swap, durable" : "compare-and-swap of a lease",
                        {{"cove store swap", ours}, {"bare SQL", theirs}},
                        {{.against = "bare SQL", .at_most = 2}}, 400, 20);
}

bench::Measured measure_acquire(const cove::Cove& cove, Store& store, bench::BareSqlite& bare) {
  const cove::WorkspaceKey key{"bench", "scale", "user"};
  auto kept = cove.acquire(key).value();
  const cove::SandboxClient client = kept.client();
  if (!client.exec({.argv = {"true"}})) return {};
  bare.set_full(false);
  const auto ours = [&]() -> std::optional<double> {
    // Without the lease, so that the acquire has to write it.
    if (!kept.release()) return std::nullopt;
    const auto start = std::chrono::steady_clock::now();
    auto acquired = cove.acquire(key);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!acquired) return std::nullopt;
    kept = *acquired;
    return took.count();
  };
  const std::string name = cove::sandbox_id_of(key).str();
  const auto theirs = [&]() -> std::optional<double> {
    const cove::StoredDocument at = store.find(name);
    const auto version = static_cast<std::int64_t>(at.version);
    const std::int64_t active = at.document.index.active_at->time_since_epoch().count();
    const cove::SandboxClient now = kept.client();
    const auto start = std::chrono::steady_clock::now();
    const bool done =
        now.stat("/workspace").has_value() && bare.swap(name, version, active, at.document.body);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!done) return std::nullopt;
    return took.count();
  };
  const std::string peer = "agent round trip + bare swap";
  auto measured = bench::measure("warm acquire through the facade, with its lease to write",
                                 {{"cove acquire", ours}, {peer, theirs}},
                                 {{.against = peer, .at_most = 2}}, 300, 10);
  static_cast<void>(kept.release());
  static_cast<void>(cove.destroy(cove::sandbox_id_of(key)));
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = make_directory();
  const std::string path = directory + "/state/metadata.db";
  const std::uint32_t records = records_of(argc, argv);
  bench::Measured measured;
  {
    const cove::Cove cove = open_cove(directory);
    bench::BareSqlite bare(path);
    bench::fill_with_records(bare, records);
    measured = measure_memory(path);
    Store store(path);
    bench::add(measured, measure_pages(store, bare));
    bench::add(measured, measure_swaps(store, bare, records, cove::Durability::kRelaxed));
    bench::add(measured, measure_swaps(store, bare, records, cove::Durability::kDurable));
    bench::add(measured, measure_acquire(cove, store, bare));
  }
  std::filesystem::remove_all(directory);
  return bench::exit_status(measured, argc, argv);
}
