/// Package: what a skill's archive or directory holds, checked, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "prepare/skills/package/content_store.hpp"

namespace cove::prepare {

/// What a package may have at most. Over it: kTooLarge.
struct PackageLimits {
  std::uint64_t packed_bytes = 128ULL << 20U;
  std::uint64_t content_bytes = 256ULL << 20U;  ///< of all files, unpacked; held in memory
  std::uint32_t entries = 20'000;
  std::uint32_t ratio = 200;  ///< unpacked to packed, once more than 16 MiB are unpacked

  /// False: links may lead anywhere. For trees that are only compared, never placed.
  bool check_links = true;
};

enum class PackageEntryType : std::uint8_t { kFile, kDirectory, kSymlink };

struct PackageEntry {
  std::string path;  ///< bytes, below the package, no `/` at either end, never `.` or `..`
  PackageEntryType type = PackageEntryType::kFile;
  bool executable = false;  ///< of a file
  ByteView content;         ///< of a file; lies in the package's store
  std::string target;       ///< of a symlink: relative, to a place within the package
  std::string sha256;       ///< 64 hex of a file's content
};

/// Entries in the order of their paths' bytes, each once, all their directories among them.
struct Package {
  std::vector<PackageEntry> entries;
  std::shared_ptr<ContentStore> contents;  ///< null where nothing has any content
  std::uint64_t content_bytes = 0;
  bool is_outline = false;  ///< without any content

  /// 64 hex of all files and links: their paths, contents, targets and executable bits. The same
  /// whatever archive they came in; directories, times and owners do not count.
  std::string hash;

  /// Null where there is none.
  const PackageEntry* find(std::string_view path) const noexcept;

  /// The same without any content.
  Package outline() const;
};

/// Text of a file of the package.
std::string_view text_of(const PackageEntry& entry) noexcept;

/// A file's content on the way to its sha256, which any thread may work out.
struct ContentHash {
  std::size_t entry = 0;  ///< in the builder's order
  ByteView content;       ///< lives as long as the builder
  std::string sha256;
};

void work_out(std::vector<ContentHash>& hashes);

/// Collects entries as they come from an archive or a directory, and checks each.
class PackageBuilder {
 public:
  PackageBuilder(std::string shown, PackageLimits limits);
  PackageBuilder(const PackageBuilder&) = delete;
  PackageBuilder& operator=(const PackageBuilder&) = delete;

  /// Begins an entry; `name` as the archive has it: a leading `./` and trailing `/` are dropped.
  /// False: it is left out (the package's own directory, what macOS adds). Errors:
  /// kInvalidArgument - a name that is absolute, has `..`, an empty part, a part over 255 bytes,
  /// comes twice, or lies below a file; kTooLarge.
  Result<bool> begin(std::string_view name, PackageEntryType type);

  /// How much content the file that was begun last is said to have; a hint.
  void expect(std::uint64_t bytes);

  void set_executable() { current().executable = true; }
  void set_target(std::string target) { current().target = std::move(target); }

  /// Content of the file that was begun last. kTooLarge.
  Result<void> append(ByteView bytes);

  /// Makes the file that was begun last a copy of an earlier one (a hard link of an archive).
  Result<void> copy_of(std::string_view earlier);

  /// The files that came whole since the last call. They may be hashed while others are added, and
  /// are given back by `put_hashes`; those that are not taken, `finish` hashes itself.
  std::vector<ContentHash> take_unhashed();
  void put_hashes(std::vector<ContentHash> hashes);

  const PackageEntry& entry(std::size_t index) const { return package_.entries[index]; }

  /// Checks what needs all entries. kInvalidArgument: a symlink that leads out of the package, or
  /// through another link. REQUIRES: called once, last.
  Result<Package> finish();

 private:
  PackageEntry& current() { return package_.entries.back(); }
  Result<void> check_limits() const;
  Result<void> add_parents();
  Result<void> check_link(const PackageEntry& link) const;
  Error refusal(ErrorCode code, std::string_view name, const std::string& why) const;

  std::string shown_;
  PackageLimits limits_;
  Package package_;
  std::size_t unhashed_ = 0;  // the first entry that was not given to be hashed
};

}  // namespace cove::prepare
