#include <algorithm>
#include <string>

#include "base/text/display_text.hpp"
#include "cli/output/text_fields.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kLongestColumn = 40;

/// Each line of a program's output, indented and harmless.
std::string indented(std::string_view output) {
  std::string text;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    text += "    " + base::escaped(output.substr(0, end)) + "\n";
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return text;
}

std::string step_text(const StepReport& step, std::size_t width) {
  std::string line = padded(base::escaped(step.step), width + 2) +
                     padded(name_of(step.outcome), 9) + std::to_string(step.duration.count()) +
                     " ms";
  if (!step.reason.empty()) line += "  " + base::harmless(step.reason);
  if (step.retry_after) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*step.retry_after);
    line += "; tried again in " + std::to_string(seconds.count()) + " s";
  }
  line += "\n";
  return step.outcome == StepOutcome::kFailed ? line + indented(step.output) : line;
}

}  // namespace

std::string prepare_text(const PrepareReport& report) {
  if (report.steps.empty()) return "there was nothing to prepare\n";
  std::size_t width = 0;
  for (const StepReport& step : report.steps) {
    width = std::max(width, std::min(step.step.size(), kLongestColumn));
  }
  std::string text;
  for (const StepReport& step : report.steps) text += step_text(step, width);
  for (const std::string& path : report.input_files) {
    text += "/workspace/" + base::escaped(path) + "\n";
  }
  return text;
}

}  // namespace cove::cli
