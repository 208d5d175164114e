#include "prepare/skills/package/package.hpp"

#include <algorithm>
#include <utility>

#include "base/sha256.hpp"
#include "base/text/byte_text.hpp"
#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestPath = 1024;
constexpr std::size_t kDeepest = 64;
constexpr std::uint64_t kMostExpected = 1U << 20U;

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// "C:\x": no absolute name here, but one where the archive was made.
bool names_a_drive(std::string_view name) {
  return name.size() >= 3 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') &&
         ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'));
}

/// What is wrong with a path; empty = nothing.
std::string fault_of(std::string_view path) {
  if (path.starts_with('/') || names_a_drive(path)) return "has an absolute name";
  if (path.size() > kLongestPath) return "has a name of more than 1024 bytes";
  std::size_t depth = 0;
  for (std::string_view rest = path;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty()) return "has an empty part in its name";
    if (part == "..") return "has '..' in its name";
    if (part == ".") return "has '.' in its name";
    if (part.size() > kLongestName) return "has a part of more than 255 bytes in its name";
    if (++depth > kDeepest) return "lies deeper than 64 directories";
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

/// What archives of macOS carry beside the files.
bool is_left_out(std::string_view path) {
  return path.empty() || path == "__MACOSX" || path.starts_with("__MACOSX/") ||
         path == ".DS_Store" || path.ends_with("/.DS_Store");
}

/// Each text with its length before it, so that no two packages give the same bytes.
void add_text(base::Sha256& hash, std::string_view text) {
  hash.update(std::to_string(text.size()) + ":");
  hash.update(text);
}

char letter_of(const PackageEntry& entry) {
  if (entry.type == PackageEntryType::kDirectory) return 'd';
  if (entry.type == PackageEntryType::kSymlink) return 'l';
  return entry.executable ? 'x' : 'f';
}

std::string sha256_of(ByteView content) {
  base::Sha256 hash;
  hash.update(content);
  return hash.hex();
}

std::string hash_of(const std::vector<PackageEntry>& entries) {
  base::Sha256 hash;
  hash.update("cove-skill-1\n");
  for (const PackageEntry& entry : entries) {
    const char letter = letter_of(entry);
    if (letter == 'd') continue;
    hash.update(std::string_view(&letter, 1));
    add_text(hash, entry.path);
    add_text(hash, letter == 'l' ? entry.target : entry.sha256);
  }
  return hash.hex();
}

}  // namespace

const PackageEntry* Package::find(std::string_view path) const noexcept {
  const auto at = std::lower_bound(
      entries.begin(), entries.end(), path,
      [](const PackageEntry& entry, std::string_view wanted) { return entry.path < wanted; });
  return at != entries.end() && at->path == path ? &*at : nullptr;
}

Package Package::outline() const {
  Package outline;
  outline.content_bytes = content_bytes;
  outline.is_outline = true;
  outline.hash = hash;
  outline.entries.reserve(entries.size());
  for (const PackageEntry& entry : entries) {
    PackageEntry& copy = outline.entries.emplace_back();
    copy.path = entry.path;
    copy.type = entry.type;
    copy.executable = entry.executable;
    copy.target = entry.target;
    copy.sha256 = entry.sha256;
  }
  return outline;
}

void work_out(std::vector<ContentHash>& hashes) {
  for (ContentHash& hash : hashes) hash.sha256 = sha256_of(hash.content);
}

std::string_view text_of(const PackageEntry& entry) noexcept {
  return base::text_of(entry.content);
}

PackageBuilder::PackageBuilder(std::string shown, PackageLimits limits)
    : shown_(std::move(shown)), limits_(limits) {
  package_.contents = std::make_shared<ContentStore>();
}

Error PackageBuilder::refusal(ErrorCode code, std::string_view name, const std::string& why) const {
  return {code, "entry " + base::quoted(name) + " of " + shown_ + " " + why};
}

Result<bool> PackageBuilder::begin(std::string_view name, PackageEntryType type) {
  const std::string_view whole = name;
  while (name.starts_with("./")) name.remove_prefix(2);
  if (type == PackageEntryType::kDirectory && name.size() > 1 && name.ends_with('/')) {
    name.remove_suffix(1);
  }
  if (name == ".") name = {};
  if (whole.empty()) return refusal(ErrorCode::kInvalidArgument, whole, "has no name");
  if (is_left_out(name)) return false;
  const std::string fault = fault_of(name);
  if (!fault.empty()) return refusal(ErrorCode::kInvalidArgument, whole, fault);
  package_.contents->begin();
  PackageEntry& entry = package_.entries.emplace_back();
  entry.path = name;
  entry.type = type;
  COVE_TRY_VOID(check_limits());
  return true;
}

void PackageBuilder::expect(std::uint64_t bytes) {
  package_.contents->expect(static_cast<std::size_t>(std::min(bytes, kMostExpected)));
}

std::vector<ContentHash> PackageBuilder::take_unhashed() {
  std::vector<ContentHash> hashes;
  const std::vector<PackageEntry>& entries = package_.entries;
  // The last one may still grow.
  for (; unhashed_ + 1 < entries.size(); ++unhashed_) {
    const PackageEntry& entry = entries[unhashed_];
    if (entry.type != PackageEntryType::kFile) continue;
    hashes.push_back({.entry = unhashed_, .content = entry.content, .sha256 = {}});
  }
  return hashes;
}

void PackageBuilder::put_hashes(std::vector<ContentHash> hashes) {
  for (ContentHash& hash : hashes) package_.entries[hash.entry].sha256 = std::move(hash.sha256);
}

Result<void> PackageBuilder::check_limits() const {
  if (package_.entries.size() > limits_.entries) {
    return Error(ErrorCode::kTooLarge,
                 shown_ + " has more than " + std::to_string(limits_.entries) + " entries");
  }
  if (package_.content_bytes > limits_.content_bytes) {
    return Error(ErrorCode::kTooLarge, shown_ + " holds more than " +
                                           std::to_string(limits_.content_bytes) +
                                           " bytes when it is unpacked");
  }
  return ok();
}

Result<void> PackageBuilder::append(ByteView bytes) {
  package_.content_bytes += bytes.size();
  COVE_TRY_VOID(check_limits());
  package_.contents->append(bytes);
  current().content = package_.contents->current();
  return ok();
}

Result<void> PackageBuilder::copy_of(std::string_view earlier) {
  while (earlier.starts_with("./")) earlier.remove_prefix(2);
  const auto end = package_.entries.end() - 1;
  const auto found = std::find_if(package_.entries.begin(), end, [&](const PackageEntry& entry) {
    return entry.type == PackageEntryType::kFile && entry.path == earlier;
  });
  if (found == end) {
    return refusal(ErrorCode::kInvalidArgument, current().path,
                   "is a link to " + base::quoted(earlier) + ", which is no earlier file of it");
  }
  current().executable = found->executable;
  package_.content_bytes += found->content.size();
  COVE_TRY_VOID(check_limits());
  current().content = found->content;
  return ok();
}

Result<Package> PackageBuilder::finish() {
  for (PackageEntry& entry : package_.entries) {
    const bool unhashed = entry.type == PackageEntryType::kFile && entry.sha256.empty();
    if (unhashed) entry.sha256 = sha256_of(entry.content);
  }
  std::vector<PackageEntry>& entries = package_.entries;
  // In what order those of one path come is no matter: they are alike, or refused.
  const auto by_path = [](const PackageEntry& a, const PackageEntry& b) { return a.path < b.path; };
  std::sort(entries.begin(), entries.end(), by_path);
  COVE_TRY_VOID(add_parents());
  for (const PackageEntry& entry : entries) {
    const bool checked = limits_.check_links && entry.type == PackageEntryType::kSymlink;
    if (checked) COVE_TRY_VOID(check_link(entry));
  }
  package_.hash = hash_of(entries);
  return std::move(package_);
}

/// Adds the directories that are only named by what lies in them, and refuses what is there twice.
Result<void> PackageBuilder::add_parents() {
  std::vector<PackageEntry>& entries = package_.entries;
  // A directory may be named more than once: archives that were appended to do so.
  const auto is_repeat = [](const PackageEntry& a, const PackageEntry& b) {
    return a.path == b.path && a.type == PackageEntryType::kDirectory && a.type == b.type;
  };
  entries.erase(std::unique(entries.begin(), entries.end(), is_repeat), entries.end());
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].path == entries[i - 1].path) {
      return refusal(ErrorCode::kInvalidArgument, entries[i].path, "is there twice");
    }
  }
  std::vector<std::string> missing;
  for (const PackageEntry& entry : entries) {
    for (auto above = parent_of(entry.path); !above.empty(); above = parent_of(above)) {
      const PackageEntry* const found = package_.find(above);
      if (found != nullptr && found->type != PackageEntryType::kDirectory) {
        return refusal(ErrorCode::kInvalidArgument, entry.path,
                       "lies below " + base::quoted(above) + ", which is no directory");
      }
      if (found != nullptr) break;
      missing.emplace_back(above);
    }
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  for (std::string& path : missing) {
    PackageEntry directory;
    directory.path = std::move(path);
    directory.type = PackageEntryType::kDirectory;
    entries.push_back(std::move(directory));
  }
  std::sort(entries.begin(), entries.end(),
            [](const PackageEntry& a, const PackageEntry& b) { return a.path < b.path; });
  return check_limits();
}

/// Follows the target name by name through the package. A link on the way is refused, not followed:
/// behind it `..` means another place than the text says.
Result<void> PackageBuilder::check_link(const PackageEntry& link) const {
  const auto out = [&] {
    return refusal(ErrorCode::kInvalidArgument, link.path,
                   "is a link out of it, to " + base::quoted(link.target));
  };
  if (link.target.empty() || link.target.starts_with('/') || link.target.size() > kLongestPath) {
    return out();
  }
  std::string at(parent_of(link.path));
  for (std::string_view rest = link.target; !rest.empty();) {
    const PackageEntry* const here = package_.find(at);
    if (here != nullptr && here->type == PackageEntryType::kSymlink) {
      return refusal(ErrorCode::kInvalidArgument, link.path, "is a link through another link");
    }
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (at.empty()) return out();
      at = parent_of(at);
      continue;
    }
    if (!at.empty()) at += '/';
    at += part;
  }
  return ok();
}

}  // namespace cove::prepare
