#include "snapshot/archive/entry_order.hpp"

#include <algorithm>

namespace cove::snapshot {
namespace {

constexpr std::size_t kLongestName = 255;

Error refusal(std::string_view path, const std::string& why) {
  return {ErrorCode::kIntegrity, "archive entry " + shown(path) + " " + why};
}

}  // namespace

Result<std::vector<std::string_view>> segments_of(std::string_view path) {
  if (path.starts_with('/')) return refusal(path, "has an absolute name");
  std::vector<std::string_view> segments;
  for (std::string_view rest = path;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    if (segment.empty()) return refusal(path, "has an empty segment in its name");
    if (segment == "." || segment == "..") return refusal(path, "has '.' or '..' in its name");
    if (segment.size() > kLongestName) return refusal(path, "has a segment of over 255 bytes");
    segments.push_back(segment);
    if (slash == std::string_view::npos) return segments;
    rest.remove_prefix(slash + 1);
  }
}

Result<std::size_t> EntryOrder::accept(const Entry& entry) {
  if (entry.path.empty()) {
    if (begun_ || entry.type != EntryType::kDirectory) {
      return refusal(entry.path, "stands for the workspace but is not its first directory");
    }
    begun_ = true;
    return std::size_t{0};
  }
  if (!begun_) return refusal(entry.path, "comes before the workspace itself");
  COVE_TRY(const auto segments, segments_of(entry.path));
  const std::size_t above = segments.size() - 1;
  if (above > open_.size() ||
      !std::equal(open_.begin(), open_.begin() + static_cast<long>(above), segments.begin())) {
    return refusal(entry.path, "does not lie in a directory that is open there");
  }
  if (entry.type == EntryType::kHardLink) {
    const auto target = segments_of(entry.target);
    if (!target) return target.error();
  }
  open_.resize(above);
  if (entry.type == EntryType::kDirectory) open_.emplace_back(segments.back());
  return above;
}

}  // namespace cove::snapshot
