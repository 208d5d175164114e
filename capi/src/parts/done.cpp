#include "parts/done.hpp"

#include <algorithm>
#include <chrono>

#include <unistd.h>

#include "parts/documents.hpp"
#include "parts/references.hpp"

using namespace cove;

cove_done::cove_done(std::shared_ptr<capi::PartLink> its_link, const char* its_slot,
                     std::size_t its_wanted, CallContext its_call,
                     std::shared_ptr<capi::Asked> its_asked, capi::Ended its_ended)
    : link_(std::move(its_link)),
      slot_(its_slot),
      wanted_(its_wanted),
      call_(std::move(its_call)),
      asked_(std::move(its_asked)),
      ended_(std::move(its_ended)),
      process_(::getpid()) {}

bool cove_done::is_forked() const noexcept { return ::getpid() != process_; }

Result<void> cove_done::answer(Result<capi::Answer> answer) {
  if (is_forked()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "this question was asked in the process that this one was forked from");
  }
  if (answered_.exchange(true)) {
    complain("answered twice; the first answer counts");
    return Error(ErrorCode::kFailedPrecondition, "this question was answered already");
  }
  if (answer && answer->index() != wanted_) {
    const Error wrong = nonsense("with what is no answer to it");
    complete(wrong);
    return Error(ErrorCode::kInvalidArgument, wrong.message());
  }
  complete(std::move(answer));
  return ok();
}

Result<void> cove_done::refuse(const Error& why) {
  COVE_TRY_VOID(answer(nonsense("wrongly").with_cause(why)));
  return Error(ErrorCode::kInvalidArgument, why.message());
}

void cove_done::complete(Result<capi::Answer> answer) {
  const std::shared_lock lock(link_->mutex);
  // Where who asked does not wait any more, it finds this taken.
  if (!link_->is_closed) static_cast<void>(asked_->complete(std::move(answer)));
}

bool cove_done::is_over() const {
  return is_forked() || answered_ || *ended_ || call_.stop.stop_requested();
}

std::int64_t cove_done::remaining_ms() const {
  if (is_over()) return 0;
  if (!call_.deadline) return -1;
  const std::shared_lock lock(link_->mutex);
  if (link_->is_closed) return 0;
  const Duration left = *call_.deadline - link_->clock.now();
  return std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

Error cove_done::nonsense(const std::string& what) const {
  return {ErrorCode::kInternal,
          std::string("the application's ") + link_->name + " answered '" + slot_ + "' " + what};
}

void cove_done::complain(const std::string& what) const {
  if (link_->log == nullptr) return;
  link_->log->write(LogLevel::kWarning, std::string("the application's ") + link_->name + ": '" +
                                            slot_ + "' was " + what);
}

namespace {

Result<bool> read_flag(int32_t value, const char* name) {
  if (value == 0 || value == 1) return value == 1;
  return Error(ErrorCode::kInvalidArgument,
               std::string(name) + " is " + std::to_string(value) + ", not 0 or 1");
}

Result<std::optional<Error>> read_failure(cove_status code, const char* message,
                                          int64_t retry_after_ms) {
  COVE_TRY_VOID(capi::require(message, "message"));
  if (code < COVE_INVALID_ARGUMENT || code > COVE_INTERNAL) {
    return Error(ErrorCode::kInvalidArgument,
                 "a failure needs the code of an error, not " + std::to_string(code));
  }
  const Error error(static_cast<ErrorCode>(code), message);
  if (retry_after_ms < 0) return std::optional(error);
  const auto delay = capi::milliseconds_of(static_cast<std::uint64_t>(retry_after_ms));
  return std::optional(error.with_retry_after(delay));
}

}  // namespace

extern "C" {

int32_t cove_done_is_over(const cove_done* done) {
  return done == nullptr || done->is_over() ? 1 : 0;
}

int64_t cove_done_remaining_ms(const cove_done* done) {
  return done == nullptr ? 0 : done->remaining_ms();
}

cove_status cove_done_ok(cove_done* done, cove_error** out_error) {
  return capi::answer_by(done, out_error,
                         []() -> Result<capi::Nothing> { return capi::Nothing{}; });
}

cove_status cove_done_fail(cove_done* done, cove_status code, const char* message,
                           int64_t retry_after_ms, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(done, "done"));
    const auto failure = read_failure(code, message, retry_after_ms);
    return failure ? done->answer(**failure) : done->refuse(failure.error());
  });
}

cove_status cove_done_version(cove_done* done, uint64_t version, cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<Version> { return Version{version}; });
}

cove_status cove_done_document(cove_done* done, const cove_document* document,
                               cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<std::optional<StoredDocument>> {
    if (document == nullptr) return std::optional<StoredDocument>();
    COVE_TRY(const cove_document read, capi::read_options(document));
    COVE_TRY(StoredDocument stored, capi::document_of(read));
    return std::optional<StoredDocument>(std::move(stored));
  });
}

cove_status cove_done_documents(cove_done* done, const cove_document* documents,
                                size_t document_count, int32_t is_last, cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<capi::DocumentsAnswer> {
    capi::DocumentsAnswer answer;
    COVE_TRY(answer.is_last, read_flag(is_last, "is_last"));
    COVE_TRY(const auto read, capi::read_array(documents, document_count, "documents"));
    answer.documents.reserve(read.size());
    for (const cove_document& one : read) {
      COVE_TRY(StoredDocument stored, capi::document_of(one));
      answer.documents.push_back(std::move(stored));
    }
    return answer;
  });
}

cove_status cove_done_time(cove_done* done, int64_t time_ms, cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<StoreTime> {
    return StoreTime(std::chrono::milliseconds(time_ms));
  });
}

cove_status cove_done_size(cove_done* done, uint64_t size, cove_error** out_error) {
  return capi::answer_by(done, out_error,
                         [&]() -> Result<capi::ObjectSize> { return capi::ObjectSize{size}; });
}

cove_status cove_done_source(cove_done* done, const cove_byte_source* source,
                             cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<capi::GivenPtr<cove_byte_source>> {
    COVE_TRY_VOID(capi::require(source, "source"));
    COVE_TRY(auto given, capi::take_given(source, &cove_byte_source::destroy));
    COVE_TRY_VOID(capi::check_flags(given->slots.reserved0, 0, "cove_byte_source.reserved0"));
    COVE_TRY_VOID(capi::require_slot(given->slots.next, "cove_byte_source", "next"));
    return given;
  });
}

cove_status cove_done_bytes(cove_done* done, const void* data, size_t size,
                            cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<Bytes> {
    constexpr std::size_t kMost = std::size_t{4} << 20U;
    if (size > kMost) {
      return Error(ErrorCode::kTooLarge,
                   "a piece has " + std::to_string(size) + " bytes; it may have 4 MiB");
    }
    COVE_TRY(const ByteView bytes, capi::read_data(data, size));
    return Bytes(bytes.begin(), bytes.end());
  });
}

cove_status cove_done_objects(cove_done* done, const cove_object* objects, size_t object_count,
                              int32_t is_last, cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<capi::ObjectsAnswer> {
    capi::ObjectsAnswer answer;
    COVE_TRY(answer.is_last, read_flag(is_last, "is_last"));
    COVE_TRY(const auto read, capi::read_array(objects, object_count, "objects"));
    answer.objects.reserve(read.size());
    for (const cove_object& one : read) {
      COVE_TRY_VOID(capi::check_flags(one.reserved0, 0, "cove_object.reserved0"));
      COVE_TRY_VOID(capi::require(one.key, "cove_object.key"));
      answer.objects.push_back({ObjectKey(one.key), one.size});
    }
    return answer;
  });
}

cove_status cove_done_volume(cove_done* done, const cove_offline_volume* volume,
                             cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<capi::GivenPtr<cove_offline_volume>> {
    COVE_TRY_VOID(capi::require(volume, "volume"));
    COVE_TRY(auto given, capi::take_given(volume, &cove_offline_volume::close));
    const cove_offline_volume& slots = given->slots;
    COVE_TRY_VOID(capi::check_flags(slots.flags, COVE_VOLUME_ONE_USER | COVE_VOLUME_HOME,
                                    "cove_offline_volume.flags"));
    if ((slots.flags & COVE_VOLUME_HOME) == 0 && slots.home != 0) {
      return Error(ErrorCode::kInvalidArgument,
                   "cove_offline_volume.home must be 0 without COVE_VOLUME_HOME");
    }
    COVE_TRY_VOID(capi::require_slot(slots.close, "cove_offline_volume", "close"));
    COVE_TRY_VOID(capi::require_slot(slots.sync, "cove_offline_volume", "sync"));
    return given;
  });
}

cove_status cove_done_instance(cove_done* done, int32_t is_running, int32_t has_volume,
                               cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<InstanceStatus> {
    COVE_TRY(const bool runs, read_flag(is_running, "is_running"));
    InstanceStatus status;
    status.state = runs ? InstanceState::kRunning : InstanceState::kGone;
    COVE_TRY(status.volume_present, read_flag(has_volume, "has_volume"));
    return status;
  });
}

cove_status cove_done_socket(cove_done* done, int32_t socket, cove_error** out_error) {
  // Ours from now on, also where the answer is refused.
  base::UniqueFd owned(socket);
  return capi::answer_by(done, out_error, [&]() -> Result<base::UniqueFd> {
    if (owned) return std::move(owned);
    return Error(ErrorCode::kInvalidArgument,
                 "the socket is " + std::to_string(socket) + ", which is no descriptor");
  });
}

cove_status cove_done_inventory(cove_done* done, const cove_inventory* inventory,
                                cove_error** out_error) {
  return capi::answer_by(done, out_error, [&]() -> Result<ProviderInventory> {
    COVE_TRY_VOID(capi::require(inventory, "inventory"));
    COVE_TRY(const auto read, capi::read_options(inventory));
    return capi::inventory_of(read);
  });
}

void cove_done_free(cove_done* done) {
  if (done == nullptr || done->is_forked()) return;
  if (!done->is_over()) {
    // Where it was answered in between, this is refused, as it should be.
    cove_error_free(capi::run([&] {
      return done->answer(Error(ErrorCode::kUnavailable,
                                "the application let go of the question without an answer"));
    }));
  }
  delete done;
}

}  // extern "C"
