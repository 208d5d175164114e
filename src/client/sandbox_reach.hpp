/// How the calls of one client reach its guest, and which session they are seen from.
#pragma once

#include <memory>
#include <string>

#include <cove/sandbox_files.hpp>

#include "client/guest_link.hpp"

namespace cove {

class SandboxFiles::Reach {
 public:
  Reach(std::shared_ptr<client::GuestLink> its_link, std::string its_session)
      : link(std::move(its_link)), session(std::move(its_session)) {}

  GuestPath at(std::string path) const { return GuestPath{session, std::move(path)}; }

  const std::shared_ptr<client::GuestLink> link;
  const std::string session;
};

}  // namespace cove
