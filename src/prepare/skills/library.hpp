/// SkillLibrary: published packages in the object store, each under its version id for ever.
///
/// Two objects each: the package, and then `info.json`, which says what is in it. A version is
/// there once its info is; what a killed `add` left is completed by the next one. One that was
/// removed leaves `removed.json`, so that its id never gets another content (docs/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cove/ids.hpp>
#include <cove/prepare_inputs.hpp>
#include <cove/skills.hpp>

#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

class SkillLibrary {
 public:
  /// REQUIRES: the shelf has an object store.
  SkillLibrary(SkillShelf& shelf, const DeploymentId& deployment);

  /// See Cove::add_skill; `package` outlives the task.
  Task<Result<SkillPackageInfo>> add(const std::string& version_id, ByteView package,
                                     const CallContext& call);
  Task<Result<std::vector<SkillPackageInfo>>> list(const CallContext& call);
  Task<Result<SkillPackage>> find(const std::string& version_id, const CallContext& call);
  Task<Result<void>> remove(const std::string& version_id, const CallContext& call);

 private:
  ObjectKey key(const std::string& version_id, const char* part) const;
  Task<Result<SkillPackageInfo>> read_info(const std::string& version_id, const CallContext& call);

  /// Whether a package of this sha256 may have an id that none has now.
  Task<Result<void>> check_removed(const std::string& version_id, const std::string& sha256,
                                   const CallContext& call);
  Task<Result<void>> put_removed(const std::string& version_id, const std::string& sha256,
                                 const CallContext& call);
  Task<Result<void>> put(ObjectKey key, ByteView bytes, const CallContext& call);

  SkillShelf& shelf_;
  ObjectStore& objects_;
  std::string prefix_;
};

/// What removed.json is. Its sha256 is empty where nobody knew any more what was removed.
std::string removal_text(const std::string& version_id, const std::string& sha256);
Result<std::string> parse_removal(const std::string& version_id, std::string_view text);

/// What info.json is. kIntegrity: it is none, or of a newer form.
std::string info_text(const SkillPackageInfo& info);
Result<SkillPackageInfo> parse_info(const std::string& version_id, std::string_view text);

}  // namespace cove::prepare
