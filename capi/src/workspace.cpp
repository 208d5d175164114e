/// Acquiring a workspace and letting it go.
#include "handles.hpp"
#include "options.hpp"
#include "prepare.hpp"

using namespace cove;

static_assert(static_cast<int>(AcquireWork::kNone) == COVE_WORK_NONE);
static_assert(static_cast<int>(AcquireWork::kProvisioned) == COVE_WORK_PROVISIONED);
static_assert(static_cast<int>(AcquireWork::kResumed) == COVE_WORK_RESUMED);
static_assert(static_cast<int>(AcquireWork::kRestored) == COVE_WORK_RESTORED);

namespace cove::capi {
namespace {

struct SessionCall {
  WorkspaceKey owner;
  AcquireOptions options;
  CallContext call;
};

Result<SessionCall> read_session(const cove_workspace_key* key,
                                 const cove_acquire_options* options) {
  SessionCall session;
  COVE_TRY(session.owner, read_key(key));
  COVE_TRY(auto acquire, read_acquire(options));
  if (acquire.prepare != nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 "cove_acquire_options.prepare must be NULL: nothing is prepared here");
  }
  session.options = std::move(acquire.options);
  session.call = std::move(acquire.call);
  return session;
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_remove_session(cove_handle* cove, const cove_workspace_key* key,
                                const cove_acquire_options* options, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY(const auto session, capi::read_session(key, options));
    return handle.library->cove().remove_session(session.owner, session.options, session.call);
  });
}

cove_status cove_remove_session_start(cove_handle* cove, const cove_workspace_key* key,
                                      const cove_acquire_options* options, cove_done_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<void>(cove, "cove", out_error, done, user_data, drop,
                                   [&](cove_handle& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto session, capi::read_session(key, options));
                                     handle.library->cove().remove_session_async(
                                         std::move(session.owner), std::move(session.options),
                                         std::move(session.call), capi::answer(reply));
                                     return ok();
                                   });
}

cove_status cove_acquire(cove_handle* cove, const cove_workspace_key* key,
                         const cove_acquire_options* options, cove_workspace** out_workspace,
                         cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_workspace, "out_workspace"));
    COVE_TRY(const auto owner, capi::read_key(key));
    COVE_TRY(auto acquire, capi::read_acquire(options));
    acquire.options.prepare = capi::inputs_of(acquire.prepare, handle.library);
    COVE_TRY(auto workspace, handle.library->cove().acquire(owner, acquire.options, acquire.call));
    *out_workspace = new cove_workspace(handle.library, std::move(workspace));
    return ok();
  });
}

cove_status cove_acquire_start(cove_handle* cove, const cove_workspace_key* key,
                               const cove_acquire_options* options, cove_acquired_fn done,
                               void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_workspace>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto owner, capi::read_key(key));
        COVE_TRY(auto acquire, capi::read_acquire(options));
        acquire.options.prepare = capi::inputs_of(acquire.prepare, handle.library);
        // Weak: a call that is pending does not keep the Cove open.
        const std::weak_ptr<capi::Library> weak = handle.library;
        handle.library->cove().acquire_async(
            std::move(owner), std::move(acquire.options), std::move(acquire.call),
            capi::answer<Workspace>(reply, [weak](Workspace workspace) -> Result<cove_workspace*> {
              auto library = weak.lock();
              if (!library) return Error(ErrorCode::kCancelled, "the Cove was closed");
              return new cove_workspace(std::move(library), std::move(workspace));
            }));
        return ok();
      });
}

const char* cove_workspace_directory(const cove_workspace* workspace) {
  return workspace == nullptr ? "" : workspace->directory.c_str();
}

const char* cove_workspace_sandbox_id(const cove_workspace* workspace) {
  return workspace == nullptr ? "" : workspace->sandbox_id.c_str();
}

int32_t cove_workspace_work(const cove_workspace* workspace) {
  return workspace == nullptr ? COVE_WORK_NONE : static_cast<int32_t>(workspace->work);
}

cove_status cove_workspace_release(cove_workspace* workspace, const cove_call_options* options,
                                   cove_error** out_error) {
  return capi::waiting_call(workspace, "workspace", out_error,
                            [&](cove_workspace& handle) -> Result<void> {
                              COVE_TRY(const auto call, capi::read_call(options));
                              return handle.workspace.release(call);
                            });
}

cove_status cove_workspace_release_start(cove_workspace* workspace,
                                         const cove_call_options* options, cove_done_fn done,
                                         void* user_data, cove_drop_fn drop,
                                         cove_error** out_error) {
  return capi::starting_call<void>(workspace, "workspace", out_error, done, user_data, drop,
                                   [&](cove_workspace& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY(auto call, capi::read_call(options));
                                     handle.workspace.release_async(std::move(call),
                                                                    capi::answer(reply));
                                     return ok();
                                   });
}

void cove_workspace_free(cove_workspace* workspace) { capi::free_handle(workspace); }

}  // extern "C"
