/// Opening, closing, and what needs no workspace.
#include <memory>
#include <string>

#include "base/async/quiet_thread.hpp"
#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "views.hpp"

namespace cove::capi {
namespace {

/// Hands Cove's messages to the host, and ends with the last one who may write.
class HostLog final : public LogSink {
 public:
  HostLog(cove_log_fn log, UserData user) noexcept : log_(log), user_(std::move(user)) {}

  void write(LogLevel level, std::string_view message) override {
    // A message that finds no memory is lost; nothing else is.
    cove_error_free(run([&] {
      const std::string line(message);
      const CallbackScope scope;
      log_(user_.get(), static_cast<std::int32_t>(level), line.c_str());
      return ok();
    }));
  }

 private:
  const cove_log_fn log_;
  const UserData user_;
};

/// Null where the host wants no messages. From the moment that the options can be read, log_drop is
/// ours to call, whatever else is wrong.
Result<std::shared_ptr<LogSink>> read_log(const cove_open_options* options) {
  if (options == nullptr) return std::shared_ptr<LogSink>();
  const bool readable = is_readable(rule_of<cove_open_options>(), options);
  UserData user(readable ? options->log_user_data : nullptr,
                readable ? options->log_drop : nullptr);
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_open_options.reserved0"));
  if (read.log == nullptr) return std::shared_ptr<LogSink>();
  return std::shared_ptr<LogSink>(std::make_shared<HostLog>(read.log, std::move(user)));
}

/// What an open begins with: all that is checked before anything is touched.
struct Opening {
  Config config;
  Parts parts;
  std::shared_ptr<HostObserver> observer;
};

Result<Opening> read_opening(const char* config_json, std::shared_ptr<LogSink> log) {
  (void)out_of_memory_error();
  COVE_TRY_VOID(require(config_json, "config_json"));
  Opening opening;
  COVE_TRY(opening.config, parse_config(config_json));
  opening.observer = std::make_shared<HostObserver>();
  opening.parts.log = std::move(log);
  opening.parts.observer = opening.observer;
  return opening;
}

Result<cove_handle*> open(Opening opening) {
  COVE_TRY(auto opened, Cove::open(std::move(opening.config), std::move(opening.parts)));
  return new cove_handle{std::make_shared<Library>(std::move(opened), std::move(opening.observer))};
}

/// Runs what waits where no thread of Cove can: before it is open, and while it is closed.
template <class Work>
void run_aside(const char* name, Work work) {
  base::start_quiet_thread(name, std::move(work)).detach();
}

static_assert(static_cast<int>(LogLevel::kDebug) == COVE_LOG_DEBUG);
static_assert(static_cast<int>(LogLevel::kError) == COVE_LOG_ERROR);

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
    COVE_TRY(auto log, capi::read_log(options));
    COVE_TRY_VOID(capi::require(out_cove, "out_cove"));
    COVE_TRY(auto opening, capi::read_opening(config_json, std::move(log)));
    COVE_TRY(*out_cove, capi::open(std::move(opening)));
    return ok();
  });
}

cove_status cove_open_start(const char* config_json, const cove_open_options* options,
                            cove_opened_fn done, void* user_data, cove_drop_fn drop,
                            cove_error** out_error) {
  using namespace cove;
  return capi::guarded_start<cove_handle>(
      out_error, done, user_data, drop, [&](const auto& reply) -> Result<void> {
        COVE_TRY(auto log, capi::read_log(options));
        COVE_TRY(auto opening, capi::read_opening(config_json, std::move(log)));
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

void cove_free(cove_handle* cove) { cove::capi::free_handle(cove); }

}  // extern "C"
