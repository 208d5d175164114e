#include "prepare/skills/package/package_tar.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kPiece = 256 * 1024;

class PackageTar final : public ByteSource {
 public:
  PackageTar(std::shared_ptr<const Package> package, TarChoice choice)
      : package_(std::move(package)),
        choice_(std::move(choice)),
        archive_(archive_write_new()),
        entry_(archive_entry_new()) {
    if (archive_ == nullptr || entry_ == nullptr) throw std::bad_alloc();
    archive_write_set_format_pax_restricted(archive_);
    archive_write_set_format_option(archive_, "pax", "hdrcharset", "BINARY");
    archive_write_add_filter_none(archive_);
    archive_write_set_bytes_per_block(archive_, 0);
    archive_write_open(archive_, this, nullptr, &PackageTar::write, nullptr);
  }
  ~PackageTar() override {
    archive_entry_free(entry_);
    archive_write_free(archive_);
  }
  PackageTar(const PackageTar&) = delete;
  PackageTar& operator=(const PackageTar&) = delete;

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    while (out_.size() < kPiece && !ended_) {
      COVE_CO_TRY_VOID(advance());
    }
    co_return std::exchange(out_, {});
  }

 private:
  Result<void> advance() {
    if (in_file_) return go_on();
    if (at_ < package_->entries.size()) return begin();
    ended_ = true;
    return archive_write_close(archive_) == ARCHIVE_OK ? ok() : Result<void>(failure());
  }

  Result<void> begin() {
    const PackageEntry& from = package_->entries[at_];
    if (choice_.wanted && !choice_.wanted(from)) {
      ++at_;
      return ok();
    }
    archive_entry_clear(entry_);
    const std::string path =
        choice_.beneath.empty() ? from.path : choice_.beneath + "/" + from.path;
    archive_entry_set_pathname(entry_, path.c_str());
    archive_entry_set_perm(entry_,
                           from.type == PackageEntryType::kFile && !from.executable ? 0644 : 0755);
    archive_entry_set_size(entry_, static_cast<la_int64_t>(from.content.size()));
    switch (from.type) {
      case PackageEntryType::kFile: archive_entry_set_filetype(entry_, AE_IFREG); break;
      case PackageEntryType::kDirectory: archive_entry_set_filetype(entry_, AE_IFDIR); break;
      case PackageEntryType::kSymlink:
        archive_entry_set_filetype(entry_, AE_IFLNK);
        archive_entry_set_symlink(entry_, from.target.c_str());
        break;
    }
    if (archive_write_header(archive_, entry_) != ARCHIVE_OK) return failure();
    in_file_ = from.type == PackageEntryType::kFile && !from.content.empty();
    if (!in_file_) ++at_;
    written_ = 0;
    return ok();
  }

  Result<void> go_on() {
    const Bytes& content = package_->entries[at_].content;
    const std::size_t most = std::min(kPiece, content.size() - written_);
    const la_ssize_t taken = archive_write_data(archive_, content.data() + written_, most);
    if (taken <= 0) return failure();
    written_ += static_cast<std::size_t>(taken);
    if (written_ < content.size()) return ok();
    in_file_ = false;
    ++at_;
    return ok();
  }

  static la_ssize_t write(archive* /*archive*/, void* self, const void* data, std::size_t size) {
    Bytes& out = static_cast<PackageTar*>(self)->out_;
    const auto* const bytes = static_cast<const std::byte*>(data);
    out.insert(out.end(), bytes, bytes + size);
    return static_cast<la_ssize_t>(size);
  }

  Error failure() const {
    const char* const words = archive_error_string(archive_);
    const std::string path = at_ < package_->entries.size() ? package_->entries[at_].path : "";
    return {ErrorCode::kInternal, "pack " + base::quoted(path) + ": " +
                                      base::escaped(words != nullptr ? words : "no memory")};
  }

  std::shared_ptr<const Package> package_;
  TarChoice choice_;
  archive* archive_;
  archive_entry* entry_;
  Bytes out_;
  std::size_t at_ = 0;       // the entry
  std::size_t written_ = 0;  // of its content
  bool in_file_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> tar_of(std::shared_ptr<const Package> package, TarChoice choice) {
  return std::make_unique<PackageTar>(std::move(package), std::move(choice));
}

}  // namespace cove::prepare
