/// The puppet's sources, sessions, orphans and skills: what was asked is kept.
#include "fake_answers.hpp"

namespace cove {

using fake::world;

namespace {

SkillPackageInfo info_of(const std::string& version_id) {
  return {.version_id = version_id,
          .sha256 = "s",
          .content_hash = "c",
          .packed_bytes = 1,
          .content_bytes = 2,
          .files = 3,
          .skills = {{"pdf", "reads", "\xff/SKILL.md"}}};
}

OrphanReport orphan_report() {
  OrphanReport report;
  const VolumeRef volume{DeploymentId("d"), SandboxId("app-1"), Generation("g")};
  report.volumes = {volume};
  report.foreign_instances = {{volume, Epoch{2}}};
  report.providers = {{volume, "tree"}};
  return report;
}

}  // namespace

Result<void> Cove::remove_session(const WorkspaceKey& key, const AcquireOptions& options,
                                  const CallContext&) const {
  world().key = key;
  world().acquire = options;
  return fake::reply();
}
void Cove::remove_session_async(WorkspaceKey key, AcquireOptions options, CallContext,
                                std::function<void(Result<void>)> done) const {
  world().key = std::move(key);
  world().acquire = std::move(options);
  fake::later(std::move(done));
}

Result<void> Cove::revive_source(const std::string& source, const CallContext&) const {
  world().source = source;
  return fake::reply();
}
void Cove::revive_source_async(std::string source, CallContext,
                               std::function<void(Result<void>)> done) const {
  world().source = std::move(source);
  fake::later(std::move(done));
}
Result<void> Cove::set_idle_policy(const std::string& source, const IdlePolicy& policy,
                                   const CallContext&) const {
  world().source = source;
  world().policy = policy;
  return fake::reply();
}
void Cove::set_idle_policy_async(std::string source, IdlePolicy policy, CallContext,
                                 std::function<void(Result<void>)> done) const {
  world().source = std::move(source);
  world().policy = policy;
  fake::later(std::move(done));
}
Result<IdlePolicy> Cove::idle_policy(const std::string& source, const CallContext&) const {
  world().source = source;
  return fake::reply(world().policy);
}
void Cove::idle_policy_async(std::string source, CallContext,
                             std::function<void(Result<IdlePolicy>)> done) const {
  world().source = std::move(source);
  fake::later(std::move(done), world().policy);
}

void Cove::list_async(std::string source, std::string, std::uint32_t limit, CallContext,
                      std::function<void(Result<RecordPage>)> done) const {
  world().source = std::move(source);
  world().limit = limit;
  fake::later(std::move(done), RecordPage{{}, "next"});
}
Result<OrphanReport> Cove::orphans(const CallContext&) const {
  return fake::reply(orphan_report());
}
void Cove::orphans_async(CallContext, std::function<void(Result<OrphanReport>)> done) const {
  fake::later(std::move(done), orphan_report());
}

SkillPackage published_skill(std::string version_id) {
  SkillPackage skill;
  skill.version_id = std::move(version_id);
  skill.content = ObjectKey();
  return skill;
}
Result<SkillPackageInfo> inspect_skill_package(const std::string& version_id, ByteView package) {
  world().package.assign(reinterpret_cast<const char*>(package.data()), package.size());
  return fake::reply(info_of(version_id));
}
Result<SkillPackageInfo> Cove::add_skill(const std::string& version_id, ByteView package,
                                         const CallContext&) const {
  world().package.assign(reinterpret_cast<const char*>(package.data()), package.size());
  return fake::reply(info_of(version_id));
}
void Cove::add_skill_async(std::string version_id, Bytes package, CallContext,
                           std::function<void(Result<SkillPackageInfo>)> done) const {
  world().package.assign(reinterpret_cast<const char*>(package.data()), package.size());
  fake::later(std::move(done), info_of(version_id));
}
Result<std::vector<SkillPackageInfo>> Cove::list_skills(const CallContext&) const {
  return fake::reply(std::vector<SkillPackageInfo>{info_of("v1")});
}
void Cove::list_skills_async(
    CallContext, std::function<void(Result<std::vector<SkillPackageInfo>>)> done) const {
  fake::later(std::move(done), std::vector<SkillPackageInfo>{info_of("v1")});
}
Result<void> Cove::remove_skill(const std::string& version_id, const CallContext&) const {
  world().version_id = version_id;
  return fake::reply();
}
void Cove::remove_skill_async(std::string version_id, CallContext,
                              std::function<void(Result<void>)> done) const {
  world().version_id = std::move(version_id);
  fake::later(std::move(done));
}

std::string SkillIndex::prompt(std::size_t max_characters) const {
  return "prompt of " + std::to_string(max_characters);
}
Result<SkillIndex> Workspace::skills(const CallContext&) const {
  return fake::reply(world().skills);
}
void Workspace::skills_async(CallContext, std::function<void(Result<SkillIndex>)> done) const {
  fake::later(std::move(done), world().skills);
}

}  // namespace cove
