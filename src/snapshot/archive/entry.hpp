/// What an archive says of one file, directory or link. Names and link targets are bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cove::snapshot {

enum class EntryType : std::uint8_t { kFile, kDirectory, kSymlink, kHardLink, kFifo };

struct Xattr {
  std::string name;  // "user.note"
  std::string value;

  friend bool operator==(const Xattr&, const Xattr&) = default;
};

/// A stretch of a file, in bytes.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;

  std::uint64_t end() const noexcept { return offset + size; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

struct Attributes {
  std::uint32_t mode = 0;  // 07777 of st_mode
  std::uint32_t uid = 0;   // as the sandbox sees them
  std::uint32_t gid = 0;
  std::int64_t mtime = 0;  // seconds since 1970
  std::uint32_t mtime_nanoseconds = 0;
  std::vector<Xattr> xattrs;
};

struct Entry {
  std::string path;  // below the workspace, without `/` at either end; empty = the workspace itself
  EntryType type = EntryType::kFile;
  Attributes attributes;
  std::uint64_t size = 0;  // kFile: with its holes
  std::string target;      // kSymlink: its text; kHardLink: the path of an earlier entry
  bool sparse = false;     // kFile: it has holes; then `data` are its other parts
  std::vector<Extent> data;
};

/// A path as messages show it: on one line, valid UTF-8, at most some 200 bytes; '.' is
/// the workspace itself.
std::string shown(std::string_view path);

}  // namespace cove::snapshot
