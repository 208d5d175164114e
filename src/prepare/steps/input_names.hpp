/// Names of files that come from users' machines, made safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cove::prepare {

/// The name that a file gets: what follows the last slash or backslash, without control characters,
/// white space at the ends and bytes that are no UTF-8; no option (`-rf`), not `.` or `..`; cut to
/// 200 bytes before its extension; "file" where nothing is left.
std::string safe_name(std::string_view given);

/// `name` with `-<number>` before its first dot (not one that it begins with); the name itself for
/// 0.
std::string numbered(std::string_view name, std::uint32_t number);

}  // namespace cove::prepare
