// The calls of the facade on published skills.
#include <utility>

#include <cove/cove.hpp>

#include "client/guest_link.hpp"
#include "prepare/skills/library.hpp"
#include "runtime/core.hpp"
#include "runtime/cove_impl.hpp"
#include "runtime/use/published.hpp"

namespace cove {

using client::run_async;
using client::run_blocking;
using runtime::Core;

namespace {

/// Does something with the library of published skills.
template <class Work>
std::invoke_result_t<Work&, prepare::SkillLibrary&> with_library(std::shared_ptr<Core> core,
                                                                 Work work) {
  prepare::SkillLibrary library(*core->skills(), core->lifecycle().deployment());
  co_return co_await work(library);
}

Task<Result<SkillPackageInfo>> add_to_library(std::shared_ptr<Core> core,
                                              const std::string& version_id, ByteView package,
                                              const CallContext& call) {
  return with_library(std::move(core),
                      [&version_id, package, &call](prepare::SkillLibrary& library) {
                        return library.add(version_id, package, call);
                      });
}

Task<Result<std::vector<SkillPackageInfo>>> list_library(std::shared_ptr<Core> core,
                                                         const CallContext& call) {
  return with_library(std::move(core),
                      [&call](prepare::SkillLibrary& library) { return library.list(call); });
}

Task<Result<SkillPackage>> find_in_library(std::shared_ptr<Core> core,
                                           const std::string& version_id, const CallContext& call) {
  return with_library(std::move(core), [&version_id, &call](prepare::SkillLibrary& library) {
    return library.find(version_id, call);
  });
}

Task<Result<void>> remove_from_library(std::shared_ptr<Core> core, const std::string& version_id,
                                       const CallContext& call) {
  core->published().erase(version_id);
  return with_library(std::move(core), [&version_id, &call](prepare::SkillLibrary& library) {
    return library.remove(version_id, call);
  });
}

}  // namespace

SkillPackage published_skill(std::string version_id) {
  SkillPackage skill;
  skill.version_id = std::move(version_id);
  skill.content = ObjectKey();
  return skill;
}

Task<Result<void>> runtime::find_published(Core& core, std::vector<SkillPackage>& skills,
                                           const CallContext& call) {
  constexpr std::size_t kMostRemembered = 1000;
  auto& known = core.published();
  for (SkillPackage& skill : skills) {
    const auto* const key = std::get_if<ObjectKey>(&skill.content);
    if (key == nullptr || !key->empty()) continue;
    const std::string version_id = skill.version_id;
    const auto remembered = known.find(version_id);
    const bool is_known = remembered != known.end();
    if (is_known) skill = remembered->second;
    if (is_known) continue;
    COVE_CO_TRY(skill, co_await find_in_library(core.shared_from_this(), version_id, call));
    if (known.size() >= kMostRemembered) known.clear();
    known.insert_or_assign(version_id, skill);
  }
  co_return ok();
}

Result<SkillPackageInfo> Cove::add_skill(const std::string& version_id, ByteView package,
                                         const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return add_to_library(impl_->core, version_id, package, inner);
  });
}

Result<std::vector<SkillPackageInfo>> Cove::list_skills(const CallContext& call) const {
  return run_blocking(*impl_->core, call,
                      [&](const CallContext& inner) { return list_library(impl_->core, inner); });
}

Result<SkillPackage> Cove::find_skill(const std::string& version_id,
                                      const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return find_in_library(impl_->core, version_id, inner);
  });
}

Result<void> Cove::remove_skill(const std::string& version_id, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return remove_from_library(impl_->core, version_id, inner);
  });
}

void Cove::add_skill_async(std::string version_id, Bytes package, CallContext call,
                           std::function<void(Result<SkillPackageInfo>)> done) const {
  run_async<SkillPackageInfo>(
      impl_->core, call,
      [core = impl_->core, version_id = std::move(version_id), package = std::move(package)](
          const CallContext& inner) { return add_to_library(core, version_id, package, inner); },
      std::move(done));
}

void Cove::list_skills_async(
    CallContext call, std::function<void(Result<std::vector<SkillPackageInfo>>)> done) const {
  run_async<std::vector<SkillPackageInfo>>(
      impl_->core, call,
      [core = impl_->core](const CallContext& inner) { return list_library(core, inner); },
      std::move(done));
}

void Cove::remove_skill_async(std::string version_id, CallContext call,
                              std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, version_id = std::move(version_id)](const CallContext& inner) {
        return remove_from_library(core, version_id, inner);
      },
      std::move(done));
}

}  // namespace cove
