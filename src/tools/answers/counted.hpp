/// Numbers with what they count: "1 line", "2 lines".
#pragma once

#include <cstdint>
#include <string>

namespace cove::tools {

inline std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace cove::tools
