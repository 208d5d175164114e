#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "cli/arguments/values.hpp"
#include "cli/commands/command.hpp"
#include "cli/machine/local_file.hpp"
#include "cli/output/json_list.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kMaxPackage = std::size_t{128} << 20U;

Result<void> take_operands(const Request& request, std::size_t count, const char* form) {
  if (request.operands.size() == count) return ok();
  return usage_error(std::string("it is: cove skills ") + form, "skills");
}

Result<int> add(const Invocation& invocation) {
  const Request& request = invocation.request;
  COVE_TRY_VOID(take_operands(request, 3, "add VERSION FILE"));
  const std::string& path = request.operands[2];
  COVE_TRY(const base::UniqueFd fd, open_local(path));
  COVE_TRY(const std::string package, read_all(*fd, path, kMaxPackage, invocation.call));
  const ByteView bytes = std::as_bytes(std::span(package));
  COVE_TRY(const SkillPackageInfo info,
           invocation.cove.add_skill(request.operands[1], bytes, invocation.call));
  COVE_TRY_VOID(invocation.output.out(request.json
                                          ? base::dump_json(skill_package_json(info)) + "\n"
                                          : "added " + skill_package_text(info)));
  return 0;
}

Result<int> list(const Invocation& invocation) {
  COVE_TRY_VOID(take_operands(invocation.request, 1, "list"));
  COVE_TRY(const auto packages, invocation.cove.list_skills(invocation.call));
  if (!invocation.request.json) {
    for (const SkillPackageInfo& info : packages) {
      COVE_TRY_VOID(invocation.output.out(skill_package_text(info)));
    }
    return 0;
  }
  JsonList all(invocation.output, "packages");
  for (const SkillPackageInfo& info : packages) COVE_TRY_VOID(all.add(skill_package_json(info)));
  COVE_TRY_VOID(all.finish());
  return 0;
}

Result<int> remove(const Invocation& invocation) {
  COVE_TRY_VOID(take_operands(invocation.request, 2, "remove VERSION"));
  const std::string& version_id = invocation.request.operands[1];
  COVE_TRY_VOID(invocation.cove.remove_skill(version_id, invocation.call));
  const nlohmann::json removed{{"version_id", version_id}, {"removed", true}};
  COVE_TRY_VOID(invocation.output.out(invocation.request.json ? base::dump_json(removed) + "\n"
                                                              : "removed " + version_id + "\n"));
  return 0;
}

Result<int> index(const Invocation& invocation) {
  const Request& request = invocation.request;
  COVE_TRY_VOID(take_operands(request, 1, "index --app ID --user U --skill VERSION"));
  PrepareInputs inputs;
  for (const std::string& version_id : request.prepare.skills) {
    COVE_TRY(SkillPackage skill, invocation.cove.find_skill(version_id, invocation.call));
    inputs.skills.push_back(std::move(skill));
  }
  COVE_TRY(Workspace workspace, acquire_chosen(invocation, std::move(inputs)));
  const Result<SkillIndex> found = workspace.skills(invocation.call);
  const Result<void> released = workspace.release();
  if (!found) return found.error();
  const std::string json = base::dump_json(skill_index_json(*found, request.characters)) + "\n";
  COVE_TRY_VOID(invocation.output.out(request.json ? json : found->prompt(request.characters)));
  if (!released) invocation.output.report(released.error(), request.json);
  return found->problems.empty() ? 0 : 1;
}

}  // namespace

Result<int> run_skills(const Invocation& invocation) {
  const std::string& what = invocation.request.operands.front();
  if (what == "add") return add(invocation);
  if (what == "list") return list(invocation);
  if (what == "remove") return remove(invocation);
  if (what == "index") return index(invocation);
  return usage_error("skills takes add VERSION FILE, list, remove VERSION, or index", "skills");
}

}  // namespace cove::cli
