#include "prepare/steps/input_names.hpp"

#include <algorithm>

#include "base/text/display_text.hpp"
#include "base/text/utf8.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxExtension = 20;

std::string_view last_segment(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Only characters that can be shown as they are.
std::string shown_only(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t length = base::detail::shown_length(text);
    kept += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return kept;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string shortened(const std::string& name) {
  if (name.size() <= kMaxName) return name;
  const std::size_t dot = name.rfind('.');
  const bool has_extension = dot != std::string::npos && name.size() - dot <= kMaxExtension;
  const std::string extension = has_extension ? name.substr(dot) : std::string();
  return name.substr(0, base::cut_before(name, kMaxName - extension.size())) + extension;
}

}  // namespace

std::string safe_name(std::string_view given) {
  const std::string shown = shown_only(last_segment(given));
  std::string name(trimmed(shown));
  if (name.empty() || name == "." || name == "..") return "file";
  if (name.front() == '-') name.front() = '_';
  return shortened(name);
}

std::string numbered(std::string_view name, std::uint32_t number) {
  if (number == 0) return std::string(name);
  const std::size_t dot = std::min(name.find('.', 1), name.size());
  std::string result(name.substr(0, dot));
  result += "-" + std::to_string(number);
  result += name.substr(dot);
  return result;
}

}  // namespace cove::prepare
