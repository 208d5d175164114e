#include "base/text/prepare_json.hpp"

#include <nlohmann/json.hpp>

#include "base/text/name_text.hpp"
#include "base/text/utf8.hpp"

namespace cove::base {

using nlohmann::json;

json prepare_json(const StepReport& step) {
  json map{{"step", step.step},
           {"stage", name_of(step.stage)},
           {"policy", name_of(step.policy)},
           {"outcome", name_of(step.outcome)},
           {"duration_ms", step.duration.count()},
           {"reason", marked_utf8(step.reason)},
           {"output", marked_utf8(step.output)}};
  if (step.error) {
    map["error"] = {{"code", name_of(step.error->code())},
                    {"message", marked_utf8(step.error->message())}};
  }
  if (step.retry_after) map["retry_after_ms"] = step.retry_after->count();
  return map;
}

json prepare_json(const PrepareReport& report) {
  json steps = json::array();
  for (const StepReport& step : report.steps) steps.push_back(prepare_json(step));
  json files = json::array();
  for (const std::string& path : report.input_files) files.push_back(name_text(path));
  return {{"path", name_of(report.path)},
          {"failed", report.failed()},
          {"duration_ms", report.duration.count()},
          {"waited_ms", report.waited.count()},
          {"steps", std::move(steps)},
          {"input_files", std::move(files)}};
}

}  // namespace cove::base
