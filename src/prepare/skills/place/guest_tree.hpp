/// A directory inside the sandbox as the host compares it with a package.
#pragma once

#include <optional>
#include <string>

#include <cove/guest.hpp>

#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

/// True where an error says what somebody inside made of a directory (no permission to read it, a
/// file in its place), not that the guest or the call failed.
bool is_of_the_tree(const Error& error);

/// What a directory holds, with contents, as far as it is not much larger than `expected`; none
/// where it is, or where something in it cannot be in a package. kNotFound: no such directory.
Task<Result<std::optional<Package>>> read_guest_tree(const SkillShelf& shelf, Guest& guest,
                                                     const GuestPath& path, const Package& expected,
                                                     const CallContext& call);

/// What the directory lacks of `expected`, or has otherwise, as a sentence; empty = nothing.
/// Compared as it comes: byte by byte, or by hashes where `expected` is an outline. One round trip,
/// or, where much else lies there, one per entry.
Task<Result<std::string>> compare_guest_tree(const SkillShelf& shelf, Guest& guest,
                                             const GuestPath& path, const Package& expected,
                                             const CallContext& call);

}  // namespace cove::prepare
