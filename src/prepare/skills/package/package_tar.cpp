#include "prepare/skills/package/package_tar.hpp"

#include <algorithm>
#include <utility>

namespace cove::prepare {
namespace {

/// As much as one frame of the wire takes.
constexpr std::size_t kPiece = 256 * 1024;

class PackageTar final : public ByteSource {
 public:
  PackageTar(std::shared_ptr<const Package> package, TarChoice choice)
      : package_(std::move(package)), choice_(std::move(choice)) {}

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    Bytes piece;
    piece.reserve(kPiece);
    while (piece.size() < kPiece) {
      if (blocks_.empty() && content_.empty() && !advance()) break;
      // What stands before the content of the entry at hand goes before it.
      if (!take(piece, blocks_)) take(piece, content_);
    }
    co_return piece;
  }

 private:
  /// Makes the blocks of the next entry, and its content, wait; false: that was all.
  bool advance() {
    const auto& entries = package_->entries;
    text_.assign(padding_, '\0');
    padding_ = 0;
    while (at_ < entries.size() && choice_.wanted && !choice_.wanted(entries[at_])) ++at_;
    if (at_ < entries.size()) {
      append_header(entries[at_]);
      content_ = entries[at_].content;
      padding_ = base::tar_padding(content_.size());
      ++at_;
    } else if (!std::exchange(ended_, true)) {
      text_.append(2 * base::kTarBlock, '\0');
    }
    blocks_ = std::as_bytes(std::span(text_));
    return !blocks_.empty();
  }

  void append_header(const PackageEntry& from) {
    base::TarEntry entry;
    entry.type = tar_type_of(from.type);
    entry.path = choice_.beneath.empty() ? from.path : choice_.beneath + "/" + from.path;
    if (from.type == PackageEntryType::kDirectory) entry.path += '/';
    entry.target = from.target;
    entry.mode = from.type == PackageEntryType::kFile && !from.executable ? 0644 : 0755;
    entry.size = from.content.size();
    base::append_tar_header(text_, entry);
  }

  /// Moves what there is room for; false: nothing was there.
  static bool take(Bytes& piece, ByteView& from) {
    if (from.empty()) return false;
    const ByteView part = from.first(std::min(from.size(), kPiece - piece.size()));
    piece.insert(piece.end(), part.begin(), part.end());
    from = from.subspan(part.size());
    return true;
  }

  std::shared_ptr<const Package> package_;
  TarChoice choice_;
  std::size_t at_ = 0;  // the entry to come
  std::string text_;    // the end of the last content's block, and a header
  ByteView blocks_;     // of text_: not given yet
  ByteView content_;    // of the package: the same
  std::size_t padding_ = 0;
  bool ended_ = false;
};

}  // namespace

base::TarType tar_type_of(PackageEntryType type) {
  switch (type) {
    case PackageEntryType::kFile: break;
    case PackageEntryType::kDirectory: return base::TarType::kDirectory;
    case PackageEntryType::kSymlink: return base::TarType::kSymlink;
  }
  return base::TarType::kFile;
}

std::unique_ptr<ByteSource> tar_of(std::shared_ptr<const Package> package, TarChoice choice) {
  return std::make_unique<PackageTar>(std::move(package), std::move(choice));
}

}  // namespace cove::prepare
