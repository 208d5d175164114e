/// What a caller needs to correct a text that was not found: the lines that come nearest to it.
#pragma once

#include <string>
#include <string_view>

namespace cove::agent {

/// A sentence about the lines of `text` that are most like `wanted`, with their numbers, and the
/// first difference. `wanted` is not in `text`. Looks at the first 8 MiB only.
std::string describe_nearest(std::string_view text, std::string_view wanted);

}  // namespace cove::agent
