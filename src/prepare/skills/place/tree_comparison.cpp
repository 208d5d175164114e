#include "prepare/skills/place/tree_comparison.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/text/display_text.hpp"
#include "prepare/skills/package/package_tar.hpp"

namespace cove::prepare {
namespace {

constexpr const char* kOtherKind = "is of another kind or mode";
constexpr const char* kOtherContent = "has another content";

}  // namespace

TreeComparison::TreeComparison(const Package& expected)
    : expected_(expected), reader_(*this), seen_(expected.entries.size()) {}

Result<void> TreeComparison::feed(ByteView bytes) {
  return fault_.empty() ? reader_.feed(bytes) : ok();
}

Result<std::string> TreeComparison::finish() {
  if (!fault_.empty()) return fault_;
  COVE_TRY_VOID(reader_.finish());
  const auto missing = std::find(seen_.begin(), seen_.end(), false);
  if (missing == seen_.end()) return std::string();
  const auto index = static_cast<std::size_t>(missing - seen_.begin());
  return base::quoted(expected_.entries[index].path) + " is missing";
}

Result<void> TreeComparison::entry(const base::TarEntry& entry) {
  file_ = nullptr;
  std::string_view path = entry.path;
  if (entry.type == base::TarType::kDirectory && path.ends_with('/')) path.remove_suffix(1);
  const PackageEntry* const expected = expected_.find(path);
  // What lies beside the package does not count.
  if (expected == nullptr || !fault_.empty()) return ok();
  const auto index = static_cast<std::size_t>(expected - expected_.entries.data());
  // The content of a file with two names comes with the other one.
  if (seen_[index] || entry.type == base::TarType::kHardLink) {
    return Error(ErrorCode::kInvalidArgument, base::quoted(path) + " is not there once");
  }
  seen_[index] = true;
  file_ = expected;
  if (entry.type != tar_type_of(expected->type)) differs(kOtherKind);
  if (entry.type == base::TarType::kSymlink && entry.target != expected->target) {
    differs("leads elsewhere");
  }
  if (entry.type != base::TarType::kFile) return ok();
  if (((entry.mode & 0100U) != 0) != expected->executable) differs(kOtherKind);
  compared_ = 0;
  if (expected_.is_outline) hash_.emplace();
  if (!expected_.is_outline && entry.size != expected->content.size()) differs(kOtherContent);
  return ok();
}

Result<void> TreeComparison::data(ByteView bytes) {
  if (file_ == nullptr || !fault_.empty()) return ok();
  if (hash_) {
    hash_->update(bytes);
    return ok();
  }
  // The sizes are the same, so there is as much left.
  const ByteView expected = ByteView(file_->content).subspan(compared_, bytes.size());
  compared_ += bytes.size();
  if (std::memcmp(bytes.data(), expected.data(), bytes.size()) != 0) differs(kOtherContent);
  return ok();
}

Result<void> TreeComparison::entry_end() {
  if (hash_ && fault_.empty() && hash_->hex() != file_->sha256) differs(kOtherContent);
  hash_.reset();
  return ok();
}

void TreeComparison::differs(const std::string& how) {
  if (fault_.empty()) fault_ = base::quoted(file_->path) + " " + how;
}

}  // namespace cove::prepare
