/// Opening, closing, and what needs no workspace.
#include <memory>
#include <string>

#include "base/async/quiet_thread.hpp"
#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "parts/opening.hpp"

namespace cove::capi {
Library::~Library() {
  if (cove_.close(std::chrono::milliseconds(0))) return;
  // The last copy of a Cove waits for its close, which a free must not: it ends with a thread.
  cove_error_free(run([this] {
    base::start_quiet_thread("cove-free", [last = std::move(cove_)] {}).detach();
    return ok();
  }));
}

Result<void> check_usable(const Library& library) {
  if (!library.is_forked()) return ok();
  return Error(ErrorCode::kFailedPrecondition,
               "this process was forked from the one that opened the Cove: open another here");
}

Result<void> check_may_wait(const Library& library) {
  COVE_TRY_VOID(check_usable(library));
  if (!CallbackScope::active()) return ok();
  return Error(ErrorCode::kFailedPrecondition,
               "this call waits, and inside a callback it would wait for itself: use the form that "
               "ends in _start, or another thread");
}

}  // namespace cove::capi

extern "C" {

const char* cove_version(void) { return cove::version().data(); }

cove_status cove_sandbox_id_of(const cove_workspace_key* key, cove_buffer** out_id,
                               cove_error** out_error) {
  using namespace cove;
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_id, "out_id"));
    COVE_TRY(const auto workspace_key, capi::read_key(key));
    *out_id = capi::make_buffer(sandbox_id_of(workspace_key).str());
    return ok();
  });
}

cove_status cove_open(const char* config_json, const cove_open_options* options,
                      cove_handle** out_cove, cove_error** out_error) {
  using namespace cove;
  return capi::guarded(out_error, [&]() -> Result<void> {
    (void)capi::out_of_memory_error();
    COVE_TRY(Parts parts, capi::take_parts(options));
    COVE_TRY_VOID(capi::clear(out_cove, "out_cove"));
    COVE_TRY_VOID(capi::require(config_json, "config_json"));
    COVE_TRY(auto config, parse_config(config_json));
    const std::shared_ptr<const Clock> clock = parts.clock ? parts.clock : capi::system_clock();
    COVE_TRY(auto opened, Cove::open(std::move(config), std::move(parts)));
    *out_cove = new cove_handle{std::make_shared<capi::Library>(std::move(opened), clock)};
    return ok();
  });
}

cove_status cove_close(cove_handle* cove, uint64_t timeout_ms, cove_error** out_error) {
  using namespace cove;
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) {
    return handle.library->cove().close(capi::milliseconds_of(timeout_ms));
  });
}

void cove_free(cove_handle* cove) { cove::capi::free_handle(cove); }

}  // extern "C"
