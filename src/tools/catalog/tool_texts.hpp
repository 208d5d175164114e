/// The descriptions of the tools, as they are in tools.json.
#pragma once

#include <string_view>

namespace cove::tools {

std::string_view tool_text() noexcept;

}  // namespace cove::tools
