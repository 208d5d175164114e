// What is done to a whole deployment, or to all of a source.
#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

Result<std::string> source_of(const Request& request) {
  const std::string source = request.source.value_or("");
  if (source.find('/') != std::string::npos) return source;
  return Error(ErrorCode::kInvalidArgument,
               "give the source as --source TYPE/ID, such as app/demo");
}

Result<void> print(const Invocation& invocation, const nlohmann::json& object,
                   const std::string& text) {
  return invocation.output.out(invocation.request.json ? base::dump_json(object) + "\n" : text);
}

Result<int> revive(const Invocation& invocation, const std::string& source) {
  COVE_TRY_VOID(invocation.cove.revive_source(source, invocation.call));
  COVE_TRY_VOID(print(invocation, {{"source", source}, {"revived", true}},
                      "revived " + base::escaped(source) + "\n"));
  return 0;
}

std::string recover_text(const RecoverReport& report) {
  std::string text = "deployment " + base::escaped(report.deployment.str()) + "\n";
  text += "made " + std::to_string(report.archived) + " archived and " +
          std::to_string(report.stopped) + " stopped; kept " + std::to_string(report.kept) +
          "; passed by " + std::to_string(report.destroyed) + " destroyed\n";
  for (const std::string& problem : report.problems) {
    text += "to decide: " + base::harmless(problem) + "\n";
  }
  return text;
}

nlohmann::json recover_json(const RecoverReport& report) {
  return {{"deployment", report.deployment.str()},
          {"archived", report.archived},
          {"stopped", report.stopped},
          {"kept", report.kept},
          {"destroyed", report.destroyed},
          {"problems", report.problems}};
}

}  // namespace

Result<int> run_destroy_source(const Invocation& invocation) {
  COVE_TRY(const std::string source, source_of(invocation.request));
  if (invocation.request.revive) return revive(invocation, source);
  if (!invocation.request.yes) {
    return Error(ErrorCode::kInvalidArgument, "destroy-source deletes every workspace of " +
                                                  base::quoted(source) +
                                                  " for ever; say so with --yes");
  }
  const auto progress = [&](const SourceProgress& so_far) {
    if (!invocation.request.verbose) return;
    static_cast<void>(invocation.output.err("destroyed " + std::to_string(so_far.destroyed) +
                                            ", newest " + base::escaped(so_far.sandbox.str()) +
                                            "\n"));
  };
  COVE_TRY(const auto count, invocation.cove.destroy_source(source, progress, invocation.call));
  COVE_TRY_VOID(
      print(invocation, {{"source", source}, {"destroyed", count}},
            "destroyed " + std::to_string(count) + " of " + base::escaped(source) + "\n"));
  return 0;
}

Result<int> run_recover(const Invocation& invocation) {
  const DeploymentId deployment(invocation.request.deployment);
  COVE_TRY(const RecoverReport report, invocation.cove.recover(deployment, invocation.call));
  COVE_TRY_VOID(print(invocation, recover_json(report), recover_text(report)));
  return report.problems.empty() ? 0 : 1;
}

Result<int> run_metrics(const Invocation& invocation) {
  COVE_TRY(const std::string text, invocation.cove.metrics(invocation.call));
  COVE_TRY_VOID(print(invocation, {{"metrics", text}}, text));
  return 0;
}

}  // namespace cove::cli
