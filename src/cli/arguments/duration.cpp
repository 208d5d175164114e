#include <charconv>
#include <cmath>

#include "base/text/display_text.hpp"
#include "cli/arguments/request.hpp"

namespace cove::cli {

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double milliseconds;
  };
  constexpr Unit kUnits[] = {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}};
  constexpr double kMost = 1e12;  // some thirty years
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& known : kUnits) {
    if (failure != std::errc() || unit != known.name) continue;
    const double milliseconds = number * known.milliseconds;
    if (!(milliseconds >= 1 && milliseconds <= kMost)) break;
    return std::chrono::milliseconds(std::llround(milliseconds));
  }
  return Error(
      ErrorCode::kInvalidArgument,
      "a time is a number with ms, s, m or h, such as 30s or 1.5m, not " + base::quoted(text));
}

}  // namespace cove::cli
