/// Maven's settings.xml: a mirror of central among the user's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cove/result.hpp>

namespace cove::prepare {

/// The URL of Cove's mirror (its id is `cove-mirror`). kUnsupported: XML that is not edited.
Result<std::optional<std::string>> find_maven_mirror(std::string_view text);

/// The file with the mirror before the user's own, or without it. An empty text becomes a whole
/// file. Errors: as above.
Result<std::string> put_maven_mirror(std::string_view text, const std::optional<std::string>& url);

}  // namespace cove::prepare
