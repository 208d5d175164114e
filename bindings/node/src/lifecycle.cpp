/// What is done to a sandbox as a whole, and what is said of it.
#include "functions.hpp"
#include "reporter.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

using StopForm = decltype(Library::cove_stop_start) Library::*;

/// What to do with use that is going on.
std::uint32_t drain_of(const Fields& fields) {
  return fields.truth("cancelUse") ? COVE_DRAIN_CANCEL : COVE_DRAIN_REFUSE;
}

/// cove_stop_start and cove_archive_start, which differ in the function they call.
napi_value stop_by(Arguments& in, StopForm form) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string sandbox = in.text(1);
  const Fields fields = in.fields(2);
  cove_stop_options options = COVE_STOP_OPTIONS_INIT;
  options.drain = drain_of(fields);
  options.wait_ms = fields.u64("waitMs");
  in.limits(fields, options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return (in.library().*form)(handle->raw, sandbox.c_str(), &options, done, data, nullptr, error);
  });
}

/// Starts what gives text: begin(cove, options, done, data, &error). `index` is that of the
/// options.
template <class Begin>
napi_value report_by(Arguments& in, std::size_t index, Begin begin) {
  const auto handle = in.handle<CoveHandle>(0);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(index), options);
  return start_call<cove_buffer>(in, handle, [&](auto done, void* data, cove_error** error) {
    return begin(handle->raw, &options, done, data, error);
  });
}

/// The same of a function that takes the options, or a name and the options.
napi_value report_of(Arguments& in, decltype(Library::cove_metrics_text_start) Library::* form) {
  return report_by(
      in, 1,
      [&](cove* raw, const cove_call_options* options, auto done, void* data, cove_error** error) {
        return (in.library().*form)(raw, options, done, data, nullptr, error);
      });
}

napi_value report_of(Arguments& in, decltype(Library::cove_status_json_start) Library::* form,
                     const std::string& name) {
  return report_by(
      in, 2,
      [&](cove* raw, const cove_call_options* options, auto done, void* data, cove_error** error) {
        return (in.library().*form)(raw, name.c_str(), options, done, data, nullptr, error);
      });
}

}  // namespace

napi_value stop(Arguments& in) { return stop_by(in, &Library::cove_stop_start); }

napi_value archive(Arguments& in) { return stop_by(in, &Library::cove_archive_start); }

napi_value relocate(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string sandbox = in.text(1);
  const Fields fields = in.fields(2);
  const std::string provider = fields.text("provider").value_or("");
  cove_relocate_options options = COVE_RELOCATE_OPTIONS_INIT;
  options.drain = drain_of(fields);
  options.provider = provider.c_str();
  options.wait_ms = fields.u64("waitMs");
  in.limits(fields, options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_relocate_start(handle->raw, sandbox.c_str(), &options, done, data,
                                            nullptr, error);
  });
}

napi_value destroy(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string sandbox = in.text(1);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_destroy_start(handle->raw, sandbox.c_str(), &options, done, data,
                                           nullptr, error);
  });
}

napi_value destroy_source(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string source = in.text(1);
  const Fields fields = in.fields(2);
  cove_destroy_source_options options = COVE_DESTROY_SOURCE_OPTIONS_INIT;
  in.limits(fields, options);
  if (in.has_failed()) return nullptr;
  report_to(in.environment(), fields.at("onProgress"), options);
  return start_call<cove_buffer>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_destroy_source_json_start(handle->raw, source.c_str(), &options, done,
                                                       data, nullptr, error);
  });
}

napi_value revive_source(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string source = in.text(1);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_revive_source_start(handle->raw, source.c_str(), &options, done, data,
                                                 nullptr, error);
  });
}

napi_value set_idle_policy(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string source = in.text(1);
  const Fields wanted = in.fields(2);
  cove_idle_policy policy = COVE_IDLE_POLICY_INIT;
  policy.archive = wanted.u32("archive");
  policy.stop_after_ms = wanted.u64("stopAfterMs");
  policy.archive_after_ms = wanted.u64("archiveAfterMs");
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_set_idle_policy_start(handle->raw, source.c_str(), &policy, &options,
                                                   done, data, nullptr, error);
  });
}

napi_value idle_policy(Arguments& in) {
  return report_of(in, &Library::cove_idle_policy_json_start, in.text(1));
}

napi_value recover(Arguments& in) {
  return report_of(in, &Library::cove_recover_json_start, in.text(1));
}

napi_value metrics(Arguments& in) { return report_of(in, &Library::cove_metrics_text_start); }

napi_value sweep(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const Fields fields = in.fields(1);
  cove_sweep_options options = COVE_SWEEP_OPTIONS_INIT;
  options.flags = fields.flag("dryRun", COVE_SWEEP_DRY_RUN);
  options.at_once = fields.u32("atOnce");
  in.limits(fields, options);
  if (in.has_failed()) return nullptr;
  report_to(in.environment(), fields.at("onProgress"), options);
  return start_call<cove_buffer>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_sweep_json_start(handle->raw, &options, done, data, nullptr, error);
  });
}

napi_value status(Arguments& in) {
  return report_of(in, &Library::cove_status_json_start, in.text(1));
}

napi_value list_page(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const Fields fields = in.fields(1);
  const std::string source = fields.text("source").value_or("");
  const std::string after = fields.text("after").value_or("");
  cove_list_options options = COVE_LIST_OPTIONS_INIT;
  options.limit = fields.u32("limit");
  options.source = source.c_str();
  options.after = after.c_str();
  in.limits(fields, options);
  return start_call<cove_buffer>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_list_json_start(handle->raw, &options, done, data, nullptr, error);
  });
}

napi_value orphans(Arguments& in) { return report_of(in, &Library::cove_orphans_json_start); }

napi_value doctor(Arguments& in) { return report_of(in, &Library::cove_doctor_json_start); }

}  // namespace cove_node
