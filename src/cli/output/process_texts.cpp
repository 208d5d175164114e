#include <variant>

#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "base/values/outcome_name.hpp"
#include "cli/output/text_fields.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShownId = 12;
constexpr std::size_t kShownCommand = 60;

/// "running", "exited 3", "signaled 9", "timed_out".
std::string state_text(const ProcessInfo& info) {
  if (!info.end) return "running";
  std::string text = base::outcome_name(info.end->outcome);
  if (const auto* exited = std::get_if<Exited>(&info.end->outcome)) {
    text += " " + std::to_string(exited->code);
  }
  if (const auto* signaled = std::get_if<Signaled>(&info.end->outcome)) {
    text += " " + std::to_string(signaled->signal);
  }
  return text;
}

std::string short_command(const std::string& command) {
  if (command.size() <= kShownCommand) return base::escaped(command);
  return base::escaped(command.substr(0, base::cut_before(command, kShownCommand))) + "...";
}

}  // namespace

json process_json(const ProcessInfo& info) {
  json object{{"id", info.id.str()},
              {"name", info.name},
              {"started_at", time_text(info.started_at)},
              {"keep_alive_s", info.keep_alive.count()},
              {"terminal", info.has_terminal},
              {"stdin_open", info.stdin_open},
              {"stdout_bytes", info.out_bytes},
              {"stderr_bytes", info.err_bytes},
              {"running", !info.end.has_value()},
              {"outcome", nullptr},
              {"exit_code", nullptr},
              {"signal", nullptr},
              {"duration_ms", nullptr}};
  set_bytes(object, "command", info.command);
  set_bytes(object, "cwd", info.cwd);
  if (!info.end) return object;
  object["outcome"] = base::outcome_name(info.end->outcome);
  object["exit_code"] = info.end->shell_code();
  object["duration_ms"] = static_cast<double>(info.end->duration.count()) / 1000;
  if (const auto* signaled = std::get_if<Signaled>(&info.end->outcome)) {
    object["signal"] = signaled->signal;
  }
  return object;
}

std::string processes_text(const std::vector<ProcessInfo>& processes) {
  if (processes.empty()) return "";
  std::string text = padded("ID", kShownId + 2) + padded("STATE", 14) + padded("STARTED", 26) +
                     padded("NAME", 16) + "COMMAND\n";
  for (const ProcessInfo& info : processes) {
    text += padded(info.id.str().substr(0, kShownId), kShownId + 2) + padded(state_text(info), 14) +
            padded(time_text(info.started_at), 26) + padded(base::escaped(info.name), 16) +
            short_command(info.command) + "\n";
  }
  return text;
}

json logs_json(const ProcessId& id, const KeptLog& out, const KeptLog& err) {
  json object{{"id", id.str()}, {"stdout_gone_bytes", out.gone}, {"stderr_gone_bytes", err.gone}};
  set_bytes(object, "stdout", out.bytes);
  set_bytes(object, "stderr", err.bytes);
  return object;
}

}  // namespace cove::cli
