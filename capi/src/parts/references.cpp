#include "parts/references.hpp"

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "guard.hpp"
#include "parts/rules.hpp"

namespace cove::capi {
namespace {

Result<InstanceRef> ref_of(const cove_instance_ref& read) {
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_instance_ref.reserved0"));
  COVE_TRY_VOID(require(read.deployment, "cove_instance_ref.deployment"));
  COVE_TRY_VOID(require(read.sandbox, "cove_instance_ref.sandbox"));
  COVE_TRY_VOID(require(read.generation, "cove_instance_ref.generation"));
  return InstanceRef{
      {DeploymentId(read.deployment), SandboxId(read.sandbox), Generation(read.generation)},
      Epoch{read.epoch}};
}

}  // namespace

GivenRef::GivenRef(const InstanceRef& instance) : instance_(instance) {
  view_.struct_size = sizeof view_;
  view_.deployment = instance_.volume.deployment.str().c_str();
  view_.sandbox = instance_.volume.sandbox.str().c_str();
  view_.generation = instance_.volume.generation.str().c_str();
  view_.epoch = number_of(instance_.epoch);
}

Result<ProviderInventory> inventory_of(const cove_inventory& read) {
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_inventory.reserved0"));
  ProviderInventory inventory;
  COVE_TRY(const auto volumes, read_array(read.volumes, read.volume_count, "volumes"));
  for (const cove_instance_ref& one : volumes) {
    COVE_TRY(InstanceRef ref, ref_of(one));
    inventory.volumes.push_back(std::move(ref.volume));
  }
  COVE_TRY(const auto instances, read_array(read.instances, read.instance_count, "instances"));
  for (const cove_instance_ref& one : instances) {
    COVE_TRY(InstanceRef ref, ref_of(one));
    inventory.instances.push_back(std::move(ref));
  }
  if (read.other_count > 0) COVE_TRY_VOID(require(read.others, "others"));
  for (std::size_t i = 0; i < read.other_count; ++i) {
    COVE_TRY_VOID(require(read.others[i], "an entry of others"));
    inventory.others.emplace_back(read.others[i]);
  }
  return inventory;
}

std::string policy_json(const SandboxPolicy& policy) {
  const SandboxLimits& limits = policy.limits;
  return base::dump_json({{"network", policy.has_host_network() ? "host" : "none"},
                          {"root_tree", policy.root_tree},
                          {"limits",
                           {{"memory_bytes", limits.memory_bytes},
                            {"processes", limits.processes},
                            {"cpu_percent", limits.cpu_percent}}}});
}

}  // namespace cove::capi
