/// What a workspace's own variables do to a command that is to run in it.
#pragma once

#include <utility>

#include <cove/exec.hpp>

#include "client/guest_link.hpp"

namespace cove::client {

/// `spec` with the link's variables below its own.
inline ExecSpec in_environment(const GuestLink& link, ExecSpec spec) {
  const auto& variables = link.environment();
  spec.env.insert(variables.begin(), variables.end());
  return spec;
}

}  // namespace cove::client
