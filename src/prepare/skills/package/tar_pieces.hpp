/// The tar of a package's entries, cut into pieces as large as a frame of the wire takes.
#pragma once

#include <cstddef>
#include <string>

#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

class TarPieces {
 public:
  /// All of what was added last has been taken.
  bool is_empty() const noexcept { return blocks_.empty() && content_.empty(); }

  /// The entry, by the name `path`. What its content is a view of outlives the next add().
  /// REQUIRES: is_empty().
  void add(const PackageEntry& entry, const std::string& path);

  /// What ends a tar. REQUIRES: is_empty(), called once, last.
  void end();

  /// Moves what there is room for; a piece grows to 256 KiB.
  void take(Bytes& piece);
  static bool is_full(const Bytes& piece) noexcept;
  static Bytes empty_piece();

 private:
  static void take(Bytes& piece, ByteView& from);

  std::string text_;         // the end of the last content's block, and a header
  ByteView blocks_;          // of text_: not taken yet
  ByteView content_;         // the same
  std::size_t padding_ = 0;  // of the content that is being taken
};

}  // namespace cove::prepare
