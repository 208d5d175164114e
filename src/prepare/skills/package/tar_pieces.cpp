#include "prepare/skills/package/tar_pieces.hpp"

#include <algorithm>
#include <span>

#include "prepare/skills/package/package_tar.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kPiece = std::size_t{256} * 1024;

}  // namespace

void TarPieces::add(const PackageEntry& entry, const std::string& path) {
  text_.assign(padding_, '\0');
  base::TarEntry header;
  header.type = tar_type_of(entry.type);
  header.path = path;
  if (entry.type == PackageEntryType::kDirectory) header.path += '/';
  header.target = entry.target;
  header.mode = entry.type == PackageEntryType::kFile && !entry.executable ? 0644 : 0755;
  header.size = entry.content.size();
  base::append_tar_header(text_, header);
  blocks_ = std::as_bytes(std::span(text_));
  content_ = entry.content;
  padding_ = base::tar_padding(content_.size());
}

void TarPieces::end() {
  text_.assign(padding_ + 2 * base::kTarBlock, '\0');
  padding_ = 0;
  blocks_ = std::as_bytes(std::span(text_));
}

void TarPieces::take(Bytes& piece) {
  take(piece, blocks_);
  if (blocks_.empty()) take(piece, content_);
}

bool TarPieces::is_full(const Bytes& piece) noexcept { return piece.size() >= kPiece; }

Bytes TarPieces::empty_piece() {
  Bytes piece;
  piece.reserve(kPiece);
  return piece;
}

void TarPieces::take(Bytes& piece, ByteView& from) {
  const ByteView part = from.first(std::min(from.size(), kPiece - piece.size()));
  piece.insert(piece.end(), part.begin(), part.end());
  from = from.subspan(part.size());
}

}  // namespace cove::prepare
