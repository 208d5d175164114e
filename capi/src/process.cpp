/// cove_process: what is asked of a command that runs, each call once waiting, once starting.
#include "handles.hpp"
#include "options.hpp"

using namespace cove;

namespace cove::capi {
namespace {

/// The body of a call that waits: body(handle, call) -> Result<void>.
template <class Body>
cove_status ask(cove_process* process, const cove_call_options* options, cove_error** out_error,
                Body&& body) {
  return waiting_call(process, "process", out_error, [&](cove_process& asked) -> Result<void> {
    COVE_TRY(const auto call, read_call(options));
    return body(*asked.handle, call);
  });
}

/// The body of a call that starts: body(handle, call, done) -> Result<void>.
template <class Body>
cove_status ask_start(cove_process* process, const cove_call_options* options, cove_done_fn done,
                      void* user_data, cove_drop_fn drop, cove_error** out_error, Body&& body) {
  return starting_call<void>(process, "process", out_error, done, user_data, drop,
                             [&](cove_process& asked, const auto& reply) -> Result<void> {
                               COVE_TRY(auto call, read_call(options));
                               return body(*asked.handle, std::move(call), answer(reply));
                             });
}

Bytes copy_of(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace
}  // namespace cove::capi

using cove::capi::ask;
using cove::capi::ask_start;
using Done = ExecHandle::Done;

extern "C" {

void cove_process_resume(cove_process* process) { capi::steer(process, &ExecHandle::resume); }

void cove_process_cancel(cove_process* process) { capi::steer(process, &ExecHandle::cancel); }

void cove_process_detach(cove_process* process) { capi::steer(process, &ExecHandle::detach); }

cove_status cove_process_write_stdin(cove_process* process, const void* data, size_t size,
                                     const cove_call_options* options, cove_error** out_error) {
  return ask(process, options, out_error,
             [&](const ExecHandle& handle, const CallContext& call) -> Result<void> {
               COVE_TRY(const auto bytes, capi::read_data(data, size));
               return handle.write_stdin(bytes, call);
             });
}

cove_status cove_process_write_stdin_start(cove_process* process, const void* data, size_t size,
                                           const cove_call_options* options, cove_done_fn done,
                                           void* user_data, cove_drop_fn drop,
                                           cove_error** out_error) {
  return ask_start(process, options, done, user_data, drop, out_error,
                   [&](const ExecHandle& handle, CallContext call, Done answer) -> Result<void> {
                     COVE_TRY(const auto bytes, capi::read_data(data, size));
                     handle.write_stdin_async(capi::copy_of(bytes), std::move(call),
                                              std::move(answer));
                     return ok();
                   });
}

cove_status cove_process_close_stdin(cove_process* process, const cove_call_options* options,
                                     cove_error** out_error) {
  return ask(process, options, out_error, [](const ExecHandle& handle, const CallContext& call) {
    return handle.close_stdin(call);
  });
}

cove_status cove_process_close_stdin_start(cove_process* process, const cove_call_options* options,
                                           cove_done_fn done, void* user_data, cove_drop_fn drop,
                                           cove_error** out_error) {
  return ask_start(process, options, done, user_data, drop, out_error,
                   [](const ExecHandle& handle, CallContext call, Done answer) -> Result<void> {
                     handle.close_stdin_async(std::move(call), std::move(answer));
                     return ok();
                   });
}

cove_status cove_process_signal(cove_process* process, int32_t signal,
                                const cove_call_options* options, cove_error** out_error) {
  return ask(process, options, out_error, [&](const ExecHandle& handle, const CallContext& call) {
    return handle.signal(signal, call);
  });
}

cove_status cove_process_signal_start(cove_process* process, int32_t signal,
                                      const cove_call_options* options, cove_done_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return ask_start(process, options, done, user_data, drop, out_error,
                   [&](const ExecHandle& handle, CallContext call, Done answer) -> Result<void> {
                     handle.signal_async(signal, std::move(call), std::move(answer));
                     return ok();
                   });
}

cove_status cove_process_resize(cove_process* process, uint32_t rows, uint32_t columns,
                                const cove_call_options* options, cove_error** out_error) {
  return ask(process, options, out_error,
             [&](const ExecHandle& handle, const CallContext& call) -> Result<void> {
               COVE_TRY(const auto size, capi::read_size(rows, columns));
               return handle.resize(size, call);
             });
}

cove_status cove_process_resize_start(cove_process* process, uint32_t rows, uint32_t columns,
                                      const cove_call_options* options, cove_done_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return ask_start(process, options, done, user_data, drop, out_error,
                   [&](const ExecHandle& handle, CallContext call, Done answer) -> Result<void> {
                     COVE_TRY(const auto size, capi::read_size(rows, columns));
                     handle.resize_async(size, std::move(call), std::move(answer));
                     return ok();
                   });
}

void cove_process_free(cove_process* process) { capi::free_handle(process); }

}  // extern "C"
