/// The step that gets a writable system layer ready for package managers.
#pragma once

#include <string_view>

#include <cove/prepare.hpp>

namespace cove::prepare {

inline constexpr std::string_view kSystemLayerStep = "system_layer";

/// "system_layer": allows pip to install into the system (`break-system-packages` in /etc/pip.conf,
/// beside what is there) and keeps maintainer scripts from starting services that nothing would
/// look after (/usr/sbin/policy-rc.d, where there is none). Best effort. One round trip.
PrepareStep system_layer_step();

/// What the step's report tells of a layer on a volume that a restore made.
inline constexpr std::string_view kLayerIsNew =
    "the system is new: what this sandbox had installed before its archive is not in it and has to "
    "be installed again";

/// The program, for tests. sh, without anything that bash or GNU alone have.
std::string_view system_layer_script();

}  // namespace cove::prepare
