#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/json_list.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

constexpr std::uint32_t kPage = 1000;

/// Prints one JSON object, or the text for people.
Result<void> print(const Invocation& invocation, const nlohmann::json& object,
                   const std::string& text) {
  return invocation.output.out(invocation.request.json ? base::dump_json(object) + "\n" : text);
}

/// The source to list: "type/id", or empty for all.
Result<std::string> chosen_source(const Request& request) {
  const WorkspaceChoice& choice = request.workspace;
  const int named = (request.source ? 1 : 0) + (choice.app ? 1 : 0) +
                    (choice.source_type || choice.source_id ? 1 : 0);
  if (named > 1) {
    return Error(ErrorCode::kInvalidArgument, "give one of --app, --source and --source-type");
  }
  if (choice.app) return "app/" + *choice.app;
  if (named == 0) return std::string();
  if (request.source && request.source->find('/') == std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "--source wants TYPE/ID, such as app/demo");
  }
  if (request.source) return *request.source;
  if (choice.source_type && choice.source_id) return *choice.source_type + "/" + *choice.source_id;
  return Error(ErrorCode::kInvalidArgument, "--source-type and --source-id go together");
}

bool is_wanted(const WorkspaceChoice& choice, const Record& record) {
  return (!choice.user || *choice.user == record.key.user_id) &&
         (!choice.sandbox || *choice.sandbox == record.sandbox_id.str());
}

}  // namespace

Result<int> run_status(const Invocation& invocation) {
  COVE_TRY(const SandboxId sandbox, chosen_sandbox(invocation.request.workspace));
  COVE_TRY(const Record record, invocation.cove.status(sandbox, invocation.call));
  COVE_TRY_VOID(print(invocation, record_json(record), record_text(record)));
  return 0;
}

Result<int> run_list(const Invocation& invocation) {
  const Request& request = invocation.request;
  COVE_TRY(const std::string source, chosen_source(request));
  JsonList sandboxes(invocation.output, "sandboxes");
  bool first = true;
  std::string after;
  do {
    COVE_TRY(const RecordPage page, invocation.cove.list(source, after, kPage, invocation.call));
    std::string lines;
    for (const Record& record : page.records) {
      if (!is_wanted(request.workspace, record)) continue;
      if (request.json) {
        COVE_TRY_VOID(sandboxes.add(record_json(record)));
        continue;
      }
      if (std::exchange(first, false)) lines += record_heading();
      lines += record_row(record);
    }
    COVE_TRY_VOID(invocation.output.out(lines));
    after = page.next;
  } while (!after.empty());
  if (request.json) COVE_TRY_VOID(sandboxes.finish());
  return 0;
}

Result<int> run_sweep(const Invocation& invocation) {
  SweepOptions options;
  options.dry_run = invocation.request.dry_run;
  COVE_TRY(const SweepReport report, invocation.cove.sweep(options, invocation.call));
  COVE_TRY_VOID(print(invocation, sweep_json(report), sweep_text(report)));
  if (report.errors.empty()) return 0;
  for (const std::string& error : report.errors) {
    invocation.output.report(Error(ErrorCode::kUnavailable, error), invocation.request.json);
  }
  return 125;
}

Result<int> run_doctor(const Invocation& invocation) {
  if (invocation.request.orphans) {
    COVE_TRY(const OrphanReport report, invocation.cove.orphans(invocation.call));
    COVE_TRY_VOID(print(invocation, orphans_json(report), orphans_text(report)));
    return 0;
  }
  return tell_findings(invocation.output, invocation.request.json, invocation.cove.doctor());
}

Result<int> tell_findings(const Output& output, bool json, const std::vector<Finding>& findings) {
  COVE_TRY_VOID(
      output.out(json ? base::dump_json(findings_json(findings)) + "\n" : findings_text(findings)));
  const bool broken = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == Finding::Level::kBroken;
  });
  return broken ? 1 : 0;
}

}  // namespace cove::cli
