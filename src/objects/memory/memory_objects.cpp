#include "objects/memory/memory_objects.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace cove::objects {
namespace {

constexpr std::size_t kPiece = 256 * 1024;
constexpr std::uint32_t kMaxPage = 1000;

using Content = std::shared_ptr<const Bytes>;

Result<void> check(const CallContext& call) {
  if (call.stop.stop_requested()) return Error(ErrorCode::kCancelled, "the call was cancelled");
  return {};
}

Error not_found(const ObjectKey& key) {
  return {ErrorCode::kNotFound, "no object '" + key.str() + "'"};
}

Error already_exists(const ObjectKey& key) {
  return {ErrorCode::kAlreadyExists, "object '" + key.str() + "' exists already"};
}

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Content content) : content_(std::move(content)) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    COVE_CO_TRY_VOID(check(call));
    const std::size_t size = std::min(kPiece, content_->size() - offset_);
    const auto* from = content_->data() + offset_;
    offset_ += size;
    co_return Bytes(from, from + size);
  }

 private:
  Content content_;
  std::size_t offset_ = 0;
};

class MemoryObjects final : public ObjectStore {
 public:
  Task<Result<ObjectInfo>> put_if_absent(const ObjectKey& key, ByteSource& content,
                                         const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    if (find(key) != nullptr) co_return already_exists(key);
    auto bytes = std::make_shared<Bytes>();
    for (;;) {
      COVE_CO_TRY_VOID(check(call));
      COVE_CO_TRY(const Bytes piece, co_await content.next(call));
      if (piece.empty()) break;
      bytes->insert(bytes->end(), piece.begin(), piece.end());
    }
    const std::uint64_t size = bytes->size();
    if (!insert(key, std::move(bytes))) co_return already_exists(key);
    co_return ObjectInfo{key, size};
  }

  Task<Result<std::unique_ptr<ByteSource>>> get(const ObjectKey& key,
                                                const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    COVE_CO_TRY_VOID(check(call));
    Content content = find(key);
    if (content == nullptr) co_return not_found(key);
    co_return std::make_unique<MemorySource>(std::move(content));
  }

  Task<Result<ObjectInfo>> stat(const ObjectKey& key, const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    COVE_CO_TRY_VOID(check(call));
    const Content content = find(key);
    if (content == nullptr) co_return not_found(key);
    co_return ObjectInfo{key, content->size()};
  }

  Task<Result<ObjectPage>> list(const std::string& prefix, const std::string& after,
                                std::uint32_t limit, const CallContext& call) override {
    COVE_CO_TRY_VOID(check(call));
    if (limit < 1 || limit > kMaxPage) {
      co_return Error(ErrorCode::kInvalidArgument,
                      "a page of objects has 1 to 1000, not " + std::to_string(limit));
    }
    co_return page(prefix, after, limit);
  }

  Task<Result<void>> remove(const ObjectKey& key, const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    COVE_CO_TRY_VOID(check(call));
    const std::lock_guard lock(mutex_);
    objects_.erase(key.str());
    co_return ok();
  }

 private:
  Content find(const ObjectKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key.str());
    return found == objects_.end() ? nullptr : found->second;
  }

  bool insert(const ObjectKey& key, Content content) {
    const std::lock_guard lock(mutex_);
    return objects_.emplace(key.str(), std::move(content)).second;
  }

  ObjectPage page(const std::string& prefix, const std::string& after, std::uint32_t limit) const {
    const std::lock_guard lock(mutex_);
    ObjectPage page;
    auto at = prefix > after ? objects_.lower_bound(prefix) : objects_.upper_bound(after);
    for (; at != objects_.end() && at->first.starts_with(prefix); ++at) {
      if (page.objects.size() == limit) {
        page.next = page.objects.back().key.str();
        break;
      }
      page.objects.push_back({ObjectKey(at->first), at->second->size()});
    }
    return page;
  }

  mutable std::mutex mutex_;
  std::map<std::string, Content> objects_;  // by the order of bytes
};

}  // namespace

std::unique_ptr<ObjectStore> make_memory_objects() { return std::make_unique<MemoryObjects>(); }

}  // namespace cove::objects
