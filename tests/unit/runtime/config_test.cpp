#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cove/config.hpp>

#include "runtime/config/config_check.hpp"
#include "support/fixtures/project_files.hpp"

using namespace std::chrono_literals;
using cove::Config;
using cove::ErrorCode;
using cove::parse_config;
using nlohmann::json;

namespace {

std::string message_of(const std::string& text) {
  const auto config = parse_config(text);
  REQUIRE_FALSE(config);
  REQUIRE(config.error().code() == ErrorCode::kInvalidArgument);
  return config.error().message();
}

/// A document with one key, named by its path, set to `value`.
std::string with(const std::string& pointer, const json& value) {
  json document{{"state_dir", "/s"}};
  document[json::json_pointer(pointer)] = value;
  return document.dump();
}

std::string dotted(std::string pointer) {
  pointer.erase(0, 1);
  for (char& c : pointer) c = c == '/' ? '.' : c;
  return pointer;
}

/// Every leaf of the schema: its pointer and its rule.
void leaves(const json& schema, const std::string& pointer,
            std::vector<std::pair<std::string, json>>& found) {
  if (!schema.contains("properties")) {
    found.emplace_back(pointer, schema);
    return;
  }
  for (const auto& item : schema["properties"].items()) {
    leaves(item.value(), pointer + "/" + item.key(), found);
  }
}

std::vector<std::pair<std::string, json>> all_leaves() {
  std::vector<std::pair<std::string, json>> found;
  leaves(json::parse(cove::config_schema()), "", found);
  return found;
}

}  // namespace

TEST_CASE("parse_config: only state_dir is needed", "[unit][runtime]") {
  const auto config = parse_config(R"({"state_dir": "/var/lib/app"})");
  REQUIRE(config);
  CHECK(config->state_dir == "/var/lib/app");
  CHECK(config->metadata.type == "sqlite");
  CHECK(config->objects.type == "directory");
  CHECK(config->provider.type == "local");
  CHECK_FALSE(config->policy.has_host_network());
  CHECK_FALSE(config->policy.has_writable_system());
  CHECK(config->lifecycle.stop_after == 60min);
  CHECK(config->sweep_every == 0ms);
  CHECK(config->blocking_threads == 4);
}

TEST_CASE("parse_config: every field is taken", "[unit][runtime]") {
  const auto config = parse_config(R"({
    "state_dir": "/s",
    "metadata": {"type": "memory", "path": "/m"},
    "objects": {"type": "memory", "path": "/o"},
    "provider": {"type": "local", "bubblewrap": "/b", "agent": "/a", "cgroup_parent": "x/y",
                 "uid_base": 1000000, "uid_ranges": 12},
    "policy": {"network": "host", "system": "writable", "root_tree": "/r",
               "limits": {"memory_bytes": 10000000000, "processes": 70, "cpu_percent": 150}},
    "lifecycle": {"stop_after_s": 1.5, "archive_after_s": 2, "activity_lease_s": 3,
                  "activity_idle_s": 4, "heartbeat_s": 0.25, "owner_dead_after_s": 6,
                  "tombstone_keep_s": 7, "attention_after": 8},
    "quotas": {"running": 10, "running_per_source": 11, "running_per_user": 12},
    "sweep_every_s": 9, "blocking_threads": 2})");
  REQUIRE(config);
  CHECK(config->metadata.type + config->metadata.path == "memory/m");
  CHECK(config->objects.type + config->objects.path == "memory/o");
  CHECK(config->provider.bubblewrap + config->provider.agent == "/b/a");
  CHECK(config->provider.cgroup_parent == "x/y");
  CHECK(config->provider.uid_base == 1'000'000);
  CHECK(config->provider.uid_ranges == 12);
  CHECK(config->policy.has_host_network());
  CHECK(config->policy.has_writable_system());
  CHECK(config->policy.root_tree == "/r");
  CHECK(config->policy.limits.memory_bytes == 10'000'000'000);
  CHECK(config->policy.limits.processes == 70);
  CHECK(config->policy.limits.cpu_percent == 150);
  CHECK(config->lifecycle.stop_after == 1500ms);
  CHECK(config->lifecycle.archive_after == 2s);
  CHECK(config->lifecycle.activity_lease == 3s);
  CHECK(config->lifecycle.activity_idle == 4s);
  CHECK(config->lifecycle.heartbeat == 250ms);
  CHECK(config->lifecycle.owner_dead_after == 6s);
  CHECK(config->lifecycle.tombstone_keep == 7s);
  CHECK(config->lifecycle.attention_after == 8);
  CHECK(config->lifecycle.running ==
        cove::RunningQuotas{.all = 10, .per_source = 11, .per_user = 12});
  CHECK(config->sweep_every == 9s);
  CHECK(config->blocking_threads == 2);
  CHECK(cove::runtime::check_config(*config));
}

TEST_CASE("parse_config: providers have names, and keys of their own", "[unit][runtime]") {
  const auto config = parse_config(R"({"state_dir": "/s", "providers": {
    "debian13": {"root_tree": "/srv/debian13", "uid_base": 1000000, "uid_ranges": 5},
    "host-2_x": {"type": "local", "bubblewrap": "/b", "agent": "/a", "cgroup_parent": "x"}}})");
  REQUIRE(config);
  REQUIRE(config->providers.size() == 2);
  const auto& tree = config->providers.at("debian13");
  CHECK(tree.type + tree.root_tree == "local/srv/debian13");
  CHECK(tree.uid_base == 1'000'000);
  CHECK(tree.uid_ranges == 5);
  const auto& host = config->providers.at("host-2_x");
  CHECK(host.bubblewrap + host.agent + host.cgroup_parent == "/b/ax");
  CHECK(host.root_tree.empty());
  CHECK(config->provider.type == "local");
  CHECK(cove::runtime::check_config(*config));
}

TEST_CASE("parse_config: what is wrong with a provider is said by its name", "[unit][runtime]") {
  const auto of = [](const std::string& name, const std::string& value) {
    return message_of(R"({"state_dir": "/s", "providers": {")" + name + "\": " + value + "}}");
  };
  CHECK(of("tree", "3") == "providers.tree must be an object, not 3");
  CHECK(of("tree", R"({"type": "docker"})").find("providers.tree.type must be \"local\"") == 0);
  CHECK(of("tree", R"({"root": "/x"})").find("providers.tree.root is not a key; known there: ") ==
        0);
  CHECK(of("tree", R"({"root_tree": "x"})").find("providers.tree.root_tree must be an absolute") ==
        0);
  CHECK(of("tree", R"({"cgroup_parent": ".."})").find("providers.tree.cgroup_parent must be") == 0);
  CHECK(of("tree", R"({"uid_base": 4294901760})")
            .find("providers.tree.uid_base and providers.tree.uid_ranges reach past") == 0);
  for (const char* name :
       {"", "a/b", "..", "1st", "local", "a b", "abcdefghijklmnopqrstuvwxyz0123456"}) {
    INFO(name);
    CHECK(of(name, "{}").find("a name in providers must be ") == 0);
  }
  Config config;
  config.state_dir = "/s";
  config.provider.root_tree = "/tree";
  CHECK(cove::runtime::check_config(config).error().message().find("provider.root_tree must be") ==
        0);
  config.provider.root_tree.clear();
  config.providers["a/b~1"];
  CHECK(cove::runtime::check_config(config).error().message().find("a name in providers") == 0);
}

TEST_CASE("parse_config: an unknown key is named with its path and its neighbours",
          "[unit][runtime]") {
  CHECK(message_of(R"({"state_dir": "/s", "lifecycle": {"stop_afer_s": 1}})") ==
        "lifecycle.stop_afer_s is not a key; known there: activity_idle_s, activity_lease_s, "
        "archive_after_s, attention_after, heartbeat_s, owner_dead_after_s, stop_after_s, "
        "tombstone_keep_s");
  CHECK(message_of(R"({"state_dir": "/s", "statedir": "/x"})").find("statedir is not a key") == 0);
}

TEST_CASE("parse_config: several faults are all named", "[unit][runtime]") {
  const std::string message = message_of(
      R"({"blocking_threads": 65, "policy": {"network": "open", "limits": {"cpu": 1}}})");
  CHECK(message.find("state_dir is missing; it must be a text") != std::string::npos);
  CHECK(message.find("blocking_threads must be an integer from 1 to 64, not 65") !=
        std::string::npos);
  CHECK(message.find(R"(policy.network must be one of "none", "proxy", "host", not "open")") !=
        std::string::npos);
  CHECK(message.find("policy.limits.cpu is not a key; known there: cpu_percent, memory_bytes, "
                     "processes") != std::string::npos);
}

TEST_CASE("parse_config: a wrong value of any key is refused by its name", "[unit][runtime]") {
  for (const auto& [pointer, rule] : all_leaves()) {
    INFO(pointer);
    const json wrong_type = rule.value("type", "string") == "string" ? json(5) : json("five");
    CHECK(message_of(with(pointer, wrong_type)).find(dotted(pointer) + " must be ") == 0);
    CHECK(message_of(with(pointer, nullptr)).find(dotted(pointer) + " must be ") == 0);
    if (rule.contains("minimum")) {
      const json below = rule["minimum"].get<double>() - 1;
      CHECK(message_of(with(pointer, below)).find(dotted(pointer) + " must be ") == 0);
      const json above = rule["maximum"].get<double>() * 2 + 1;
      CHECK(message_of(with(pointer, above)).find(dotted(pointer) + " must be ") == 0);
    }
    if (rule.value("type", "") == "integer") {
      CHECK(message_of(with(pointer, 1.5)).find(dotted(pointer) + " must be an integer") == 0);
    }
    if (rule.value("type", "") == "string") {
      CHECK(message_of(with(pointer, "")).find(dotted(pointer) + " must be a text") == 0);
    }
  }
}

TEST_CASE("parse_config: text that is no object is refused", "[unit][runtime]") {
  CHECK(message_of("").find("the configuration is not valid JSON") == 0);
  CHECK(message_of(R"({"state_dir": "/s")").find("the configuration is not valid JSON") == 0);
  CHECK(message_of("[]") == "the document must be an object, not []");
  CHECK(message_of(R"({"state_dir": "/s", "policy": 3})") == "policy must be an object, not 3");
}

TEST_CASE("parse_config: what a schema cannot say is refused too", "[unit][runtime]") {
  for (const char* pointer : {"/state_dir", "/metadata/path", "/objects/path",
                              "/provider/bubblewrap", "/provider/agent", "/policy/root_tree"}) {
    CHECK(message_of(with(pointer, "relative/x"))
              .find(dotted(pointer) + " must be an absolute path") == 0);
  }
  CHECK(message_of(R"({"state_dir": "/s", "lifecycle": {"heartbeat_s": 20}})")
            .find("lifecycle.heartbeat_s must be at most a third") == 0);
  CHECK(message_of(R"({"state_dir": "/s", "provider": {"uid_base": 4294901760}})")
            .find("provider.uid_base and provider.uid_ranges reach past") == 0);
}

TEST_CASE("parse_config: a NUL in a path, or one that is too long, is named by its key",
          "[unit][runtime]") {
  using namespace std::string_literals;
  for (const char* pointer : {"/state_dir", "/metadata/path", "/objects/path",
                              "/provider/bubblewrap", "/provider/agent", "/policy/root_tree"}) {
    CHECK(message_of(with(pointer, "/a\0b"s)) ==
          dotted(pointer) + " must be a path without NUL bytes, not '/a\\x00b'");
    CHECK(message_of(with(pointer, "/" + std::string(5000, 'x'))) ==
          dotted(pointer) + " has 5001 bytes; the system takes paths of at most 4095");
  }
}

TEST_CASE("parse_config: a cgroup parent only leads down", "[unit][runtime]") {
  using namespace std::string_literals;
  for (const std::string& parent : {".."s, "a/.."s, "a/../b"s, "../a"s, "/a"s, "/"s, "a//b"s, "a/"s,
                                    "."s, "a/./b"s, "a\0b"s, std::string(256, 'x')}) {
    INFO(parent);
    CHECK(message_of(with("/provider/cgroup_parent", parent))
              .find("provider.cgroup_parent must be names joined by single slashes") == 0);
  }
  for (const char* parent : {"cove", "a/b.slice/c", "..a", "a.."}) {
    CHECK(parse_config(with("/provider/cgroup_parent", parent)));
  }
}

TEST_CASE("parse_config: numbers that nothing could start with are refused, 0 is the default",
          "[unit][runtime]") {
  const auto is_refused = [](const char* pointer, std::uint64_t value, const char* rule) {
    INFO(pointer << " " << value);
    CHECK(message_of(with(pointer, value)) ==
          dotted(pointer) + " must be " + rule + ", not " + std::to_string(value));
  };
  const char* const memory = "an integer from 16777216 to 1152921504606846976, or 0";
  is_refused("/policy/limits/memory_bytes", 1, memory);
  is_refused("/policy/limits/memory_bytes", 16'777'215, memory);
  is_refused("/policy/limits/processes", 1, "an integer from 16 to 4194304, or 0");
  is_refused("/policy/limits/processes", 15, "an integer from 16 to 4194304, or 0");
  is_refused("/provider/uid_base", 1, "an integer from 100000 to 4294901760, or 0");
  is_refused("/provider/uid_base", 99'999, "an integer from 100000 to 4294901760, or 0");
  CHECK(parse_config(with("/policy/limits/memory_bytes", 16'777'216)));
  CHECK(parse_config(with("/policy/limits/processes", 16)));
  CHECK(parse_config(with("/provider/uid_base", 100'000)));
  for (const char* pointer :
       {"/policy/limits/memory_bytes", "/policy/limits/processes", "/provider/uid_base"}) {
    CHECK(parse_config(with(pointer, 0)));
  }
}

TEST_CASE("parse_config: what is no JSON, or nested too deep, is said in plain words",
          "[unit][runtime]") {
  CHECK(message_of(std::string(100'000, '[')) ==
        "the configuration is nested deeper than 64 levels, more than any document of Cove's");
  CHECK(message_of("{,}").find(
            "the configuration is not valid JSON: parse error at line 1, column 2") == 0);
}

TEST_CASE("check_config: holds a Config made by hand to the same rules", "[unit][runtime]") {
  Config config;
  CHECK(cove::runtime::check_config(config).error().message().find("state_dir is missing") == 0);
  config.state_dir = "/s\xFF";  // a path is bytes
  CHECK(cove::runtime::check_config(config));
  config.blocking_threads = 0;
  CHECK(cove::runtime::check_config(config).error().message() ==
        "blocking_threads must be an integer from 1 to 64, not 0");
  config.blocking_threads = 1;
  config.policy.limits.memory_bytes = 1;
  CHECK(cove::runtime::check_config(config).error().message().find(
            "policy.limits.memory_bytes must be an integer from 16777216") == 0);
  config.policy.limits = {};
  config.provider.cgroup_parent = "../up";
  CHECK(cove::runtime::check_config(config).error().message().find("provider.cgroup_parent must") ==
        0);
}

TEST_CASE("config schema: its defaults are the members' own", "[unit][runtime]") {
  json document{{"state_dir", "/s"}};
  int defaults = 0;
  for (const auto& [pointer, rule] : all_leaves()) {
    if (!rule.contains("default")) continue;
    if (pointer == "/provider/cgroup_parent") continue;  // the provider fills it in
    document[json::json_pointer(pointer)] = rule["default"];
    ++defaults;
  }
  const auto written = parse_config(document.dump());
  const auto plain = parse_config(R"({"state_dir": "/s"})");
  REQUIRE(written);
  REQUIRE(plain);
  CHECK(defaults == 22);
  CHECK(written->lifecycle.stop_after == plain->lifecycle.stop_after);
  CHECK(written->lifecycle.archive_after == plain->lifecycle.archive_after);
  CHECK(written->lifecycle.activity_lease == plain->lifecycle.activity_lease);
  CHECK(written->lifecycle.activity_idle == plain->lifecycle.activity_idle);
  CHECK(written->lifecycle.heartbeat == plain->lifecycle.heartbeat);
  CHECK(written->lifecycle.owner_dead_after == plain->lifecycle.owner_dead_after);
  CHECK(written->lifecycle.tombstone_keep == plain->lifecycle.tombstone_keep);
  CHECK(written->lifecycle.attention_after == plain->lifecycle.attention_after);
  CHECK(written->metadata.type == plain->metadata.type);
  CHECK(written->objects.type == plain->objects.type);
  CHECK(written->provider.type == plain->provider.type);
  CHECK(written->policy.limits.memory_bytes == plain->policy.limits.memory_bytes);
  CHECK(written->lifecycle.running == plain->lifecycle.running);
  CHECK(written->sweep_every == plain->sweep_every);
  CHECK(written->blocking_threads == plain->blocking_threads);
}

TEST_CASE("config schema: is the documented file, byte for byte", "[unit][runtime]") {
  CHECK(cove::config_schema() == cove::testing::project_file("docs/config.schema.json"));
}

TEST_CASE("docs/configuration.md: has a row for every key, with its default", "[unit][runtime]") {
  const std::string text = cove::testing::project_file("docs/configuration.md");
  for (const auto& [pointer, rule] : all_leaves()) {
    const std::string row = "| `" + dotted(pointer) + "` |";
    INFO(row);
    const auto at = text.find(row);
    REQUIRE(at != std::string::npos);
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (!rule.contains("default")) continue;
    const json& value = rule["default"];
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    CHECK(line.find("| `" + shown + "` |") != std::string::npos);
  }
}
