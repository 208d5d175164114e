#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <cove/config.hpp>
#include <cove/grants/host_network.hpp>
#include <cove/grants/proxy_network.hpp>
#include <cove/grants/writable_system.hpp>

#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "base/text/json_schema.hpp"
#include "providers/local/volume/uid_ranges.hpp"
#include "runtime/config/config_check.hpp"
#include "runtime/config/proxy_rules.hpp"

namespace cove {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

template <class Fields>
void visit_provider(const std::string& at, ProviderConfig& provider, Fields& fields) {
  fields.text(at + "/type", provider.type);
  fields.text(at + "/bubblewrap", provider.bubblewrap);
  fields.text(at + "/agent", provider.agent);
  fields.text(at + "/cgroup_parent", provider.cgroup_parent);
  fields.number(at + "/uid_base", provider.uid_base);
  fields.number(at + "/uid_ranges", provider.uid_ranges);
}

/// Every key of the document beside the member it sets: read and written from this one list.
template <class Fields>
void visit_fields(Config& config, Fields& fields) {
  fields.text("/state_dir", config.state_dir);
  fields.text("/metadata/type", config.metadata.type);
  fields.text("/metadata/path", config.metadata.path);
  fields.text("/objects/type", config.objects.type);
  fields.text("/objects/path", config.objects.path);
  fields.flag("/snapshot/include_home", config.snapshot.include_home);
  visit_provider("/provider", config.provider, fields);
  for (auto& [name, provider] : config.providers) {
    const std::string at = "/providers/" + name;
    visit_provider(at, provider, fields);
    fields.text(at + "/root_tree", provider.root_tree);
  }
  fields.network("/policy/network", config.policy);
  fields.system("/policy/system", config.policy);
  fields.text("/policy/root_tree", config.policy.root_tree);
  fields.number("/policy/limits/memory_bytes", config.policy.limits.memory_bytes);
  fields.number("/policy/limits/processes", config.policy.limits.processes);
  fields.number("/policy/limits/cpu_percent", config.policy.limits.cpu_percent);
  fields.seconds("/lifecycle/stop_after_s", config.lifecycle.stop_after);
  fields.seconds("/lifecycle/archive_after_s", config.lifecycle.archive_after);
  fields.seconds("/lifecycle/activity_lease_s", config.lifecycle.activity_lease);
  fields.seconds("/lifecycle/activity_idle_s", config.lifecycle.activity_idle);
  fields.seconds("/lifecycle/heartbeat_s", config.lifecycle.heartbeat);
  fields.seconds("/lifecycle/owner_dead_after_s", config.lifecycle.owner_dead_after);
  fields.seconds("/lifecycle/tombstone_keep_s", config.lifecycle.tombstone_keep);
  fields.number("/lifecycle/attention_after", config.lifecycle.attention_after);
  fields.number("/quotas/running", config.lifecycle.running.all);
  fields.number("/quotas/running_per_source", config.lifecycle.running.per_source);
  fields.number("/quotas/running_per_user", config.lifecycle.running.per_user);
  fields.seconds("/sweep_every_s", config.sweep_every);
  fields.number("/blocking_threads", config.blocking_threads);
}

/// Takes what a document that the schema accepted says; what it leaves out keeps its default.
class Reader {
 public:
  explicit Reader(const json& document) : document_(document) {}

  void text(const std::string& key, std::string& member) const {
    if (const json* value = find(key)) member = value->get<std::string>();
  }
  template <class Number>
  void number(const std::string& key, Number& member) const {
    if (const json* value = find(key)) member = value->get<Number>();
  }
  void flag(const std::string& key, bool& member) const {
    if (const json* value = find(key)) member = value->get<bool>();
  }
  void seconds(const std::string& key, std::chrono::milliseconds& member) const {
    if (const json* value = find(key)) {
      member = std::chrono::milliseconds(std::llround(value->get<double>() * 1000));
    }
  }
  void network(const std::string& key, SandboxPolicy& policy) const {
    const json* value = find(key);
    if (value != nullptr && *value == "host") policy.allow(grants::HostNetwork{});
    if (value == nullptr || *value != "proxy") return;
    grants::ProxyNetwork proxy;
    if (const json* allow = find("/policy/proxy/allow")) {
      proxy.allow = runtime::read_proxy_rules(*allow);
    }
    policy.allow(proxy);
  }
  void system(const char* key, SandboxPolicy& policy) const {
    const json* value = find(key);
    if (value != nullptr && *value == "writable") policy.allow(grants::WritableSystem{});
  }

 private:
  const json* find(const std::string& key) const {
    const Pointer pointer(key);
    return document_.contains(pointer) ? &document_.at(pointer) : nullptr;
  }

  const json& document_;
};

/// Writes the document that says the same; an empty text means its default and is left out.
class Writer {
 public:
  json document = json::object();

  void text(const std::string& key, const std::string& member) {
    if (!member.empty()) document[Pointer(key)] = member;
  }
  template <class Number>
  void number(const std::string& key, const Number& member) {
    document[Pointer(key)] = member;
  }
  void flag(const std::string& key, bool member) { document[Pointer(key)] = member; }
  void seconds(const std::string& key, const std::chrono::milliseconds& member) {
    document[Pointer(key)] = static_cast<double>(member.count()) / 1000;
  }
  void network(const std::string& key, const SandboxPolicy& policy) {
    document[Pointer(key)] = policy.has_host_network() ? "host" : "none";
    const grants::ProxyNetwork* proxy = policy.proxy_network();
    if (proxy == nullptr || policy.has_host_network()) return;
    document[Pointer(key)] = "proxy";
    document[Pointer("/policy/proxy/allow")] = runtime::write_proxy_rules(proxy->allow);
  }
  void system(const char* key, const SandboxPolicy& policy) {
    document[Pointer(key)] = policy.has_writable_system() ? "writable" : "read_only";
  }
};

Error wrong(const std::string& key, const std::string& value, std::string_view rule) {
  return {ErrorCode::kInvalidArgument,
          key + " must be " + std::string(rule) + ", not " + base::quoted(value)};
}

Result<void> check_path(const std::string& key, const std::string& path) {
  if (path.empty()) return ok();
  if (path.find('\0') != std::string::npos) return wrong(key, path, "a path without NUL bytes");
  if (path.front() != '/') {
    return wrong(key, path,
                 "an absolute path (what it means must not depend on the process's directory)");
  }
  if (path.size() >= PATH_MAX) {
    return Error(ErrorCode::kInvalidArgument, key + " has " + std::to_string(path.size()) +
                                                  " bytes; the system takes paths of at most " +
                                                  std::to_string(PATH_MAX - 1));
  }
  return ok();
}

bool is_group_name(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.size() <= NAME_MAX;
}

/// A path that can only lead down from a hierarchy's root.
Result<void> check_cgroup_parent(const std::string& key, const std::string& parent) {
  if (parent.empty()) return ok();
  bool good = parent.find('\0') == std::string::npos && parent.size() < PATH_MAX;
  std::string_view rest = parent;
  while (good) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    good = is_group_name(rest.substr(0, end));
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (good) return ok();
  return wrong(key, parent,
               "names joined by single slashes, without '.' and '..' and relative to each "
               "hierarchy's root (such as cove or app/cove)");
}

Result<void> check_provider(const std::string& at, const ProviderConfig& provider) {
  COVE_TRY_VOID(check_path(at + ".bubblewrap", provider.bubblewrap));
  COVE_TRY_VOID(check_path(at + ".agent", provider.agent));
  COVE_TRY_VOID(check_path(at + ".root_tree", provider.root_tree));
  COVE_TRY_VOID(check_cgroup_parent(at + ".cgroup_parent", provider.cgroup_parent));
  const auto ranges = local::UidRangesConfig::of({}, provider.uid_base, provider.uid_ranges);
  const std::uint64_t end = ranges.base + std::uint64_t{ranges.count} * local::UidRange::kCount;
  if (end <= std::numeric_limits<std::uint32_t>::max()) return ok();
  return Error(ErrorCode::kInvalidArgument,
               at + ".uid_base and " + at + ".uid_ranges reach past the last uid, 4294967294");
}

/// They are kept in records, and are names of directories.
Result<void> check_provider_names(const Config& config) {
  constexpr std::size_t kMostBytes = 32;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (const auto& [name, provider] : config.providers) {
    const bool good = !name.empty() && name.size() <= kMostBytes && is_letter(name.front()) &&
                      std::all_of(name.begin(), name.end(), [&](char c) {
                        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
                      });
    if (!good) {
      return wrong("a name in providers", name,
                   "a letter, then letters, digits, '_' and '-', 32 bytes at most");
    }
    if (name == "local" || name == config.provider.type) {
      return wrong("a name in providers", name, "another one than that of a provider's type");
    }
  }
  return ok();
}

/// What a schema cannot say.
Result<void> check_beyond_schema(const Config& config) {
  COVE_TRY_VOID(check_path("state_dir", config.state_dir));
  COVE_TRY_VOID(check_path("metadata.path", config.metadata.path));
  COVE_TRY_VOID(check_path("objects.path", config.objects.path));
  COVE_TRY_VOID(check_path("policy.root_tree", config.policy.root_tree));
  COVE_TRY_VOID(runtime::check_proxy_network(config.policy));
  if (!config.provider.root_tree.empty()) {
    return wrong("provider.root_tree", config.provider.root_tree,
                 "left out: policy.root_tree is that of the usual provider");
  }
  COVE_TRY_VOID(check_provider("provider", config.provider));
  for (const auto& [name, provider] : config.providers) {
    COVE_TRY_VOID(check_provider("providers." + name, provider));
  }
  if (config.lifecycle.heartbeat * 3 > config.lifecycle.owner_dead_after) {
    return Error(
        ErrorCode::kInvalidArgument,
        "lifecycle.heartbeat_s must be at most a third of lifecycle.owner_dead_after_s: an "
        "owner that lives would be taken for dead");
  }
  return ok();
}

/// An allow-list that nothing reads would let its author believe in it.
Result<void> check_proxy_is_used(const json& document) {
  const json policy = document.value("policy", json::object());
  if (!policy.contains("proxy") || policy.value("network", "none") == "proxy") return ok();
  return Error(ErrorCode::kInvalidArgument,
               "policy.proxy has a meaning only where policy.network is \"proxy\"");
}

Result<json> schema() { return base::parse_json(config_schema()); }

}  // namespace

Result<Config> parse_config(std::string_view text) {
  const auto document = base::parse_json(text);
  if (!document) {
    return Error(ErrorCode::kInvalidArgument, "the configuration is " + document.error().message());
  }
  COVE_TRY(const json rules, schema());
  COVE_TRY_VOID(base::check_against_schema(*document, rules));
  COVE_TRY_VOID(check_proxy_is_used(*document));
  Config config;
  if (document->contains("providers")) {
    for (const auto& item : document->at("providers").items()) config.providers[item.key()];
  }
  COVE_TRY_VOID(check_provider_names(config));
  Reader reader(*document);
  visit_fields(config, reader);
  COVE_TRY_VOID(check_beyond_schema(config));
  return config;
}

namespace runtime {

Result<void> check_config(const Config& config) {
  COVE_TRY_VOID(check_provider_names(config));
  Config copy = config;
  Writer writer;
  visit_fields(copy, writer);
  COVE_TRY(const json rules, schema());
  COVE_TRY_VOID(base::check_against_schema(writer.document, rules));
  return check_beyond_schema(config);
}

}  // namespace runtime
}  // namespace cove
