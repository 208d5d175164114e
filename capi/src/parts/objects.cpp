#include "parts/objects.hpp"

#include <optional>
#include <utility>

#include "parts/content.hpp"

namespace cove::capi {
namespace {

using Slots = cove_object_store;

constexpr std::uint32_t kMaxPage = 1000;

/// An object of the host's that is read. It keeps what calls its slot.
class HostSource final : public ByteSource {
 public:
  HostSource(std::shared_ptr<Part> part, GivenPtr<cove_byte_source> given)
      : part_(std::move(part)), given_(std::move(given)) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    if (is_over_) co_return Bytes();
    AskHost ask = [given = given_](cove_done* done) { given->slots.next(given->user.get(), done); };
    Task<Result<Bytes>> answer = part_->ask<Bytes>("next", std::move(ask), call);
    COVE_CO_TRY(Bytes piece, co_await answer);
    is_over_ = piece.empty();
    co_return piece;
  }

 private:
  const std::shared_ptr<Part> part_;
  const GivenPtr<cove_byte_source> given_;
  bool is_over_ = false;
};

/// What the host gets to read, freed where it is not handed on.
class GivenContent {
 public:
  explicit GivenContent(std::shared_ptr<ContentFeed> feed)
      : content_(std::make_unique<cove_content>(std::move(feed))) {}
  cove_content* release() { return content_.release(); }

 private:
  std::unique_ptr<cove_content> content_;
};

class HostObjects final : public ObjectStore {
 public:
  HostObjects(GivenPtr<Slots> given, PartRuntime runtime, unsigned threads)
      : given_(std::move(given)),
        part_(std::make_shared<Part>("object store", std::move(runtime), threads)) {}

  Task<Result<ObjectInfo>> put_if_absent(const ObjectKey& key, ByteSource& content,
                                         const CallContext& call) override {
    COVE_CO_TRY_VOID(check(key, call));
    const auto feed = std::make_shared<ContentFeed>(content, call, *part_);
    const auto body = std::make_shared<GivenContent>(feed);
    AskHost ask = [given = given_, name = key.str(), body](cove_done* done) {
      given->slots.put(given->user.get(), name.c_str(), body->release(), done);
    };
    Task<Result<void>> answer = part_->tell("put", std::move(ask), call);
    const Result<void> put = co_await answer;
    co_await feed->end();
    if (!put) co_return explained(put.error(), *feed, call);
    if (!feed->was_read()) {
      co_return part_->nonsense("put", "success, and had not read the content to its end");
    }
    co_return ObjectInfo{key, feed->given()};
  }

  Task<Result<std::unique_ptr<ByteSource>>> get(const ObjectKey& key,
                                                const CallContext& call) override {
    COVE_CO_TRY_VOID(check(key, call));
    AskHost ask = [given = given_, name = key.str()](cove_done* done) {
      given->slots.get(given->user.get(), name.c_str(), done);
    };
    using Source = GivenPtr<cove_byte_source>;
    Task<Result<Source>> answer = part_->ask<Source>("get", std::move(ask), call);
    COVE_CO_TRY(Source source, co_await answer);
    co_return std::make_unique<HostSource>(part_, std::move(source));
  }

  Task<Result<ObjectInfo>> stat(const ObjectKey& key, const CallContext& call) override {
    COVE_CO_TRY_VOID(check(key, call));
    AskHost ask = [given = given_, name = key.str()](cove_done* done) {
      given->slots.stat(given->user.get(), name.c_str(), done);
    };
    Task<Result<ObjectSize>> answer = part_->ask<ObjectSize>("stat", std::move(ask), call);
    COVE_CO_TRY(const ObjectSize size, co_await answer);
    co_return ObjectInfo{key, size.bytes};
  }

  Task<Result<ObjectPage>> list(const std::string& prefix, const std::string& after,
                                std::uint32_t limit, const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(part_->tools().clock()));
    if (limit < 1 || limit > kMaxPage) {
      co_return Error(ErrorCode::kInvalidArgument,
                      "a page of objects has 1 to 1000, not " + std::to_string(limit));
    }
    AskHost ask = [given = given_, prefix, after, limit](cove_done* done) {
      // One more tells whether the page is the last.
      given->slots.list(given->user.get(), prefix.c_str(), after.c_str(), limit + 1, done);
    };
    Task<Result<ObjectsAnswer>> answer = part_->ask<ObjectsAnswer>("list", std::move(ask), call);
    COVE_CO_TRY(ObjectsAnswer found, co_await answer);
    co_return page_of(prefix, after, limit, std::move(found));
  }

  Task<Result<void>> remove(const ObjectKey& key, const CallContext& call) override {
    COVE_CO_TRY_VOID(check(key, call));
    AskHost ask = [given = given_, name = key.str()](cove_done* done) {
      given->slots.remove(given->user.get(), name.c_str(), done);
    };
    Task<Result<void>> answer = part_->tell("remove", std::move(ask), call);
    co_return co_await answer;
  }

 private:
  Result<void> check(const ObjectKey& key, const CallContext& call) const {
    COVE_TRY_VOID(validate(key));
    return call.check(part_->tools().clock());
  }

  /// Where it was the content that failed, its error is the put's, and not what the host made of
  /// it.
  Error explained(const Error& error, const ContentFeed& feed, const CallContext& call) const {
    const bool is_ours = !call.check(part_->tools().clock());
    const std::optional<Error>& failure = feed.failure();
    return failure && !is_ours ? *failure : error;
  }

  Result<ObjectPage> page_of(const std::string& prefix, const std::string& after,
                             std::uint32_t limit, ObjectsAnswer found) const {
    if (found.objects.size() > std::size_t{limit} + 1) {
      return part_->nonsense(
          "list", std::to_string(found.objects.size()) + " objects, more than were asked for");
    }
    if (found.objects.empty() && !found.is_last) {
      return part_->nonsense("list", "nothing, and said that more follows");
    }
    const std::string* last = &after;
    for (const ObjectInfo& object : found.objects) {
      const std::string& key = object.key.str();
      const bool is_wanted = validate(object.key) && key.starts_with(prefix) && key > *last;
      if (!is_wanted) {
        return part_->nonsense("list", "objects in another order, or not asked for");
      }
      last = &key;
    }
    const bool is_cut = found.objects.size() > limit;
    if (is_cut) found.objects.pop_back();
    ObjectPage page;
    page.objects = std::move(found.objects);
    if (is_cut || !found.is_last) page.next = page.objects.back().key.str();
    return page;
  }

  const GivenPtr<Slots> given_;
  const std::shared_ptr<Part> part_;  // ends before: nothing calls a slot any more
};

}  // namespace

Result<void> check_given(const cove_object_store& slots) {
  constexpr const char* kName = "cove_object_store";
  COVE_TRY_VOID(read_threads(slots.flags, 0, slots.threads, kName));
  COVE_TRY_VOID(check_flags(slots.reserved0, 0, "cove_object_store.reserved0"));
  COVE_TRY_VOID(require_slot(slots.put, kName, "put"));
  COVE_TRY_VOID(require_slot(slots.get, kName, "get"));
  COVE_TRY_VOID(require_slot(slots.stat, kName, "stat"));
  COVE_TRY_VOID(require_slot(slots.list, kName, "list"));
  return require_slot(slots.remove, kName, "remove");
}

std::shared_ptr<ObjectStore> make_host_objects(GivenPtr<cove_object_store> given,
                                               PartRuntime runtime) {
  const Slots& slots = given->slots;
  const unsigned threads =
      read_threads(slots.flags, 0, slots.threads, "cove_object_store").value_or(0);
  return std::make_shared<HostObjects>(std::move(given), std::move(runtime), threads);
}

}  // namespace cove::capi
