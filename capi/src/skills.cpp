/// Skills: what acquires place, what a workspace has, and the shelf of published ones.
#include <algorithm>
#include <cstdint>

#include <cove/skills.hpp>

#include "buffer.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "prepare.hpp"
#include "views.hpp"

using namespace cove;

namespace cove::capi {
namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

Result<Bytes> read_package(const void* data, std::size_t size) {
  COVE_TRY(const ByteView bytes, read_data(data, size));
  return Bytes(bytes.begin(), bytes.end());
}

/// The body of the functions that add a published skill: content() gives a Result of what it is.
template <class Content>
cove_status add_skill(cove_prepare* prepare, const char* version_id, const char* sha256,
                      cove_error** out_error, Content&& content) {
  return guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(require(prepare, "prepare"));
    COVE_TRY_VOID(require(version_id, "version_id"));
    SkillPackage skill;
    skill.version_id = version_id;
    COVE_TRY(skill.content, content());
    skill.sha256 = text_of(sha256);
    prepare->inputs.skills.push_back(std::move(skill));
    return ok();
  });
}

template <class Content>
cove_status add_builtin(cove_prepare* prepare, const char* name, cove_error** out_error,
                        Content&& content) {
  return guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(require(prepare, "prepare"));
    COVE_TRY_VOID(require(name, "name"));
    BuiltinSkill skill;
    skill.name = name;
    COVE_TRY(skill.content, content());
    prepare->inputs.builtin_skills.push_back(std::move(skill));
    return ok();
  });
}

Result<HostPath> read_host_path(const char* path) {
  COVE_TRY_VOID(require(path, "path"));
  return HostPath{path};
}

struct SkillsCall {
  std::size_t max_characters = 16'000;
  CallContext call;
};

Result<SkillsCall> read_skills(const cove_skills_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_skills_options.reserved0"));
  SkillsCall skills;
  if (read.max_characters != 0) {
    constexpr std::uint64_t kMost = SIZE_MAX;
    skills.max_characters = static_cast<std::size_t>(std::min(read.max_characters, kMost));
  }
  skills.call = call_of(read.timeout_ms, read.cancel);
  return skills;
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_prepare_add_skill(cove_prepare* prepare, const char* version_id, const void* data,
                                   size_t size, const char* sha256, cove_error** out_error) {
  return capi::add_skill(prepare, version_id, sha256, out_error,
                         [&] { return capi::read_package(data, size); });
}

cove_status cove_prepare_add_host_skill(cove_prepare* prepare, const char* version_id,
                                        const char* path, const char* sha256,
                                        cove_error** out_error) {
  return capi::add_skill(prepare, version_id, sha256, out_error,
                         [&] { return capi::read_host_path(path); });
}

cove_status cove_prepare_add_stored_skill(cove_prepare* prepare, const char* version_id,
                                          cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    COVE_TRY_VOID(capi::require(version_id, "version_id"));
    prepare->inputs.skills.push_back(published_skill(version_id));
    return ok();
  });
}

cove_status cove_prepare_add_builtin_skill(cove_prepare* prepare, const char* name,
                                           const void* data, size_t size, cove_error** out_error) {
  return capi::add_builtin(prepare, name, out_error,
                           [&] { return capi::read_package(data, size); });
}

cove_status cove_prepare_add_host_builtin_skill(cove_prepare* prepare, const char* name,
                                                const char* path, cove_error** out_error) {
  return capi::add_builtin(prepare, name, out_error, [&] { return capi::read_host_path(path); });
}

cove_status cove_prepare_set_skill_init_timeout(cove_prepare* prepare, uint64_t script_timeout_ms,
                                                cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    prepare->inputs.skill_init_timeout = capi::milliseconds_of(script_timeout_ms);
    return ok();
  });
}

cove_status cove_workspace_skills_json(cove_workspace* workspace,
                                       const cove_skills_options* options, cove_buffer** out_json,
                                       cove_error** out_error) {
  return capi::waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(capi::clear(out_json, "out_json"));
        COVE_TRY(const auto skills, capi::read_skills(options));
        COVE_TRY(const auto index, handle.workspace.skills(skills.call));
        *out_json = capi::make_buffer(capi::skill_index_json(index, skills.max_characters));
        return ok();
      });
}

cove_status cove_workspace_skills_json_start(cove_workspace* workspace,
                                             const cove_skills_options* options,
                                             cove_buffer_fn done, void* user_data,
                                             cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto skills, capi::read_skills(options));
        const std::size_t characters = skills.max_characters;
        handle.workspace.skills_async(
            std::move(skills.call),
            capi::answer<SkillIndex>(
                reply, [characters](const SkillIndex& index) -> Result<cove_buffer*> {
                  return capi::make_buffer(capi::skill_index_json(index, characters));
                }));
        return ok();
      });
}

cove_status cove_inspect_skill_json(const char* version_id, const void* data, size_t size,
                                    cove_buffer** out_json, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY_VOID(capi::require(version_id, "version_id"));
    COVE_TRY(const ByteView package, capi::read_data(data, size));
    COVE_TRY(const auto info, inspect_skill_package(version_id, package));
    *out_json = capi::make_buffer(capi::skill_package_json(info));
    return ok();
  });
}

cove_status cove_add_skill_json(cove_handle* cove, const char* version_id, const void* data,
                                size_t size, const cove_call_options* options,
                                cove_buffer** out_json, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY_VOID(capi::require(version_id, "version_id"));
    COVE_TRY(const ByteView package, capi::read_data(data, size));
    COVE_TRY(const auto call, capi::read_call(options));
    COVE_TRY(const auto info, handle.library->cove().add_skill(version_id, package, call));
    *out_json = capi::make_buffer(capi::skill_package_json(info));
    return ok();
  });
}

cove_status cove_add_skill_json_start(cove_handle* cove, const char* version_id, const void* data,
                                      size_t size, const cove_call_options* options,
                                      cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                      cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY_VOID(capi::require(version_id, "version_id"));
        COVE_TRY(auto package, capi::read_package(data, size));
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().add_skill_async(
            version_id, std::move(package), std::move(call),
            capi::answer_text<SkillPackageInfo>(reply, capi::skill_package_json));
        return ok();
      });
}

cove_status cove_list_skills_json(cove_handle* cove, const cove_call_options* options,
                                  cove_buffer** out_json, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY(const auto call, capi::read_call(options));
    COVE_TRY(const auto packages, handle.library->cove().list_skills(call));
    *out_json = capi::make_buffer(capi::skill_packages_json(packages));
    return ok();
  });
}

cove_status cove_list_skills_json_start(cove_handle* cove, const cove_call_options* options,
                                        cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                        cove_error** out_error) {
  return capi::starting_call<cove_buffer>(
      cove, "cove", out_error, done, user_data, drop,
      [&](cove_handle& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto call, capi::read_call(options));
        handle.library->cove().list_skills_async(
            std::move(call),
            capi::answer_text<std::vector<SkillPackageInfo>>(reply, capi::skill_packages_json));
        return ok();
      });
}

cove_status cove_remove_skill(cove_handle* cove, const char* version_id,
                              const cove_call_options* options, cove_error** out_error) {
  return capi::waiting_call(cove, "cove", out_error, [&](cove_handle& handle) -> Result<void> {
    COVE_TRY_VOID(capi::require(version_id, "version_id"));
    COVE_TRY(const auto call, capi::read_call(options));
    return handle.library->cove().remove_skill(version_id, call);
  });
}

cove_status cove_remove_skill_start(cove_handle* cove, const char* version_id,
                                    const cove_call_options* options, cove_done_fn done,
                                    void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return capi::starting_call<void>(cove, "cove", out_error, done, user_data, drop,
                                   [&](cove_handle& handle, const auto& reply) -> Result<void> {
                                     COVE_TRY_VOID(capi::require(version_id, "version_id"));
                                     COVE_TRY(auto call, capi::read_call(options));
                                     handle.library->cove().remove_skill_async(
                                         version_id, std::move(call), capi::answer(reply));
                                     return ok();
                                   });
}

}  // extern "C"
