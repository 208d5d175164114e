/// What is done to a sandbox as a whole, and what is said of it.
#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "views.hpp"

using namespace cove;

namespace cove::capi {
namespace {

using StopForm = Result<void> (Cove::*)(const SandboxId&, const StopOptions&,
                                        const CallContext&) const;
using StopAsyncForm = void (Cove::*)(SandboxId, StopOptions, CallContext,
                                     std::function<void(Result<void>)>) const;

/// cove_stop and cove_archive, which differ in the member they call.
cove_status stop_by(StopForm form, cove_handle* cove, const char* sandbox_id,
                    const cove_stop_options* options, cove_error** out_error) noexcept {
  return waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY(const auto sandbox, read_sandbox_id(sandbox_id));
    COVE_TRY(const auto stop, read_stop(options));
    return (handle.library->cove().*form)(sandbox, stop.options, stop.call);
  });
}

cove_status stop_start_by(StopAsyncForm form, cove_handle* cove, const char* sandbox_id,
                          const cove_stop_options* options, cove_done_fn done, void* user_data,
                          cove_drop_fn drop, cove_error** out_error) noexcept {
  return starting_call<void>(cove, "cove", out_error, done, user_data, drop,
                             [&](cove_handle& handle, const auto& reply) -> Result<void> {
                               COVE_TRY(auto sandbox, read_sandbox_id(sandbox_id));
                               COVE_TRY(auto stop, read_stop(options));
                               (handle.library->cove().*form)(std::move(sandbox), stop.options,
                                                              std::move(stop.call), answer(reply));
                               return ok();
                             });
}

struct ListCall {
  std::string source;
  std::string after;
  std::uint32_t limit = 100;
  CallContext call;
};

Result<ListCall> read_list(const cove_list_options* options) {
  COVE_TRY(const auto read, read_options(options));
  ListCall list;
  if (read.source != nullptr) list.source = read.source;
  if (read.after != nullptr) list.after = read.after;
  if (read.limit != 0) list.limit = read.limit;
  list.call = call_of(read.timeout_ms, read.cancel);
  return list;
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_stop(cove_handle* cove, const char* sandbox_id, const cove_stop_options* options,
                      cove_error** out_error) {
  return capi::stop_by(&Cove::stop, cove, sandbox_id, options, out_error);
}

cove_status cove_stop_start(cove_handle* cove, const char* sandbox_id,
                            const cove_stop_options* options, cove_done_fn done, void* user_data,
                            cove_drop_fn drop, cove_error** out_error) {
  return capi::stop_start_by(&Cove::stop_async, cove, sandbox_id, options, done, user_data, drop,
                             out_error);
}

cove_status cove_archive(cove_handle* cove, const char* sandbox_id,
                         const cove_stop_options* options, cove_error** out_error) {
  return capi::stop_by(&Cove::archive, cove, sandbox_id, options, out_error);
}

cove_status cove_archive_start(cove_handle* cove, const char* sandbox_id,
                               const cove_stop_options* options, cove_done_fn done, void* user_data,
                               cove_drop_fn drop, cove_error** out_error) {
  return capi::stop_start_by(&Cove::archive_async, cove, sandbox_id, options, done, user_data, drop,
                             out_error);
}

cove_status cove_relocate(cove_handle* cove, const char* sandbox_id,
                          const cove_relocate_options* options, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY(const auto sandbox, capi::read_sandbox_id(sandbox_id));
    COVE_TRY(const auto relocate, capi::read_relocate(options));
    return handle.library->cove().relocate(sandbox, relocate.options, relocate.call);
  });
}

cove_status cove_relocate_start(cove_handle* cove, const char* sandbox_id,
                                const cove_relocate_options* options, cove_done_fn done,
                                void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<void>(cove, "cove", out_error, done, user_data, drop,
                                   [&](cove_handle& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto sandbox, capi::read_sandbox_id(sandbox_id));
                                     COVE_TRY(auto relocate, capi::read_relocate(options));
                                     handle.library->cove().relocate_async(
                                         std::move(sandbox), std::move(relocate.options),
                                         std::move(relocate.call), capi::answer(reply));
                                     return ok();
                                   });
}

cove_status cove_destroy(cove_handle* cove, const char* sandbox_id,
                         const cove_call_options* options, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY(const auto sandbox, capi::read_sandbox_id(sandbox_id));
    COVE_TRY(const auto call, capi::read_call(options));
    return handle.library->cove().destroy(sandbox, call);
  });
}

cove_status cove_destroy_start(cove_handle* cove, const char* sandbox_id,
                               const cove_call_options* options, cove_done_fn done, void* user_data,
                               cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<void>(cove, "cove", out_error, done, user_data, drop,
                                   [&](cove_handle& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto sandbox, capi::read_sandbox_id(sandbox_id));
                                     COVE_TRY(auto call, capi::read_call(options));
                                     handle.library->cove().destroy_async(
                                         std::move(sandbox), std::move(call), capi::answer(reply));
                                     return ok();
                                   });
}

cove_status cove_status_json(cove_handle* cove, const char* sandbox_id,
                             const cove_call_options* options, cove_buffer** out_json,
                             cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY(const auto sandbox, capi::read_sandbox_id(sandbox_id));
    COVE_TRY(const auto call, capi::read_call(options));
    COVE_TRY(const auto record, handle.library->cove().status(sandbox, call));
    *out_json = capi::make_buffer(capi::status_json(record));
    return ok();
  });
}

cove_status cove_status_json_start(cove_handle* cove, const char* sandbox_id,
                                   const cove_call_options* options, cove_buffer_fn done,
                                   void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto sandbox, capi::read_sandbox_id(sandbox_id));
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().status_async(std::move(sandbox), std::move(call),
                                            capi::answer_text<Record>(reply, capi::status_json));
        return ok();
      });
}

cove_status cove_list_json(cove_handle* cove, const cove_list_options* options,
                           cove_buffer** out_json, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY(const auto list, capi::read_list(options));
    COVE_TRY(const auto page,
             handle.library->cove().list(list.source, list.after, list.limit, list.call));
    *out_json = capi::make_buffer(capi::list_json(page));
    return ok();
  });
}

cove_status cove_list_json_start(cove_handle* cove, const cove_list_options* options,
                                 cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                 cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto list, capi::read_list(options));
        handle.library->cove().list_async(std::move(list.source), std::move(list.after), list.limit,
                                          std::move(list.call),
                                          capi::answer_text<RecordPage>(reply, capi::list_json));
        return ok();
      });
}

cove_status cove_orphans_json(cove_handle* cove, const cove_call_options* options,
                              cove_buffer** out_json, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY(const auto call, capi::read_call(options));
    COVE_TRY(const auto report, handle.library->cove().orphans(call));
    *out_json = capi::make_buffer(capi::orphans_json(report));
    return ok();
  });
}

cove_status cove_orphans_json_start(cove_handle* cove, const cove_call_options* options,
                                    cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                    cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().orphans_async(
            std::move(call), capi::answer_text<OrphanReport>(reply, capi::orphans_json));
        return ok();
      });
}

cove_status cove_doctor_json(cove_handle* cove, const cove_call_options* options,
                             cove_buffer** out_json, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY_VOID(capi::read_call(options));
    *out_json = capi::make_buffer(capi::doctor_json(handle.library->cove().doctor()));
    return ok();
  });
}

cove_status cove_doctor_json_start(cove_handle* cove, const cove_call_options* options,
                                   cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                   cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().doctor_async(
            std::move(call), capi::answer_text<std::vector<Finding>>(reply, capi::doctor_json));
        return ok();
      });
}

}  // extern "C"
