// The contract of ObjectStore, on every implementation.
#include <algorithm>
#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "contract/c_stores/stores_in_c.hpp"
#include "objects/directory/directory_objects.hpp"
#include "objects/memory/memory_objects.hpp"
#include "support/fakes/blocking_objects.hpp"
#include "support/fakes/fault_object_store.hpp"
#include "support/trees/scratch_tree.hpp"

using namespace std::string_literals;
using cove::CallContext;
using cove::Error;
using cove::ErrorCode;
using cove::ObjectKey;
using cove::ObjectStore;
using cove::base::IoLoop;
using cove::base::WorkerPool;
using cove::test::BlockingObjects;
using cove::test::ScratchTree;
using cove::test::TextSource;

namespace {

struct MemoryObjects {
  IoLoop loop;
  std::unique_ptr<ObjectStore> store = cove::objects::make_memory_objects();
  BlockingObjects objects{*store, loop};
};

/// A decorator keeps the contract while it fails nothing.
struct FaultObjects {
  IoLoop loop;
  std::unique_ptr<ObjectStore> inner = cove::objects::make_memory_objects();
  std::unique_ptr<ObjectStore> store = std::make_unique<cove::test::FaultObjectStore>(*inner);
  BlockingObjects objects{*store, loop};
};

template <bool kUnnamed>
struct DirectoryStore {
  ScratchTree directory;
  IoLoop loop;
  WorkerPool pool{2};  // ends before the loop that it posts to
  std::unique_ptr<ObjectStore> store =
      cove::objects::open_directory_objects(directory.path("store"), pool, loop,
                                            {.unnamed_files = kUnnamed})
          .value();
  BlockingObjects objects{*store, loop};
};
/// One that is written in C, behind the vtable of the C ABI.
template <std::uint32_t kFlags>
struct StoreInC {
  cove::base::SystemClock clock;
  IoLoop loop;
  std::shared_ptr<ObjectStore> store = cove::test::objects_of_c(kFlags, loop, clock);
  BlockingObjects objects{*store, loop};
};
using ObjectsInC = StoreInC<0>;
using BlockingObjectsInC = StoreInC<COVE_PART_BLOCKING>;
using DirectoryObjects = DirectoryStore<true>;
using DirectoryObjectsWithNamedFiles = DirectoryStore<false>;

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  return text;
}

}  // namespace

#define EVERY_OBJECT_STORE                                                                   \
  MemoryObjects, FaultObjects, DirectoryObjects, DirectoryObjectsWithNamedFiles, ObjectsInC, \
      BlockingObjectsInC

TEMPLATE_TEST_CASE("ObjectStore: gives back what was put, whatever the size",
                   "[contract][objects][threads]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  for (const std::size_t size : {0UL, 1UL, 262'143UL, 262'144UL, 262'145UL, 3'000'000UL}) {
    const std::string key = "sizes/" + std::to_string(size);
    const std::string text = pattern(size);
    CHECK(objects.put(key, text).value() == cove::ObjectInfo{ObjectKey(key), size});
    CHECK(objects.get(key).value() == text);
    CHECK(objects.stat(key).value().size == size);
  }
}

TEMPLATE_TEST_CASE("ObjectStore: the second put of a key is refused and changes nothing",
                   "[contract][objects]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  REQUIRE(objects.put("a/b", "one"));
  CHECK(objects.put("a/b", "two").error().code() == ErrorCode::kAlreadyExists);
  CHECK(objects.get("a/b").value() == "one");
  CHECK(objects.keys() == std::vector{"a/b"s});
}

TEMPLATE_TEST_CASE("ObjectStore: of many puts of one key at once one wins, whole",
                   "[contract][objects][threads]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  for (int round = 0; round < 5; ++round) {
    const std::string key = "race/" + std::to_string(round);
    std::atomic<int> won{0};
    std::atomic<int> refused{0};
    std::vector<std::thread> writers;
    for (char c = 'a'; c < 'i'; ++c) {
      writers.emplace_back([&, c] {
        TextSource source(std::string(100'000, c), 1000);
        const auto put = objects.put(key, source);
        if (put) ++won;
        if (!put && put.error().code() == ErrorCode::kAlreadyExists) ++refused;
      });
    }
    for (auto& writer : writers) writer.join();
    CHECK(won == 1);
    CHECK(refused == 7);
    const std::string text = objects.get(key).value();
    CHECK(text == std::string(100'000, text.at(0)));
  }
}

TEMPLATE_TEST_CASE("ObjectStore: a put whose content fails leaves nothing and gives its error",
                   "[contract][objects]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  TextSource source(pattern(500'000), 64 * 1024, Error(ErrorCode::kConflict, "it changed"));
  const auto put = objects.put("x/y/z", source);
  REQUIRE_FALSE(put);
  CHECK(put.error().code() == ErrorCode::kConflict);
  CHECK(put.error().message() == "it changed");
  CHECK(objects.get("x/y/z").error().code() == ErrorCode::kNotFound);
  CHECK(objects.keys().empty());
  CHECK(objects.put("x/y/z", "later"));
}

TEMPLATE_TEST_CASE("ObjectStore: nobody sees an object before it is whole", "[contract][objects]",
                   EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  class Watching final : public cove::ByteSource {
   public:
    explicit Watching(ObjectStore& store) : store_(store) {}
    cove::Task<cove::Result<cove::Bytes>> next(const CallContext& call) override {
      const ObjectKey key("w/o");
      const std::string none;
      COVE_CO_TRY(const auto page, co_await store_.list(none, none, 10, call));
      const auto found = co_await store_.stat(key, call);
      unseen = unseen && page.objects.empty() && !found;
      co_return cove::Bytes(++pieces < 4 ? 1000 : 0);
    }
    bool unseen = true;
    int pieces = 0;

   private:
    ObjectStore& store_;
  };
  Watching source(*fixture.store);
  REQUIRE(objects.put("w/o", source));
  CHECK(source.unseen);
  CHECK(objects.stat("w/o").value().size == 3000);
}

TEMPLATE_TEST_CASE("ObjectStore: a cancelled put leaves nothing", "[contract][objects]",
                   EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  class Stopping final : public cove::ByteSource {
   public:
    cove::Task<cove::Result<cove::Bytes>> next(const CallContext&) override {
      if (++pieces == 3) stop.request_stop();
      co_return cove::Bytes(1000);
    }
    std::stop_source stop;
    int pieces = 0;
  };
  Stopping source;
  const CallContext call{.stop = source.stop.get_token()};
  CHECK(objects.put("c", source, call).error().code() == ErrorCode::kCancelled);
  CHECK(source.pieces <= 4);
  CHECK(objects.keys().empty());
}

TEMPLATE_TEST_CASE("ObjectStore: what is not there is not found, and removing it succeeds",
                   "[contract][objects]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  REQUIRE(objects.put("a/b/c", "x"));
  for (const auto* key : {"b", "a", "a/b", "a/b/c/d", "a/b/cc"}) {
    CHECK(objects.get(key).error().code() == ErrorCode::kNotFound);
    CHECK(objects.stat(key).error().code() == ErrorCode::kNotFound);
    CHECK(objects.remove(key));
  }
  CHECK(objects.get("a/b/c").value() == "x");
  CHECK(objects.remove("a/b/c"));
  CHECK(objects.remove("a/b/c"));
  CHECK(objects.keys().empty());
  CHECK(objects.put("a/b/c", "again"));
}

TEMPLATE_TEST_CASE("ObjectStore: an open source reads on after its object was removed",
                   "[contract][objects]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  const std::string text = pattern(700'000);
  REQUIRE(objects.put("k", text));
  const auto source = objects.open("k").value();
  REQUIRE(objects.remove("k"));
  const CallContext call;
  CHECK(cove::base::sync_wait(fixture.loop, cove::test::read_all(*source, call)).value() == text);
}

TEMPLATE_TEST_CASE("ObjectStore: lists keys in the order of their bytes, by pages",
                   "[contract][objects]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  // `/` lies between `-`, `.` and the digits: directories are not in the order of their names.
  std::vector<std::string> keys{"a",    "a-b",   "a-b/c", "a.b",   "a/-", "a/b",   "a/b/c",
                                "a/b0", "a0",    "aB",    "b/c/d", "b0",  "b_/-c", "B",
                                "_",    "-/-/-", "z/1",   "z/10",  "z/2", "z/1/1"};
  for (const auto& key : keys) REQUIRE(objects.put(key, key));
  std::sort(keys.begin(), keys.end());
  for (const std::uint32_t limit : {1U, 2U, 3U, 19U, 20U, 1000U}) {
    CHECK(objects.keys("", limit) == keys);
  }
  for (const auto* prefix :
       {"a", "a/", "a/b", "a-", "b/c/", "b/c/d", "b/c/d/", "z/1", "q", "z/1/"}) {
    std::vector<std::string> expected;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(expected),
                 [&](const std::string& key) { return key.starts_with(prefix); });
    CAPTURE(prefix);
    CHECK(objects.keys(prefix, 1) == expected);
    CHECK(objects.keys(prefix) == expected);
  }
  for (const auto* after : {"", "a", "a/", "a/b", "a/zzz", "Z", "b/c/d", "b/c/d/e", "~"}) {
    std::vector<std::string> expected;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(expected),
                 [&](const std::string& key) { return key > after; });
    std::vector<std::string> listed;
    for (const auto& object : objects.list("", after, 1000).value().objects) {
      listed.push_back(object.key.str());
      CHECK(object.size == object.key.str().size());
    }
    CAPTURE(after);
    CHECK(listed == expected);
  }
}

TEMPLATE_TEST_CASE("ObjectStore: the last page names no next, also when it is full",
                   "[contract][objects]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  REQUIRE(objects.put("p/1", ""));
  REQUIRE(objects.put("p/2", ""));
  CHECK(objects.list("p/", "", 2).value().next.empty());
  CHECK(objects.list("p/", "", 1).value().next == "p/1");
  CHECK(objects.list("p/", "p/2", 1).value().objects.empty());
}

TEMPLATE_TEST_CASE("ObjectStore: refuses keys and limits outside the rule", "[contract][objects]",
                   EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  const std::vector<std::string> bad{"",
                                     "/",
                                     "a/",
                                     "/a",
                                     "a//b",
                                     ".",
                                     "..",
                                     "a/../b",
                                     "a/./b",
                                     "a b",
                                     "a\nb",
                                     "a+",
                                     "tmp~/x",
                                     "caf\xC3\xA9",
                                     "a\0b"s,
                                     "a\\b",
                                     std::string(201, 'a'),
                                     std::string(1025, 'a')};
  for (const auto& key : bad) {
    CAPTURE(key);
    CHECK(objects.put(key, "x").error().code() == ErrorCode::kInvalidArgument);
    CHECK(objects.get(key).error().code() == ErrorCode::kInvalidArgument);
    CHECK(objects.stat(key).error().code() == ErrorCode::kInvalidArgument);
    CHECK(objects.remove(key).error().code() == ErrorCode::kInvalidArgument);
  }
  CHECK(objects.list("", "", 0).error().code() == ErrorCode::kInvalidArgument);
  CHECK(objects.list("", "", 1001).error().code() == ErrorCode::kInvalidArgument);
}

TEMPLATE_TEST_CASE("ObjectStore: takes the longest keys, deep and wide", "[contract][objects]",
                   EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  std::string deep = "d";
  while (deep.size() + 2 <= 1024) deep += "/d";
  std::string wide = std::string(200, 'w');
  while (wide.size() + 201 <= 1024) wide += "/" + std::string(200, '.').replace(0, 1, "w");
  for (const auto& key : {deep, wide}) {
    REQUIRE(objects.put(key, key));
    CHECK(objects.get(key).value() == key);
  }
  CHECK(objects.keys() == std::vector{deep, wide});
  REQUIRE(objects.remove(deep));
  CHECK(objects.keys() == std::vector{wide});
}

TEMPLATE_TEST_CASE("ObjectStore: puts and removes beside each other lose nothing",
                   "[contract][objects][threads]", EVERY_OBJECT_STORE) {
  TestType fixture;
  auto& objects = fixture.objects;
  std::vector<std::thread> workers;
  std::atomic<int> failures{0};
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      for (int i = 0; i < 25; ++i) {
        // The directories of these keys come and go with the others' removes.
        const std::string key = "s/h/a/r/e/d/" + std::to_string(worker);
        if (!objects.put(key, key) || objects.get(key).value() != key || !objects.remove(key)) {
          ++failures;
        }
      }
    });
  }
  for (auto& worker : workers) worker.join();
  CHECK(failures == 0);
  CHECK(objects.keys().empty());
}
