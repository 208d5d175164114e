#include "prepare/skills/package/package_tar.hpp"

#include <utility>

#include "prepare/skills/package/tar_pieces.hpp"

namespace cove::prepare {
namespace {

class PackageTar final : public ByteSource {
 public:
  PackageTar(std::shared_ptr<const Package> package, TarChoice choice)
      : package_(std::move(package)), choice_(std::move(choice)) {}

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    Bytes piece = TarPieces::empty_piece();
    while (!TarPieces::is_full(piece)) {
      if (pieces_.is_empty() && !advance()) break;
      pieces_.take(piece);
    }
    co_return piece;
  }

 private:
  /// Makes the next entry wait; false: that was all.
  bool advance() {
    const auto& entries = package_->entries;
    while (at_ < entries.size() && choice_.wanted && !choice_.wanted(entries[at_])) ++at_;
    if (at_ == entries.size()) {
      if (std::exchange(ended_, true)) return false;
      pieces_.end();
      return true;
    }
    const PackageEntry& entry = entries[at_++];
    const std::string& above = choice_.beneath;
    pieces_.add(entry, above.empty() ? entry.path : above + "/" + entry.path);
    return true;
  }

  std::shared_ptr<const Package> package_;
  TarChoice choice_;
  std::size_t at_ = 0;  // the entry to come
  TarPieces pieces_;
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
