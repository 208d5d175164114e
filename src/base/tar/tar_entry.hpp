/// TarEntry: what a tar archive says of one file.
#pragma once

#include <cstdint>
#include <string>

namespace cove::base {

enum class TarType : std::uint8_t { kFile, kDirectory, kSymlink, kHardLink };

struct TarEntry {
  TarType type = TarType::kFile;
  std::string path;    ///< bytes, as in the archive
  std::string target;  ///< of a symlink; of a hard link the path of an earlier entry
  std::uint32_t mode = 0;
  std::uint64_t size = 0;  ///< of a file's content
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
};

/// Archives are made of blocks of this size.
constexpr std::size_t kTarBlock = 512;

/// Appends the header blocks of an entry: ustar, and a pax header before it where ustar cannot say
/// all.
void append_tar_header(std::string& out, const TarEntry& entry);

/// The zero bytes that follow `size` bytes of content.
std::size_t tar_padding(std::uint64_t size);

}  // namespace cove::base
