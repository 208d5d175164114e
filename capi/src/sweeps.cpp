/// Sweeps, and the end of a whole source: what lasts, and tells how far it is.
#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "report_callback.hpp"
#include "sources.hpp"
#include "views.hpp"

using namespace cove;

namespace cove::capi {
namespace {

struct SweepCall {
  SweepOptions options;
  CallContext call;
};

Result<SweepCall> read_sweep(const cove_sweep_options* options) {
  UserData user = user_of(options);
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.flags, COVE_SWEEP_DRY_RUN, "cove_sweep_options.flags"));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_sweep_options.reserved0"));
  constexpr std::uint32_t kMostAtOnce = 64;
  if (read.at_once > kMostAtOnce) {
    return Error(ErrorCode::kInvalidArgument,
                 "cove_sweep_options.at_once is 1 to 64, not " + std::to_string(read.at_once));
  }
  SweepCall sweep;
  sweep.options.dry_run = (read.flags & COVE_SWEEP_DRY_RUN) != 0;
  if (read.at_once != 0) sweep.options.at_once = read.at_once;
  if (const auto hearer = report_to(read.on_progress, std::move(user))) {
    sweep.options.progress = [hearer](const SweepStep& step, const SweepReport& so_far) {
      hearer->tell(sweep_step_json(step, so_far));
    };
  }
  sweep.call = call_of(read.timeout_ms, read.cancel);
  return sweep;
}

struct DestroyCall {
  std::string source;
  std::function<void(const SourceProgress&)> progress;
  CallContext call;
};

Result<DestroyCall> read_destroy(const char* source, const cove_destroy_source_options* options) {
  UserData user = user_of(options);
  DestroyCall destroy;
  COVE_TRY(destroy.source, read_source(source));
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_destroy_source_options.reserved0"));
  if (const auto hearer = report_to(read.on_progress, std::move(user))) {
    destroy.progress = [hearer](const SourceProgress& so_far) {
      hearer->tell(source_progress_json(so_far));
    };
  }
  destroy.call = call_of(read.timeout_ms, read.cancel);
  return destroy;
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_sweep_json(cove_handle* cove, const cove_sweep_options* options,
                            cove_buffer** out_json, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    const auto cleared = capi::clear(out_json, "out_json");
    COVE_TRY(const auto sweep, capi::read_sweep(options));
    if (!cleared) return cleared.error();
    COVE_TRY_VOID(capi::require(cove, "cove"));
    COVE_TRY_VOID(capi::check_may_wait(*cove->library));
    COVE_TRY(const auto report, cove->library->cove().sweep(sweep.options, sweep.call));
    *out_json = capi::make_buffer(capi::sweep_json(report));
    return ok();
  });
}

cove_status cove_sweep_json_start(cove_handle* cove, const cove_sweep_options* options,
                                  cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                  cove_error** out_error) {
  return capi::guarded_start<cove_buffer>(
      out_error, done, user_data, drop, [&](const auto& reply) -> Result<void> {
        COVE_TRY(auto sweep, capi::read_sweep(options));
        COVE_TRY_VOID(capi::require(cove, "cove"));
        COVE_TRY_VOID(capi::check_usable(*cove->library));
        cove->library->cove().sweep_async(std::move(sweep.options), std::move(sweep.call),
                                          capi::answer_text<SweepReport>(reply, capi::sweep_json));
        return ok();
      });
}

cove_status cove_destroy_source_json(cove_handle* cove, const char* source,
                                     const cove_destroy_source_options* options,
                                     cove_buffer** out_json, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    const auto cleared = capi::clear(out_json, "out_json");
    COVE_TRY(auto destroy, capi::read_destroy(source, options));
    if (!cleared) return cleared.error();
    COVE_TRY_VOID(capi::require(cove, "cove"));
    COVE_TRY_VOID(capi::check_may_wait(*cove->library));
    COVE_TRY(const auto destroyed, cove->library->cove().destroy_source(
                                       destroy.source, std::move(destroy.progress), destroy.call));
    *out_json = capi::make_buffer(capi::destroyed_json(destroyed));
    return ok();
  });
}

cove_status cove_destroy_source_json_start(cove_handle* cove, const char* source,
                                           const cove_destroy_source_options* options,
                                           cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                           cove_error** out_error) {
  return capi::guarded_start<cove_buffer>(
      out_error, done, user_data, drop, [&](const auto& reply) -> Result<void> {
        COVE_TRY(auto destroy, capi::read_destroy(source, options));
        COVE_TRY_VOID(capi::require(cove, "cove"));
        COVE_TRY_VOID(capi::check_usable(*cove->library));
        cove->library->cove().destroy_source_async(
            std::move(destroy.source), std::move(destroy.progress), std::move(destroy.call),
            capi::answer<std::uint32_t>(reply, [](std::uint32_t destroyed) -> Result<cove_buffer*> {
              return capi::make_buffer(capi::destroyed_json(destroyed));
            }));
        return ok();
      });
}

}  // extern "C"
