#include "wire/boot.hpp"

#include <nlohmann/json.hpp>

namespace cove::wire {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = 1024 * 1024;

Error not_boot(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "not a boot document: " + what};
}

/// The document comes from Cove itself: flat and small, so parse depth is bounded by its form.
bool is_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > 8) return true;
  }
  return false;
}

/// Reads one member into `to`, where it is there and of the right type.
class Reader {
 public:
  explicit Reader(const json& document) : document_(document) {}

  void read(const char* name, std::string& to) {
    if (const auto* value = find(name, &json::is_string)) to = value->get<std::string>();
  }
  void read(const char* name, std::uint64_t& to) {
    if (const auto* value = find(name, &json::is_number_unsigned)) to = value->get<std::uint64_t>();
  }
  void read(const char* name, std::uint32_t& to) {
    if (const auto* value = find(name, &json::is_number_unsigned)) {
      if (value->get<std::uint64_t>() > UINT32_MAX) wrong_ = name;
      to = value->get<std::uint32_t>();
    }
  }
  void read(const char* name, int& to) {
    if (const auto* value = find(name, &json::is_number_integer)) to = value->get<int>();
  }
  void read(const char* name, bool& to) {
    if (const auto* value = find(name, &json::is_boolean)) to = value->get<bool>();
  }
  void read(const char* name, std::vector<int>& to) {
    const auto* value = find(name, &json::is_array);
    if (value == nullptr) return;
    for (const auto& entry : *value) {
      if (!entry.is_number_integer()) wrong_ = name;
      if (entry.is_number_integer()) to.push_back(entry.get<int>());
    }
  }
  void read(const char* name, std::map<std::string, std::string>& to) {
    const auto* value = find(name, &json::is_object);
    if (value == nullptr) return;
    for (const auto& [key, entry] : value->items()) {
      if (!entry.is_string()) wrong_ = name;
      if (entry.is_string()) to[key] = entry.get<std::string>();
    }
  }

  const std::string& wrong() const { return wrong_; }

 private:
  const json* find(const char* name, bool (json::*is)() const noexcept) {
    const auto found = document_.find(name);
    if (found == document_.end()) return nullptr;
    if (((*found).*is)()) return &*found;
    wrong_ = name;
    return nullptr;
  }

  const json& document_;
  std::string wrong_;
};

/// One list of names for both directions.
template <class Boot, class Visit>
void visit(Boot& boot, Visit&& each) {
  each("version", boot.version);
  each("deployment", boot.deployment);
  each("sandbox", boot.sandbox);
  each("generation", boot.generation);
  each("epoch", boot.epoch);
  each("listen_fd", boot.listen_fd);
  each("lock_fd", boot.lock_fd);
  each("workspace", boot.workspace);
  each("home", boot.home);
  each("uid", boot.uid);
  each("gid", boot.gid);
  each("capabilities", boot.capabilities);
  each("environment", boot.environment);
  each("command_cgroup_fds", boot.command_cgroup_fds);
  each("memory_cgroup_fd", boot.memory_cgroup_fd);
  each("processes_cgroup_fd", boot.processes_cgroup_fd);
  each("address_space_bytes", boot.address_space_bytes);
  each("processes", boot.processes);
  each("best_effort_limits", boot.best_effort_limits);
  each("proxy", boot.proxy);
  each("proxy_port", boot.proxy_port);
  each("proxy_exceptions", boot.proxy_exceptions);
}

}  // namespace

std::string to_json(const AgentBoot& boot) {
  json document = json::object();
  visit(boot, [&](const char* name, const auto& value) { document[name] = value; });
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<AgentBoot> parse_agent_boot(std::string_view text) {
  if (text.size() > kMaxBytes) return not_boot("more than 1 MiB");
  if (is_deep(text)) return not_boot("it is nested too deep");
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return not_boot("it is not JSON");
  if (!document.is_object()) return not_boot("it is not a JSON object");
  if (!document.contains("version")) return not_boot("it has no version");
  AgentBoot boot;
  Reader reader(document);
  visit(boot, [&](const char* name, auto& value) { reader.read(name, value); });
  if (!reader.wrong().empty()) return not_boot(reader.wrong() + " is of a wrong type");
  if (boot.version != 1) return not_boot("version " + std::to_string(boot.version));
  if (boot.listen_fd < 0) return not_boot("it names no listening socket");
  if (boot.workspace.empty()) return not_boot("it names no workspace");
  if (boot.proxy_port > 65'535) return not_boot("proxy_port is no port");
  return boot;
}

}  // namespace cove::wire
