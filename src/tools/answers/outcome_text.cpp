#include "tools/answers/outcome_text.hpp"

#include <cstring>

#include <nlohmann/json.hpp>

#include "base/values/outcome_name.hpp"

namespace cove::tools {
namespace {

std::string signal_text(std::int32_t signal) {
  const char* name = ::sigabbrev_np(signal);
  return std::to_string(signal) + (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
}

struct Words {
  std::string operator()(const Exited& end) const {
    return "exited with code " + std::to_string(end.code);
  }
  std::string operator()(const Signaled& end) const {
    return "was ended by signal " + signal_text(end.signal);
  }
  std::string operator()(const TimedOut&) const { return "timed out"; }
  std::string operator()(const Cancelled&) const { return "was cancelled"; }
  std::string operator()(const OutputLimitReached&) const {
    return "was ended because it wrote more than 1 GiB";
  }
  std::string operator()(const OutOfMemory&) const {
    return "was ended because it was out of memory";
  }
  std::string operator()(const CpuLimitReached&) const {
    return "was ended because it used up its processor time";
  }
};

}  // namespace

std::string outcome_text(const Outcome& outcome) { return std::visit(Words{}, outcome); }

void set_ending(nlohmann::json& data, const ExecResult& result) {
  const auto* signaled = std::get_if<Signaled>(&result.outcome);
  data["outcome"] = base::outcome_name(result.outcome);
  data["exit_code"] = result.shell_code();
  if (signaled != nullptr) data["signal"] = signaled->signal;
  data["duration_ms"] = result.duration.count() / 1000;
  data["peak_memory_bytes"] = result.usage.peak_memory_bytes;
  data["cpu_ms"] = (result.usage.user_cpu + result.usage.system_cpu).count() / 1000;
}

bool ran_to_its_end(const Outcome& outcome) { return std::holds_alternative<Exited>(outcome); }

}  // namespace cove::tools
