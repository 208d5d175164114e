/// Volumes and instances as a provider of the host gets and gives them.
#pragma once

#include <string>

#include <cove/provider.hpp>

#include "abi.hpp"

namespace cove::capi {

/// A volume or an instance for the host, with what it points to.
class GivenRef {
 public:
  explicit GivenRef(const InstanceRef& instance);
  explicit GivenRef(const VolumeRef& volume) : GivenRef(InstanceRef{volume, Epoch{}}) {}
  GivenRef(const GivenRef&) = delete;
  GivenRef& operator=(const GivenRef&) = delete;

  const cove_instance_ref& view() const noexcept { return view_; }

 private:
  const InstanceRef instance_;
  cove_instance_ref view_{};
};

/// kInvalidArgument: it names nothing that can be.
Result<ProviderInventory> inventory_of(const cove_inventory& read);

/// The policy as the configuration's "policy".
std::string policy_json(const SandboxPolicy& policy);

}  // namespace cove::capi
