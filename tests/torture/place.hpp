/// Where a torture takes place: the state directory that all its processes share, and its users.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <cove/cove.hpp>

namespace torture {

inline constexpr std::uint32_t kUsers = 30;
inline constexpr std::uint32_t kMortals = 6;  ///< of these, who are destroyed now and then
inline constexpr int kProcesses = 8;

struct Place {
  std::string state_dir;
  std::string cgroup_parent;  ///< of this torture alone

  cove::Config config() const {
    using namespace std::chrono_literals;
    cove::Config config;
    config.state_dir = state_dir;
    config.provider.cgroup_parent = cgroup_parent;
    config.blocking_threads = 2;
    // Sandboxes that are let go of are stopped and archived while the torture lasts.
    config.lifecycle.stop_after = 2s;
    config.lifecycle.archive_after = 4s;
    return config;
  }
};

inline bool is_mortal(std::uint32_t user) { return user >= kUsers - kMortals; }

inline cove::WorkspaceKey key_of(std::uint32_t user) {
  std::string name = "user";
  name += std::to_string(user);
  return cove::WorkspaceKey{"app", "torture", name};
}

}  // namespace torture
