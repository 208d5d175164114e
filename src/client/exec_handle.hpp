/// How calls make an ExecHandle: its steering, and the gate through which it asks more.
#pragma once

#include <memory>
#include <utility>

#include <cove/exec_handle.hpp>

#include "client/exec_steering.hpp"
#include "client/guest_link.hpp"

namespace cove {

class ExecHandle::Impl : public client::ExecSteering {
 public:
  explicit Impl(std::shared_ptr<client::GuestLink> its_link) : link(std::move(its_link)) {}

  const std::shared_ptr<client::GuestLink> link;
};

}  // namespace cove
