/// What is done to a whole deployment.
#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "views.hpp"

using namespace cove;

namespace cove::capi {
namespace {

DeploymentId read_deployment(const char* deployment) {
  return DeploymentId(deployment == nullptr ? "" : deployment);
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_recover_json(cove_handle* cove, const char* deployment,
                              const cove_call_options* options, cove_buffer** out_json,
                              cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY(const auto call, capi::read_call(options));
    const DeploymentId wanted = capi::read_deployment(deployment);
    COVE_TRY(const auto report, handle.library->cove().recover(wanted, call));
    *out_json = capi::make_buffer(capi::recover_json(report));
    return ok();
  });
}

cove_status cove_recover_json_start(cove_handle* cove, const char* deployment,
                                    const cove_call_options* options, cove_buffer_fn done,
                                    void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().recover_async(
            capi::read_deployment(deployment), std::move(call),
            capi::answer_text<RecoverReport>(reply, capi::recover_json));
        return ok();
      });
}

cove_status cove_metrics_text(cove_handle* cove, const cove_call_options* options,
                              cove_buffer** out_text, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_text, "out_text"));
    COVE_TRY(const auto call, capi::read_call(options));
    COVE_TRY(auto text, handle.library->cove().metrics(call));
    *out_text = capi::make_buffer(std::move(text));
    return ok();
  });
}

cove_status cove_metrics_text_start(cove_handle* cove, const cove_call_options* options,
                                    cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                    cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().metrics_async(
            std::move(call),
            capi::answer<std::string>(reply, [](std::string text) -> Result<cove_buffer*> {
              return capi::make_buffer(std::move(text));
            }));
        return ok();
      });
}

}  // extern "C"
