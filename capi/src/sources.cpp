/// What a source wants: its revival, and when its sandboxes are stopped and archived.
#include "sources.hpp"

#include <chrono>
#include <optional>

#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "views.hpp"

using namespace cove;

static_assert(static_cast<int>(ArchiveRule::kWhenIdle) == COVE_ARCHIVE_WHEN_IDLE);
static_assert(static_cast<int>(ArchiveRule::kAtOnce) == COVE_ARCHIVE_AT_ONCE);
static_assert(static_cast<int>(ArchiveRule::kNever) == COVE_ARCHIVE_NEVER);

namespace cove::capi {
namespace {

std::optional<std::chrono::milliseconds> read_idle_time(std::uint64_t count) {
  if (count == 0) return std::nullopt;
  return count == COVE_NO_TIME ? std::chrono::milliseconds(0) : milliseconds_of(count);
}

Result<IdlePolicy> read_policy(const cove_idle_policy* policy) {
  COVE_TRY(const auto read, read_options(policy));
  if (read.archive > COVE_ARCHIVE_NEVER) {
    return Error(ErrorCode::kUnsupported, "this library knows no archive rule of the number " +
                                              std::to_string(read.archive));
  }
  IdlePolicy wanted;
  wanted.archive = static_cast<ArchiveRule>(read.archive);
  wanted.stop_after = read_idle_time(read.stop_after_ms);
  wanted.archive_after = read_idle_time(read.archive_after_ms);
  return wanted;
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_revive_source(cove_handle* cove, const char* source,
                               const cove_call_options* options, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY(const auto name, capi::read_source(source));
    COVE_TRY(const auto call, capi::read_call(options));
    return handle.library->cove().revive_source(name, call);
  });
}

cove_status cove_revive_source_start(cove_handle* cove, const char* source,
                                     const cove_call_options* options, cove_done_fn done,
                                     void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<void>(cove, "cove", out_error, done, user_data, drop,
                                   [&](cove_handle& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto name, capi::read_source(source));
                                     COVE_TRY(auto call, capi::read_call(options));
                                     handle.library->cove().revive_source_async(
                                         std::move(name), std::move(call), capi::answer(reply));
                                     return ok();
                                   });
}

cove_status cove_set_idle_policy(cove_handle* cove, const char* source,
                                 const cove_idle_policy* policy, const cove_call_options* options,
                                 cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY(const auto name, capi::read_source(source));
    COVE_TRY(const auto wanted, capi::read_policy(policy));
    COVE_TRY(const auto call, capi::read_call(options));
    return handle.library->cove().set_idle_policy(name, wanted, call);
  });
}

cove_status cove_set_idle_policy_start(cove_handle* cove, const char* source,
                                       const cove_idle_policy* policy,
                                       const cove_call_options* options, cove_done_fn done,
                                       void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<void>(cove, "cove", out_error, done, user_data, drop,
                                   [&](cove_handle& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto name, capi::read_source(source));
                                     COVE_TRY(const auto wanted, capi::read_policy(policy));
                                     COVE_TRY(auto call, capi::read_call(options));
                                     handle.library->cove().set_idle_policy_async(
                                         std::move(name), wanted, std::move(call),
                                         capi::answer(reply));
                                     return ok();
                                   });
}

cove_status cove_idle_policy_json(cove_handle* cove, const char* source,
                                  const cove_call_options* options, cove_buffer** out_json,
                                  cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY(const auto name, capi::read_source(source));
    COVE_TRY(const auto call, capi::read_call(options));
    COVE_TRY(const auto policy, handle.library->cove().idle_policy(name, call));
    *out_json = capi::make_buffer(capi::idle_policy_json(policy));
    return ok();
  });
}

cove_status cove_idle_policy_json_start(cove_handle* cove, const char* source,
                                        const cove_call_options* options, cove_buffer_fn done,
                                        void* user_data, cove_drop_fn drop,
                                        cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto name, capi::read_source(source));
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().idle_policy_async(
            std::move(name), std::move(call),
            capi::answer_text<IdlePolicy>(reply, capi::idle_policy_json));
        return ok();
      });
}

}  // extern "C"
