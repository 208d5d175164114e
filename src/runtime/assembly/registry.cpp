#include "runtime/assembly/registry.hpp"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "metadata/memory/memory_store.hpp"
#include "metadata/sqlite/sqlite_store.hpp"
#include "objects/directory/directory_objects.hpp"
#include "objects/memory/memory_objects.hpp"
#include "providers/local/local_provider.hpp"
#include "providers/local/machine_probe.hpp"
#include "snapshot/tar_snapshotter.hpp"

namespace cove::runtime {
namespace {

template <class Part>
using Made = Result<std::shared_ptr<Part>>;

std::string path_or(const std::string& path, const Machinery& machinery, const char* fallback) {
  return path.empty() ? machinery.config.state_dir + "/" + fallback : path;
}

/// SQLite's own limit is 512, with what it adds for the files beside the database.
constexpr std::size_t kLongestSqlitePath = 500;

Made<MetadataStore> open_sqlite(Machinery& made) {
  const std::string path = path_or(made.config.metadata.path, made, "metadata.db");
  if (path.size() > kLongestSqlitePath) {
    return Error(ErrorCode::kInvalidArgument,
                 "the database's path has " + std::to_string(path.size()) +
                     " bytes, and SQLite takes at most " + std::to_string(kLongestSqlitePath) +
                     ": choose a shorter state_dir, or set metadata.path");
  }
  return metadata::open_sqlite_store(path, *made.blocking, *made.loop, made.clock);
}

Made<MetadataStore> make_memory_metadata(Machinery& made) {
  if (!made.own_clock) return metadata::make_memory_store(made.clock);
  return metadata::make_memory_store(made.clock,
                                     [clock = made.own_clock] { return clock->wall(); });
}

Made<ObjectStore> open_directory(Machinery& made) {
  const std::string path = path_or(made.config.objects.path, made, "objects");
  COVE_TRY(std::unique_ptr<ObjectStore> store,
           objects::open_directory_objects(path, *made.blocking, *made.loop));
  return std::shared_ptr<ObjectStore>(std::move(store));
}

Made<ObjectStore> make_memory_objects(Machinery& /*made*/) {
  return std::shared_ptr<ObjectStore>(objects::make_memory_objects());
}

/// A provider of the configuration: how records call it, and what it keeps its state in.
struct Wanted {
  std::string name;
  std::string state_dir;
  const ProviderConfig& config;
};

Wanted usual_provider(const Config& config) {
  return {config.provider.type, config.state_dir, config.provider};
}

/// One with a name has a directory of its own, so that whose a volume is can be seen.
Wanted named_provider(const Config& config, const std::string& name) {
  return {name, config.state_dir + "/providers/" + name, config.providers.at(name)};
}

local::LocalOptions local_options(const Wanted& wanted) {
  local::LocalOptions options;
  options.name = wanted.name;
  options.state_dir = wanted.state_dir;
  options.bubblewrap = wanted.config.bubblewrap;
  options.agent = wanted.config.agent;
  options.cgroup_parent = wanted.config.cgroup_parent;
  options.uid_base = wanted.config.uid_base;
  options.uid_ranges = wanted.config.uid_ranges;
  return options;
}

Made<Provider> open_local(const Wanted& wanted, Machinery& made) {
  const local::LocalRuntime runtime{*made.loop, *made.blocking, made.clock,
                                    made.ids,   made.log,       made.egress.get()};
  return local::open_local_provider(local_options(wanted), runtime);
}

std::vector<Finding> probe_local(const Wanted& wanted) {
  std::vector<Finding> findings;
  for (auto& found : local::probe_machine(local_options(wanted))) {
    const auto level = static_cast<Finding::Level>(found.level);
    findings.push_back(
        {level, std::move(found.subject), std::move(found.detail), std::move(found.remedy)});
  }
  return findings;
}

/// A part's name in the configuration beside what makes it.
template <class Part>
struct Row {
  std::string_view type;
  Made<Part> (*make)(Machinery&);
};

constexpr std::array kMetadata{Row<MetadataStore>{"sqlite", open_sqlite},
                               Row<MetadataStore>{"memory", make_memory_metadata}};
constexpr std::array kObjects{Row<ObjectStore>{"directory", open_directory},
                              Row<ObjectStore>{"memory", make_memory_objects}};

struct ProviderRow {
  std::string_view type;
  Made<Provider> (*make)(const Wanted&, Machinery&);
  std::vector<Finding> (*probe)(const Wanted&);
};

constexpr std::array kProviders{ProviderRow{"local", open_local, probe_local}};

Error no_type(const std::string& type) {
  return Error(ErrorCode::kInvalidArgument, "there is no part of type '" + type + "'");
}

template <class Table>
auto make_from(const Table& table, const std::string& type, Machinery& made)
    -> decltype(table.front().make(made)) {
  for (const auto& row : table) {
    if (row.type == type) return row.make(made);
  }
  return no_type(type);
}

Made<Provider> make_wanted(const Wanted& wanted, Machinery& made) {
  for (const ProviderRow& row : kProviders) {
    if (row.type == wanted.config.type) return row.make(wanted, made);
  }
  return no_type(wanted.config.type);
}

std::vector<Finding> probe_wanted(const Wanted& wanted) {
  for (const ProviderRow& row : kProviders) {
    if (row.type == wanted.config.type) return row.probe(wanted);
  }
  return {};
}

/// Why no instance can have this tree for its system; empty = nothing is known against it.
std::string fault_of_tree(const SandboxPolicy& policy) {
  namespace fs = std::filesystem;
  const std::string& tree = policy.root_tree;
  std::error_code error;
  if (tree.empty()) return {};
  if (!fs::is_directory(tree, error)) return tree + " is no directory";
  if (!policy.has_writable_system()) return {};
  if (fs::equivalent(tree, "/", error)) {
    return tree + " is the host's own system, which is not written over as a tree";
  }
  if (!fs::is_directory(fs::path(tree) / "usr", error)) return tree + " has no usr";
  return {};
}

/// `key`: where the configuration names the tree.
Finding examine_system(const std::string& subject, const SandboxPolicy& policy,
                       const std::string& key) {
  Finding finding{Finding::Level::kGood, subject, "with the host's system", ""};
  if (policy.root_tree.empty()) return finding;
  finding.detail = "with the root file system of " + policy.root_tree;
  const std::string fault = fault_of_tree(policy);
  if (fault.empty()) return finding;
  return {Finding::Level::kBroken, subject, "its root file system: " + fault,
          "make it, or correct " + key};
}

SandboxPolicy policy_of(const Config& config, const ProviderConfig& named) {
  SandboxPolicy policy = config.policy;
  policy.root_tree = named.root_tree;
  return policy;
}

}  // namespace

Result<std::shared_ptr<MetadataStore>> make_metadata(Machinery& machinery) {
  return make_from(kMetadata, machinery.config.metadata.type, machinery);
}

Result<std::shared_ptr<ObjectStore>> make_objects(Machinery& machinery) {
  return make_from(kObjects, machinery.config.objects.type, machinery);
}

Result<std::shared_ptr<Provider>> make_provider(Machinery& machinery) {
  return make_wanted(usual_provider(machinery.config), machinery);
}

Result<std::vector<MadeProvider>> make_named_providers(Machinery& machinery) {
  std::vector<MadeProvider> all;
  for (const auto& [name, config] : machinery.config.providers) {
    MadeProvider made;
    COVE_TRY(made.provider, make_wanted(named_provider(machinery.config, name), machinery));
    made.policy = policy_of(machinery.config, config);
    all.push_back(std::move(made));
  }
  return all;
}

std::vector<Finding> probe_provider(const Machinery& machinery) {
  std::vector<Finding> findings;
  const Wanted usual = usual_provider(machinery.config);
  // Another one is the host's own.
  if (machinery.provider->name() == usual.name) {
    findings = probe_wanted(usual);
    if (!machinery.config.policy.root_tree.empty()) {
      findings.push_back(examine_system("system", machinery.config.policy, "policy.root_tree"));
    }
  }
  for (const auto& [name, config] : machinery.config.providers) {
    findings.push_back(examine_system("provider '" + name + "'",
                                      policy_of(machinery.config, config),
                                      "providers." + name + ".root_tree"));
    for (Finding& found : probe_wanted(named_provider(machinery.config, name))) {
      // What is good of the machine is said once.
      if (found.level == Finding::Level::kGood) continue;
      found.subject = "provider '" + name + "': " + found.subject;
      findings.push_back(std::move(found));
    }
  }
  return findings;
}

Result<void> check_destination(const Config& config, const std::string& name) {
  const auto named = config.providers.find(name);
  const SandboxPolicy policy =
      named == config.providers.end() ? config.policy : policy_of(config, named->second);
  const std::string fault = fault_of_tree(policy);
  if (fault.empty()) return ok();
  return Error(ErrorCode::kFailedPrecondition,
               "no sandbox can start at provider '" + name + "': " + fault);
}

std::unique_ptr<Snapshotter> make_snapshotter(Machinery& machinery) {
  using snapshot::Keeps;
  const Keeps keeps = machinery.config.snapshot.include_home ? Keeps::kHomeToo : Keeps::kWorkspace;
  return snapshot::make_tar_snapshotter(*machinery.objects, *machinery.blocking, *machinery.loop,
                                        machinery.clock, machinery.config.state_dir,
                                        machinery.log.get(), keeps);
}

}  // namespace cove::runtime
