/// What an acquire prepares, filled in by TypeScript input by input.
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// Throws where an input was refused.
napi_value checked(Arguments& in, cove_status status, cove_error* error) {
  return status == COVE_OK ? nullptr : throw_error(in, error);
}

using PairForm = decltype(Library::cove_prepare_set_variable) Library::*;

/// The functions that take two texts, which differ in what they call.
napi_value set_pair(Arguments& in, PairForm form) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string first = in.text(1);
  const std::string second = in.text(2);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status =
      (in.library().*form)(prepare->raw, first.c_str(), second.c_str(), &error);
  return checked(in, status, error);
}

}  // namespace

napi_value prepare_create(Arguments& in) {
  cove_prepare* prepare = nullptr;
  cove_error* error = nullptr;
  if (in.library().cove_prepare_create(&prepare, &error) != COVE_OK) return throw_error(in, error);
  return wrap(in.env(), std::make_shared<PrepareHandle>(in.environment().library, prepare));
}

napi_value prepare_mirror(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const auto mirror = static_cast<std::int32_t>(in.number(1));
  const std::string url = in.text(2);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status =
      in.library().cove_prepare_set_mirror(prepare->raw, mirror, url.c_str(), &error);
  return checked(in, status, error);
}

napi_value prepare_variable(Arguments& in) {
  return set_pair(in, &Library::cove_prepare_set_variable);
}

napi_value prepare_secret(Arguments& in) { return set_pair(in, &Library::cove_prepare_set_secret); }

napi_value prepare_locale(Arguments& in) { return set_pair(in, &Library::cove_prepare_set_locale); }

napi_value prepare_file(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string name = in.text(1);
  const BytesView data = in.bytes(2);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status =
      in.library().cove_prepare_add_file(prepare->raw, name.c_str(), data.data, data.size, &error);
  return checked(in, status, error);
}

napi_value prepare_host_file(Arguments& in) {
  return set_pair(in, &Library::cove_prepare_add_host_file);
}

napi_value prepare_init(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string text = in.text(1);
  const Fields fields = in.fields(2);
  const auto version = fields.text("version");
  const auto cwd = fields.text("cwd");
  if (in.has_failed()) return nullptr;
  cove_init_options options = COVE_INIT_OPTIONS_INIT;
  options.version = version ? version->c_str() : nullptr;
  options.cwd = cwd ? cwd->c_str() : nullptr;
  options.script_timeout_ms = fields.u64("scriptTimeoutMs");
  cove_error* error = nullptr;
  const cove_status status =
      in.library().cove_prepare_set_init_script(prepare->raw, text.c_str(), &options, &error);
  return checked(in, status, error);
}

napi_value prepare_report(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  if (in.has_failed()) return nullptr;
  cove_buffer* json = nullptr;
  cove_error* error = nullptr;
  const Library& library = in.library();
  if (library.cove_workspace_prepare_report_json(workspace->raw, &json, &error) != COVE_OK) {
    return throw_error(in, error);
  }
  napi_value const bytes = Outcome<cove_buffer>::value(in.environment(), json);
  library.cove_buffer_free(json);
  return bytes;
}

}  // namespace cove_node
