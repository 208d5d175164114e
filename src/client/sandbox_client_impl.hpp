/// What a SandboxClient is: a session of a workspace.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <cove/sandbox_client.hpp>

#include "client/guest_link.hpp"

namespace cove {

class SandboxClient::Impl {
 public:
  Impl(std::shared_ptr<client::GuestLink> its_link, std::string its_session)
      : link(std::move(its_link)), session(std::move(its_session)) {}

  GuestPath at(std::string path) const { return GuestPath{session, std::move(path)}; }

  const std::shared_ptr<client::GuestLink> link;
  const std::string session;
};

}  // namespace cove
