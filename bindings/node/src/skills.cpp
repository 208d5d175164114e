/// Skills: what acquires place, what a workspace has, and the shelf of published ones.
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// Throws where an input was refused.
napi_value checked(Arguments& in, cove_status status, cove_error* error) {
  return status == COVE_OK ? nullptr : throw_error(in, error);
}

}  // namespace

napi_value prepare_skill(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string version_id = in.text(1);
  const BytesView package = in.bytes(2);
  const std::string sha256 = in.text(3);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status = in.library().cove_prepare_add_skill(
      prepare->raw, version_id.c_str(), package.data, package.size, sha256.c_str(), &error);
  return checked(in, status, error);
}

napi_value prepare_host_skill(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string version_id = in.text(1);
  const std::string path = in.text(2);
  const std::string sha256 = in.text(3);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status = in.library().cove_prepare_add_host_skill(
      prepare->raw, version_id.c_str(), path.c_str(), sha256.c_str(), &error);
  return checked(in, status, error);
}

napi_value prepare_stored_skill(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string version_id = in.text(1);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status =
      in.library().cove_prepare_add_stored_skill(prepare->raw, version_id.c_str(), &error);
  return checked(in, status, error);
}

napi_value prepare_builtin_skill(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string name = in.text(1);
  const BytesView package = in.bytes(2);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status = in.library().cove_prepare_add_builtin_skill(
      prepare->raw, name.c_str(), package.data, package.size, &error);
  return checked(in, status, error);
}

napi_value prepare_host_builtin_skill(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string name = in.text(1);
  const std::string path = in.text(2);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status = in.library().cove_prepare_add_host_builtin_skill(
      prepare->raw, name.c_str(), path.c_str(), &error);
  return checked(in, status, error);
}

napi_value prepare_skill_init_timeout(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::uint64_t timeout_ms = whole_number(in.number(1));
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status =
      in.library().cove_prepare_set_skill_init_timeout(prepare->raw, timeout_ms, &error);
  return checked(in, status, error);
}

napi_value workspace_skills(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const Fields fields = in.fields(1);
  cove_skills_options options = COVE_SKILLS_OPTIONS_INIT;
  options.max_characters = fields.u64("maxCharacters");
  in.limits(fields, options);
  return start_call<cove_buffer>(in, workspace, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_workspace_skills_json_start(workspace->raw, &options, done, data,
                                                         nullptr, error);
  });
}

napi_value inspect_skill(Arguments& in) {
  const std::string version_id = in.text(0);
  const BytesView package = in.bytes(1);
  if (in.has_failed()) return nullptr;
  const Library& library = in.library();
  cove_buffer* json = nullptr;
  cove_error* error = nullptr;
  if (library.cove_inspect_skill_json(version_id.c_str(), package.data, package.size, &json,
                                      &error) != COVE_OK) {
    return throw_error(in, error);
  }
  napi_value const bytes = Outcome<cove_buffer>::value(in.environment(), json);
  library.cove_buffer_free(json);
  return bytes;
}

napi_value add_skill(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string version_id = in.text(1);
  const BytesView package = in.bytes(2);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  return start_call<cove_buffer>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_add_skill_json_start(handle->raw, version_id.c_str(), package.data,
                                                  package.size, &options, done, data, nullptr,
                                                  error);
  });
}

napi_value list_skills(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(1), options);
  return start_call<cove_buffer>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_list_skills_json_start(handle->raw, &options, done, data, nullptr,
                                                    error);
  });
}

napi_value remove_skill(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::string version_id = in.text(1);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_remove_skill_start(handle->raw, version_id.c_str(), &options, done,
                                                data, nullptr, error);
  });
}

}  // namespace cove_node
