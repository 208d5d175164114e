#include "prepare/skills/place/guest_tree.hpp"

#include <utility>

#include "base/sha256.hpp"
#include "base/text/display_text.hpp"
#include "prepare/skills/package/package_reader.hpp"
#include "prepare/skills/place/tree_comparison.hpp"

namespace cove::prepare {
namespace {

constexpr std::uint64_t kRoom = 4ULL << 20U;   // for what scripts leave beside a package
constexpr std::uint64_t kPerEntry = 4 * 1024;  // headers, long names, the rest of a block

/// The directory as a tar; none where it is larger than `most`.
Task<Result<std::optional<Bytes>>> read_bounded(Guest& guest, const GuestPath& path,
                                                std::uint64_t most, const CallContext& call) {
  COVE_CO_TRY(const auto source, co_await guest.read_tree(path, call));
  Bytes tar;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source->next(call));
    if (piece.empty()) break;
    if (tar.size() + piece.size() > most) co_return std::optional<Bytes>();
    tar.insert(tar.end(), piece.begin(), piece.end());
  }
  co_return std::optional<Bytes>(std::move(tar));
}

/// The same, as it comes; none where the stream is larger than `most` or does not say it.
Task<Result<std::optional<std::string>>> compare_stream(const SkillShelf& shelf, Guest& guest,
                                                        const GuestPath& path,
                                                        const Package& expected, std::uint64_t most,
                                                        const CallContext& call) {
  COVE_CO_TRY(const auto source, co_await guest.read_tree(path, call));
  const auto& parts = shelf.parts();
  TreeComparison comparison(expected);
  for (std::uint64_t bytes = 0; comparison.fault().empty();) {
    COVE_CO_TRY(const Bytes piece, co_await source->next(call));
    if (piece.empty()) break;
    bytes += piece.size();
    if (bytes > most) co_return std::optional<std::string>();
    // To compare bytes takes no longer than to copy them; to hash them does.
    Result<void> fed = ok();
    if (expected.is_outline) {
      fed = co_await base::offload(parts.executor, parts.scheduler,
                                   [&] { return comparison.feed(piece); });
    } else {
      fed = comparison.feed(piece);
    }
    if (!fed) co_return std::optional<std::string>();
  }
  Result<std::string> fault = comparison.finish();
  if (!fault) co_return std::optional<std::string>();
  co_return std::optional<std::string>(*std::move(fault));
}

/// How large a tree may be that is read as a whole.
std::uint64_t bound_of(const Package& expected) {
  return expected.content_bytes + expected.entries.size() * kPerEntry + kRoom;
}

PackageLimits lenient(const SkillShelf& shelf, std::uint64_t most) {
  PackageLimits limits = shelf.parts().limits;
  limits.packed_bytes = most;
  limits.entries *= 4;
  limits.check_links = false;
  return limits;
}

GuestPath below(const GuestPath& path, const std::string& name) {
  return {path.session, path.path + "/" + name, path.root};
}

/// One file, hashed as it comes.
Task<Result<std::string>> compare_file(Guest& guest, const GuestPath& path,
                                       const PackageEntry& expected, const CallContext& call) {
  const ReadRange all;
  COVE_CO_TRY(const GuestFile file, co_await guest.read_file(path, all, call));
  const std::string name = base::quoted(expected.path);
  if (((file.info.mode & 0100U) != 0) != expected.executable) {
    co_return name + " is of another kind or mode";
  }
  const std::string other = name + " has another content";
  base::Sha256 hash;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await file.content->next(call));
    if (piece.empty()) break;
    hash.update(piece);
  }
  co_return hash.hex() == expected.sha256 ? std::string() : other;
}

Task<Result<std::string>> compare_entry(Guest& guest, const GuestPath& path,
                                        const PackageEntry& expected, const CallContext& call) {
  const Result<FileInfo> info = co_await guest.stat(path, call);
  const std::string name = base::quoted(expected.path);
  const std::string other_kind = name + " is of another kind or mode";
  if (!info && info.error().code() == ErrorCode::kNotFound) co_return name + " is missing";
  if (!info) co_return info.error();
  switch (expected.type) {
    case PackageEntryType::kDirectory:
      co_return info->type == FileType::kDirectory ? std::string() : other_kind;
    case PackageEntryType::kSymlink:
      if (info->type != FileType::kSymlink) co_return other_kind;
      co_return info->link_target == expected.target ? std::string() : name + " leads elsewhere";
    case PackageEntryType::kFile: break;
  }
  if (info->type != FileType::kRegular) co_return other_kind;
  co_return co_await compare_file(guest, path, expected, call);
}

}  // namespace

bool is_of_the_tree(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kNotFound:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kPathEscape:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kInvalidArgument: return true;
    default: return false;
  }
}

Task<Result<std::optional<Package>>> read_guest_tree(const SkillShelf& shelf, Guest& guest,
                                                     const GuestPath& path, const Package& expected,
                                                     const CallContext& call) {
  const std::uint64_t most = bound_of(expected);
  COVE_CO_TRY(const auto tar, co_await read_bounded(guest, path, most, call));
  if (!tar) co_return std::optional<Package>();
  const auto& parts = shelf.parts();
  auto read = co_await base::offload(parts.executor, parts.scheduler, [&] {
    return read_package(base::quoted(path.path), *tar, lenient(shelf, most));
  });
  if (!read) co_return std::optional<Package>();
  co_return std::optional<Package>(*std::move(read));
}

Task<Result<std::string>> compare_guest_tree(const SkillShelf& shelf, Guest& guest,
                                             const GuestPath& path, const Package& expected,
                                             const CallContext& call) {
  Result<std::optional<std::string>> fault =
      co_await compare_stream(shelf, guest, path, expected, bound_of(expected), call);
  if (!fault && fault.error().code() == ErrorCode::kNotFound) {
    co_return std::string("it is missing");
  }
  if (!fault && is_of_the_tree(fault.error())) co_return fault.error().message();
  if (!fault) co_return fault.error();
  if (*fault) co_return **std::move(fault);
  for (const PackageEntry& entry : expected.entries) {
    const GuestPath at = below(path, entry.path);
    Result<std::string> found = co_await compare_entry(guest, at, entry, call);
    if (!found && is_of_the_tree(found.error())) co_return found.error().message();
    if (!found || !found->empty()) co_return found;
  }
  co_return std::string();
}

}  // namespace cove::prepare
