#include "buffer.hpp"

#include <cove/wait_check.hpp>

#include "cancel.hpp"
#include "guard.hpp"

extern "C" {

const char* cove_buffer_data(const cove_buffer* buffer) {
  return buffer == nullptr ? nullptr : buffer->bytes.c_str();
}

size_t cove_buffer_size(const cove_buffer* buffer) {
  return buffer == nullptr ? 0 : buffer->bytes.size();
}

void cove_buffer_free(cove_buffer* buffer) { delete buffer; }

cove_status cove_cancel_create(cove_cancel** out_cancel, cove_error** out_error) {
  using namespace cove;
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_cancel, "out_cancel"));
    *out_cancel = new cove_cancel();
    return ok();
  });
}

void cove_thread_set_wait_check(cove_wait_check_fn check, void* user_data) {
  if (check == nullptr) return cove::set_wait_check(nullptr);
  cove::set_wait_check([check, user_data] { return check(user_data) != 0; });
}

void cove_cancel_trigger(cove_cancel* cancel) {
  if (cancel != nullptr) cancel->source.request_stop();
}

void cove_cancel_free(cove_cancel* cancel) { delete cancel; }

}  // extern "C"
