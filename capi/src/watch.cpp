/// Watching a directory: once on the calling thread, once given to callbacks.
#include "file_calls.hpp"
#include "followed.hpp"

using namespace cove;

namespace cove::capi {
namespace {

struct WatchCall {
  std::string path;
  WatchOptions options;
  CallContext call;
};

Result<WatchCall> read_watch(const char* path, const cove_watch_options* options) {
  WatchCall watch;
  COVE_TRY(watch.path, read_path(path));
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.flags, COVE_WATCH_NOT_RECURSIVE, "cove_watch_options.flags"));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_watch_options.reserved0"));
  watch.options.recursive = (read.flags & COVE_WATCH_NOT_RECURSIVE) == 0;
  if (read.max_directories != 0) watch.options.max_directories = read.max_directories;
  watch.call = call_of(read.timeout_ms, read.cancel);
  return watch;
}

WatchCallbacks callbacks_for(const std::shared_ptr<Reply<void>>& reply,
                             cove_file_events_fn on_events) {
  WatchCallbacks callbacks;
  callbacks.on_done = answer(reply);
  callbacks.on_events = [reply, on_events](std::vector<FileEvent> events) {
    const cove_file_events batch(std::move(events));
    const CallbackScope scope;
    on_events(reply->user_data(), &batch);
  };
  return callbacks;
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

cove_status cove_workspace_watch(cove_workspace* workspace, const char* path,
                                 const cove_watch_options* options, cove_file_event_fn on_event,
                                 void* user_data, cove_error** out_error) {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY(const auto watch, read_watch(path, options));
                        COVE_TRY_VOID(require(reinterpret_cast<const void*>(on_event), "on_event"));
                        const auto take = [&](const FileEvent& event) {
                          const cove_file_event shown{event};
                          return on_event(user_data, &shown) != COVE_STOP;
                        };
                        return handle.client.watch(watch.path, watch.options, take, watch.call);
                      });
}

cove_status cove_workspace_watch_start(cove_workspace* workspace, const char* path,
                                       const cove_watch_options* options,
                                       const cove_watch_callbacks* callbacks,
                                       cove_watch** out_watch, cove_error** out_error) {
  return followed_call<void>(
      workspace, callbacks, out_watch, "out_watch", out_error,
      [&](cove_workspace& handle, const cove_watch_callbacks& heard,
          const std::shared_ptr<Reply<void>>& reply) -> Result<WatchHandle> {
        COVE_TRY_VOID(require(reinterpret_cast<const void*>(heard.on_events), "on_events"));
        COVE_TRY(auto watch, read_watch(path, options));
        return handle.client.watch_async(std::move(watch.path), watch.options,
                                         callbacks_for(reply, heard.on_events),
                                         std::move(watch.call));
      });
}

void cove_watch_cancel(cove_watch* watch) { steer(watch, &WatchHandle::cancel); }

void cove_watch_free(cove_watch* watch) { free_handle(watch); }

}  // extern "C"
