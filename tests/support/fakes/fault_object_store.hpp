/// FaultObjectStore: a store whose n-th step fails. Steps are the calls and the pieces of a get.
/// With kKill the whole process dies there; then the pieces of a put are steps too.
#pragma once

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include <cove/object_store.hpp>

namespace cove::test {

enum class FaultKind : std::uint8_t {
  kBefore,    ///< the call does nothing and fails
  kAfter,     ///< the call is done, and its answer is lost
  kHalfWay,   ///< a put reads two pieces of its content and then fails; else as kBefore
  kBadBytes,  ///< a get gives a piece with one bit flipped; else nothing happens
  kKill,      ///< the process is killed (SIGKILL)
};

class FaultObjectStore final : public ObjectStore {
 public:
  explicit FaultObjectStore(ObjectStore& inner) : inner_(inner) {}

  /// The step `n` from now on, counted from 0, fails; a negative one never comes.
  void fail_at(int n, FaultKind kind = FaultKind::kBefore) {
    left_ = n;
    kind_ = kind;
    fired_ = false;
  }
  bool fired() const { return fired_; }

  Task<Result<ObjectInfo>> put_if_absent(const ObjectKey& key, ByteSource& content,
                                         const CallContext& call) override {
    const bool fails = step();
    if (fails && kind_ == FaultKind::kBefore) co_return lost();
    if (fails && kind_ == FaultKind::kHalfWay) {
      for (int i = 0; i < 2; ++i) {
        COVE_CO_TRY_VOID(as_void(co_await content.next(call)));
      }
      co_return lost();
    }
    DeadlyContent deadly(*this, content);
    ByteSource& given = kind_ == FaultKind::kKill ? static_cast<ByteSource&>(deadly) : content;
    auto put = co_await inner_.put_if_absent(key, given, call);
    if (fails && kind_ == FaultKind::kAfter) co_return lost();
    co_return put;
  }

  Task<Result<std::unique_ptr<ByteSource>>> get(const ObjectKey& key,
                                                const CallContext& call) override {
    const bool fails = step();
    if (fails && kind_ != FaultKind::kBadBytes) co_return lost();
    COVE_CO_TRY(auto source, co_await inner_.get(key, call));
    co_return std::unique_ptr<ByteSource>(std::make_unique<Source>(*this, std::move(source)));
  }

  Task<Result<ObjectInfo>> stat(const ObjectKey& key, const CallContext& call) override {
    if (step() && kind_ != FaultKind::kBadBytes) co_return lost();
    co_return co_await inner_.stat(key, call);
  }

  Task<Result<ObjectPage>> list(const std::string& prefix, const std::string& after,
                                std::uint32_t limit, const CallContext& call) override {
    if (step() && kind_ != FaultKind::kBadBytes) co_return lost();
    co_return co_await inner_.list(prefix, after, limit, call);
  }

  Task<Result<void>> remove(const ObjectKey& key, const CallContext& call) override {
    const bool fails = step();
    if (fails && kind_ == FaultKind::kBefore) co_return lost();
    auto removed = co_await inner_.remove(key, call);
    if (fails && kind_ != FaultKind::kBadBytes) co_return lost();
    co_return removed;
  }

 private:
  class Source final : public ByteSource {
   public:
    Source(FaultObjectStore& store, std::unique_ptr<ByteSource> inner)
        : store_(store), inner_(std::move(inner)) {}

    Task<Result<Bytes>> next(const CallContext& call) override {
      const bool fails = store_.step();
      if (fails && store_.kind_ != FaultKind::kBadBytes) co_return lost();
      COVE_CO_TRY(Bytes piece, co_await inner_->next(call));
      if (fails && !piece.empty()) piece[piece.size() / 2] ^= std::byte{0x10};
      co_return piece;
    }

   private:
    FaultObjectStore& store_;
    std::unique_ptr<ByteSource> inner_;
  };

  class DeadlyContent final : public ByteSource {
   public:
    DeadlyContent(FaultObjectStore& store, ByteSource& inner) : store_(store), inner_(inner) {}

    Task<Result<Bytes>> next(const CallContext& call) override {
      store_.step();
      co_return co_await inner_.next(call);
    }

   private:
    FaultObjectStore& store_;
    ByteSource& inner_;
  };

  static Error lost() { return {ErrorCode::kUnavailable, "the store does not answer"}; }
  static Result<void> as_void(const Result<Bytes>& result) {
    return result ? ok() : Result<void>(result.error());
  }

  bool step() {
    const bool fails = left_.fetch_sub(1) == 0;
    if (fails && kind_ == FaultKind::kKill) ::raise(SIGKILL);
    if (fails) fired_ = true;
    return fails;
  }

  ObjectStore& inner_;
  std::atomic<int> left_{-1};
  std::atomic<bool> fired_{false};
  FaultKind kind_ = FaultKind::kBefore;
};

}  // namespace cove::test
