/// Opening, closing, and what needs no workspace.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/quiet_thread.hpp"
#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "parts/opening.hpp"
#include "views.hpp"

namespace cove::capi {
namespace {

/// What an open begins with: all that is checked before anything is touched.
struct Opening {
  Config config;
  Parts parts;
  std::shared_ptr<HostObserver> observer;
  std::shared_ptr<const Clock> clock;  ///< what the Cove will go by
};

Result<Opening> read_opening(const char* config_json, Parts parts) {
  (void)out_of_memory_error();
  COVE_TRY_VOID(require(config_json, "config_json"));
  Opening opening;
  COVE_TRY(opening.config, parse_config(config_json));
  opening.observer = std::make_shared<HostObserver>();
  opening.clock = parts.clock ? parts.clock : system_clock();
  opening.parts = std::move(parts);
  opening.parts.observer = opening.observer;
  return opening;
}

Result<cove_handle*> open(Opening opening) {
  COVE_TRY(auto opened, Cove::open(std::move(opening.config), std::move(opening.parts)));
  return new cove_handle{std::make_shared<Library>(std::move(opened), std::move(opening.observer),
                                                   std::move(opening.clock))};
}

/// Runs what waits where no thread of Cove can: before it is open, while it is closed, and without
/// one.
template <class Work>
void run_aside(const char* name, Work work) {
  base::start_quiet_thread(name, std::move(work)).detach();
}

}  // namespace

void HostObserver::on_event(const LifecycleEvent& event) {
  const ReportCallbackPtr heard = hearer();
  if (heard == nullptr) return;
  // An event that finds no memory is lost; nothing else is.
  cove_error_free(run([&] {
    heard->tell(event_json(event));
    return ok();
  }));
}

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
    if (out_cove != nullptr) *out_cove = nullptr;
    COVE_TRY(Parts parts, capi::take_parts(options));
    COVE_TRY_VOID(capi::require(out_cove, "out_cove"));
    COVE_TRY(auto opening, capi::read_opening(config_json, std::move(parts)));
    COVE_TRY(*out_cove, capi::open(std::move(opening)));
    return ok();
  });
}

cove_status cove_open_start(const char* config_json, const cove_open_options* options,
                            cove_opened_fn done, void* user_data, cove_drop_fn drop,
                            cove_error** out_error) {
  using namespace cove;
  // Before anything else is looked at: they are ours to end also where `done` is NULL.
  std::optional<Parts> parts;
  cove_error* const refused = capi::run([&]() -> Result<void> {
    COVE_TRY(parts, capi::take_parts(options));
    return ok();
  });
  if (refused != nullptr) {
    capi::UserData(user_data, drop).end();
    return capi::report(out_error, refused);
  }
  return capi::guarded_start<cove_handle>(
      out_error, done, user_data, drop, [&](const auto& reply) -> Result<void> {
        COVE_TRY(auto opening, capi::read_opening(config_json, *std::move(parts)));
        auto work = std::make_shared<capi::Opening>(std::move(opening));
        capi::run_aside("cove-open", [reply, work = std::move(work)]() mutable {
          reply->send([&] { return capi::open(std::move(*work)); });
        });
        return ok();
      });
}

const char* cove_config_schema(void) { return cove::config_schema().data(); }

cove_status cove_set_observer(cove_handle* cove, cove_report_fn observer, void* user_data,
                              cove_drop_fn drop, cove_error** out_error) {
  using namespace cove;
  capi::UserData user(user_data, drop);
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(cove, "cove"));
    COVE_TRY_VOID(capi::check_usable(*cove->library));
    cove->library->observer().set(capi::report_to(observer, std::move(user)));
    return ok();
  });
}

cove_status cove_close(cove_handle* cove, uint64_t timeout_ms, cove_error** out_error) {
  using namespace cove;
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) {
    return handle.library->cove().close(capi::milliseconds_of(timeout_ms));
  });
}

cove_status cove_close_start(cove_handle* cove, uint64_t timeout_ms, cove_done_fn done,
                             void* user_data, cove_drop_fn drop, cove_error** out_error) {
  using namespace cove;
  return capi::starting_call<void>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        const auto limit = capi::milliseconds_of(timeout_ms);
        capi::run_aside("cove-close", [reply, limit, library = handle.library]() mutable {
          reply->send([&] {
            Result<void> closed = library->cove().close(limit);
            library.reset();  // once the host hears of it nothing of this thread holds it open
            return closed;
          });
        });
        return ok();
      });
}

cove_status cove_agent_write(const char* path, cove_error** out_error) {
  using namespace cove;
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(path, "path"));
    return write_agent(path);
  });
}

cove_status cove_agent_write_start(const char* path, cove_done_fn done, void* user_data,
                                   cove_drop_fn drop, cove_error** out_error) {
  using namespace cove;
  return capi::guarded_start<void>(
      out_error, done, user_data, drop, [&](const auto& reply) -> Result<void> {
        COVE_TRY_VOID(capi::require(path, "path"));
        capi::run_aside("cove-agent", [reply, file = std::string(path)] {
          reply->send([&] { return write_agent(file); });
        });
        return ok();
      });
}

void cove_free(cove_handle* cove) { cove::capi::free_handle(cove); }

}  // extern "C"
