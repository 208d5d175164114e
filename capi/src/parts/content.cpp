#include "parts/content.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "base/async/spawn.hpp"
#include "base/values/caught.hpp"
#include "buffer.hpp"

using namespace cove;

namespace cove::capi {
namespace {

Error nobody_waits() { return {ErrorCode::kCancelled, "nobody waits for this object any more"}; }

}  // namespace

void ContentFeed::read(Got got) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_over_) {
      scheduler_.post([self = shared_from_this(), got = std::move(got)] { self->start(got); });
      return;
    }
  }
  got(nobody_waits());
}

bool ContentFeed::has_ended() {
  const std::lock_guard lock(mutex_);
  return is_over_;
}

void ContentFeed::start(Got got) {
  if (has_ended()) {
    got(nobody_waits());
  } else if (is_busy_) {
    got(Error(ErrorCode::kFailedPrecondition, "a piece of this content is on its way already"));
  } else {
    is_busy_ = true;
    base::spawn(scheduler_, run(shared_from_this(), std::move(got)));
  }
}

Task<void> ContentFeed::run(std::shared_ptr<ContentFeed> self, Got got) {
  Result<Bytes> piece = Error(ErrorCode::kInternal, "a fault in Cove: no piece");
  try {
    piece = co_await self->source_.next(self->call_);
  } catch (...) {
    piece = Error(ErrorCode::kInternal, "a fault in Cove: " + base::caught_text());
  }
  if (!piece && !self->failure_) self->failure_ = piece.error();
  if (piece) {
    self->given_ += piece->size();
    self->was_read_ = piece->empty();
  }
  self->is_busy_ = false;
  if (self->idle_) self->idle_->complete(0);
  got(std::move(piece));
}

Task<void> ContentFeed::end() {
  {
    // First, so that no other piece is begun while the last one is waited for.
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  if (is_busy_) {
    idle_ = base::Completion<int>::make(scheduler_);
    const auto idle = idle_;
    static_cast<void>(co_await idle->wait());
  }
}

namespace {

/// Waits for the next piece; not on Cove's thread.
Result<void> refill(cove_content& content) {
  const auto promise = std::make_shared<std::promise<Result<Bytes>>>();
  auto future = promise->get_future();
  content.feed->read([promise](Result<Bytes> piece) { promise->set_value(std::move(piece)); });
  COVE_TRY(content.rest, future.get());
  content.used = 0;
  return ok();
}

/// What is left of the last piece.
Bytes take_rest(cove_content& content) {
  Bytes rest(content.rest.begin() + static_cast<std::ptrdiff_t>(content.used), content.rest.end());
  content.rest.clear();
  content.used = 0;
  return rest;
}

}  // namespace
}  // namespace cove::capi

cove_content::cove_content(std::shared_ptr<capi::ContentFeed> its_feed)
    : feed(std::move(its_feed)), process_(::getpid()) {}

Result<void> cove_content::check_usable() const {
  if (::getpid() == process_) return ok();
  return Error(ErrorCode::kFailedPrecondition,
               "this content belongs to the process that this one was forked from");
}

extern "C" {

cove_status cove_content_read(cove_content* content, void* buffer, size_t capacity,
                              size_t* out_size, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(out_size, "out_size"));
    *out_size = 0;
    COVE_TRY_VOID(capi::require(content, "content"));
    COVE_TRY_VOID(capi::require(buffer, "buffer"));
    COVE_TRY_VOID(content->check_usable());
    if (capacity == 0) return Error(ErrorCode::kInvalidArgument, "capacity is 0");
    if (capi::CallbackScope::active()) {
      return Error(ErrorCode::kFailedPrecondition,
                   "this call waits, and on Cove's thread it would wait for itself: use "
                   "cove_content_read_start, or COVE_PART_BLOCKING");
    }
    if (content->used == content->rest.size()) COVE_TRY_VOID(capi::refill(*content));
    const size_t size = std::min(capacity, content->rest.size() - content->used);
    if (size > 0) std::memcpy(buffer, content->rest.data() + content->used, size);
    content->used += size;
    *out_size = size;
    return ok();
  });
}

cove_status cove_content_read_start(cove_content* content, cove_buffer_fn done, void* user_data,
                                    cove_drop_fn drop, cove_error** out_error) {
  return capi::guarded_start<cove_buffer>(
      out_error, done, user_data, drop,
      [&](const std::shared_ptr<capi::Reply<cove_buffer>>& reply) -> Result<void> {
        COVE_TRY_VOID(capi::require(content, "content"));
        COVE_TRY_VOID(content->check_usable());
        if (content->used < content->rest.size()) {
          const Bytes rest = capi::take_rest(*content);
          reply->send([&]() -> Result<cove_buffer*> { return capi::make_buffer(rest); });
          return ok();
        }
        content->feed->read([reply](Result<Bytes> piece) {
          reply->send([&]() -> Result<cove_buffer*> {
            if (!piece) return piece.error();
            return capi::make_buffer(*piece);
          });
        });
        return ok();
      });
}

void cove_content_free(cove_content* content) {
  if (content != nullptr && content->check_usable()) delete content;
}

}  // extern "C"
