#include <cove.h>

namespace {

const cove_acquire_options acquire = COVE_ACQUIRE_OPTIONS_INIT;
const cove_exec_options exec_options = COVE_EXEC_OPTIONS_INIT;
const cove_exec_callbacks callbacks = COVE_EXEC_CALLBACKS_INIT;

}  // namespace

bool cove_header_cxx11(const cove* handle);
bool cove_header_cxx11(const cove* handle) {
  return handle == nullptr && acquire.struct_size > 0 && exec_options.env_count == 0 &&
         callbacks.drop == nullptr;
}
