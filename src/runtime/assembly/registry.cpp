#include "runtime/assembly/registry.hpp"

#include <array>
#include <string_view>

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

local::LocalOptions local_options(const Config& config) {
  local::LocalOptions options;
  options.state_dir = config.state_dir;
  options.bubblewrap = config.provider.bubblewrap;
  options.agent = config.provider.agent;
  options.cgroup_parent = config.provider.cgroup_parent;
  options.uid_base = config.provider.uid_base;
  options.uid_ranges = config.provider.uid_ranges;
  return options;
}

Made<Provider> open_local(Machinery& made) {
  const local::LocalRuntime runtime{*made.loop, *made.blocking, made.clock,
                                    made.ids,   made.log,       made.egress.get()};
  return local::open_local_provider(local_options(made.config), runtime);
}

std::vector<Finding> probe_local(const Config& config) {
  std::vector<Finding> findings;
  for (auto& found : local::probe_machine(local_options(config))) {
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
  Made<Provider> (*make)(Machinery&);
  std::vector<Finding> (*probe)(const Config&);
};

constexpr std::array kProviders{ProviderRow{"local", open_local, probe_local}};

template <class Table>
auto make_from(const Table& table, const std::string& type, Machinery& made)
    -> decltype(table.front().make(made)) {
  for (const auto& row : table) {
    if (row.type == type) return row.make(made);
  }
  return Error(ErrorCode::kInvalidArgument, "there is no part of type '" + type + "'");
}

}  // namespace

Result<std::shared_ptr<MetadataStore>> make_metadata(Machinery& machinery) {
  return make_from(kMetadata, machinery.config.metadata.type, machinery);
}

Result<std::shared_ptr<ObjectStore>> make_objects(Machinery& machinery) {
  return make_from(kObjects, machinery.config.objects.type, machinery);
}

Result<std::shared_ptr<Provider>> make_provider(Machinery& machinery) {
  return make_from(kProviders, machinery.config.provider.type, machinery);
}

std::vector<Finding> probe_provider(const Machinery& machinery) {
  for (const ProviderRow& row : kProviders) {
    if (row.type == machinery.provider->name()) return row.probe(machinery.config);
  }
  return {};  // the host's own
}

std::unique_ptr<Snapshotter> make_snapshotter(Machinery& machinery) {
  return snapshot::make_tar_snapshotter(*machinery.objects, *machinery.blocking, *machinery.loop,
                                        machinery.clock, machinery.config.state_dir,
                                        machinery.log.get());
}

}  // namespace cove::runtime
