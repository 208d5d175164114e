#include "guest/tree_filter.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace cove::guest {
namespace {

/// Headers that lead to no entry, and zeros behind the end. Names have at most 1 MiB.
constexpr std::uint64_t kMostSilent = 8U << 20U;

/// Some tens of bytes each.
constexpr std::size_t kMostLinks = 1'000'000;

Error broken(const std::string& what) { return {ErrorCode::kIntegrity, "its tree " + what}; }

/// The names of a path that is written plainly; none where it is not.
std::vector<std::string_view> names_of(std::string_view path) {
  std::vector<std::string_view> names;
  if (path.find('\0') != std::string_view::npos) return {};
  for (;;) {
    const std::size_t length = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, length);
    if (name.empty() || name == "." || name == "..") return {};
    names.push_back(name);
    if (length == path.size()) return names;
    path.remove_prefix(length + 1);
  }
}

std::size_t hash_of(std::string_view path) { return std::hash<std::string_view>()(path); }

}  // namespace

Result<void> TreeFilter::feed(ByteView bytes) {
  const std::size_t before = out_.size();
  const Result<void> read = reader_.feed(bytes);
  if (!read) return broken("is no archive as it is to be: " + read.error().message());
  silent_ = out_.size() > before ? 0 : silent_ + bytes.size();
  return silent_ <= kMostSilent ? ok() : Result<void>(broken("has headers without end"));
}

Result<void> TreeFilter::finish() {
  const Result<void> read = reader_.finish();
  if (!read) return broken("is no archive as it is to be: " + read.error().message());
  out_.resize(out_.size() + 2 * base::kTarBlock);
  return ok();
}

Result<void> TreeFilter::entry(const base::TarEntry& entry) {
  const bool is_directory = entry.type == base::TarType::kDirectory;
  std::string_view path(entry.path);
  if (is_directory && path.ends_with('/')) path.remove_suffix(1);
  COVE_TRY_VOID(go_to(names_of(path), is_directory));
  if (entry.type == base::TarType::kHardLink) COVE_TRY_VOID(check_hard_link(entry.target));
  if (entry.type == base::TarType::kSymlink) {
    if (entry.target.empty() || entry.target.find('\0') != std::string::npos) {
      return broken("has a link without a target");
    }
    keep_link(entry.path);
  }
  std::string header;
  base::append_tar_header(header, entry);
  put(header);
  padding_ = base::tar_padding(entry.size);
  return ok();
}

Result<void> TreeFilter::data(ByteView bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  return ok();
}

Result<void> TreeFilter::entry_end() {
  out_.resize(out_.size() + std::exchange(padding_, 0));
  return ok();
}

/// The order makes it certain, without a list of all names, that each comes once and that what it
/// lies in came before and is a directory.
Result<void> TreeFilter::go_to(std::vector<std::string_view> names, bool is_directory) {
  if (names.empty()) return broken("has a path that is not plain, or leads out");
  const std::size_t depth = names.size() - 1;
  const bool is_below =
      depth <= last_.size() &&
      std::equal(last_.begin(),
                 last_.begin() + static_cast<std::ptrdiff_t>(std::min(depth, last_.size())),
                 names.begin()) &&
      (depth < last_.size() || is_in_directory_);
  if (!is_below) return broken("has a path below what is no directory of it");
  if (depth < last_.size() && names.back() <= last_[depth]) return broken("is out of order");
  last_.resize(depth);
  last_.emplace_back(names.back());
  is_in_directory_ = is_directory;
  return ok();
}

Result<void> TreeFilter::check_hard_link(const std::string& target) const {
  if (names_of(target).empty()) return broken("has a hard link that leads out");
  if (!links_are_known_) return broken("has hard links, and more symlinks than can be looked at");
  for (std::size_t end = target.find('/');; end = target.find('/', end + 1)) {
    if (links_.contains(hash_of(std::string_view(target).substr(0, end)))) {
      return broken("has a hard link through a symlink");
    }
    if (end == std::string::npos) return ok();
  }
}

void TreeFilter::keep_link(const std::string& path) {
  if (links_.size() == kMostLinks) links_are_known_ = false;
  if (links_are_known_) links_.insert(hash_of(path));
}

void TreeFilter::put(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

}  // namespace cove::guest
