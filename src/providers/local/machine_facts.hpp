/// What the machine's settings say about sandboxes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cove/error.hpp>
#include <cove/ids.hpp>

namespace cove::local {

/// A setting that forbids user namespaces, and how it is changed.
struct Obstacle {
  std::string setting;
  std::string remedy;
};

/// The first setting found that forbids user namespaces to this user; none where none is seen.
std::optional<Obstacle> namespace_obstacle();

/// Looks bubblewrap up: `configured`, else /usr/bin, /usr/local/bin, /bin. None: not installed.
std::optional<std::string> find_bubblewrap(const std::string& configured);

/// kProvider: bubblewrap is missing, and how it is had.
Error bubblewrap_missing(const std::string& configured);

/// The first name to which a text like /etc/subuid gives ids among the `count` from `first` on.
std::optional<std::string> subuid_owner(std::string_view subuid, std::uint64_t first,
                                        std::uint64_t count);

/// The name of this machine for a state directory with that random name.
NodeId default_node(const std::string& state_name);

/// Why an instance did not start, out of what launcher, bubblewrap and agent wrote: kProvider with
/// cause and remedy; kUnsupported where it is a writable system that this machine cannot have.
Error explain_start_failure(const std::string& errors);

}  // namespace cove::local
