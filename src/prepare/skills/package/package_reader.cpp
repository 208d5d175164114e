#include "prepare/skills/package/package_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kStepBytes = std::size_t{4} << 20U;
constexpr unsigned kStepEntries = 512;
constexpr std::uint64_t kRatioFrom = 16ULL << 20U;

/// A zip says of a name that it is UTF-8, and libarchive turns it into the thread's character set:
/// in the C locale, which is the host's to choose, no name but ASCII would come through.
class Utf8Locale {
 public:
  Utf8Locale()
      : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)),
        before_(locale_ != nullptr ? ::uselocale(locale_) : nullptr) {}
  ~Utf8Locale() {
    if (locale_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_;
  locale_t before_;
};

}  // namespace

class PackageReader::Impl {
 public:
  Impl(std::string shown, ByteView bytes, PackageLimits limits)
      : shown_(std::move(shown)),
        bytes_(bytes),
        limits_(limits),
        builder_(shown_, limits),
        archive_(archive_read_new()) {
    if (archive_ == nullptr) throw std::bad_alloc();
    const Utf8Locale utf8;  // an option already looks at it, and what it finds is kept
    archive_read_support_filter_gzip(archive_);
    archive_read_support_filter_zstd(archive_);
    archive_read_support_format_tar(archive_);
    archive_read_support_format_zip(archive_);
    archive_read_set_format_option(archive_, "tar", "hdrcharset", "BINARY");
  }
  ~Impl() { archive_read_free(archive_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<bool> step() {
    const Utf8Locale utf8;
    if (!opened_) COVE_TRY_VOID(open());
    std::size_t bytes = 0;
    for (unsigned entries = 0; entries < kStepEntries && bytes < kStepBytes;) {
      if (in_entry_) {
        COVE_TRY(const std::size_t size, read_piece());
        bytes += size;
        continue;
      }
      COVE_TRY(const bool more, next_entry());
      if (!more) return true;
      ++entries;
    }
    return false;
  }

  PackageBuilder& builder() noexcept { return builder_; }

 private:
  Result<void> open() {
    opened_ = true;
    if (bytes_.size() > limits_.packed_bytes) {
      return Error(ErrorCode::kTooLarge, shown_ + " has " + std::to_string(bytes_.size()) +
                                             " bytes; a package may have " +
                                             std::to_string(limits_.packed_bytes));
    }
    if (bytes_.empty()) return Error(ErrorCode::kInvalidArgument, shown_ + " is empty");
    if (archive_read_open_memory(archive_, bytes_.data(), bytes_.size()) != ARCHIVE_OK) {
      return failure();
    }
    return ok();
  }

  /// libbz2 ends the process where it finds itself wrong: nothing hostile is given to it.
  bool is_bzip2() const {
    const char* const format = archive_format_name(archive_);
    return format != nullptr && std::strstr(format, "bzip") != nullptr;
  }

  /// Where a tar is cut between two entries, the block of zeros that ends it is all that is missed;
  /// what packs one has an end of its own.
  bool is_cut_tar() const {
    constexpr std::size_t kBlock = 512;
    const bool is_tar = (archive_format(archive_) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
    if (!is_tar || archive_filter_code(archive_, 0) != ARCHIVE_FILTER_NONE) return false;
    if (bytes_.size() < kBlock) return true;
    const auto end = bytes_.last(kBlock);
    return std::any_of(end.begin(), end.end(), [](std::byte byte) { return byte != std::byte{0}; });
  }

  Result<bool> next_entry() {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(archive_, &entry);
    if (status == ARCHIVE_EOF && is_cut_tar()) {
      return Error(ErrorCode::kInvalidArgument, shown_ + " has no end: it was cut short");
    }
    if (status == ARCHIVE_EOF) return false;
    if (status != ARCHIVE_OK) return failure();
    const char* const name = archive_entry_pathname(entry);
    if (name == nullptr) {
      return Error(ErrorCode::kInvalidArgument, shown_ + " has an entry without a readable name");
    }
    if (archive_entry_is_encrypted(entry) != 0) {
      return refusal(ErrorCode::kInvalidArgument, name, "is encrypted");
    }
    if (is_bzip2()) {
      return refusal(ErrorCode::kUnsupported, name,
                     "is packed by bzip2; deflate is what zip files use");
    }
    keeps_ = false;
    COVE_TRY_VOID(take(entry, name));
    in_entry_ = true;
    return true;
  }

  Result<void> take(archive_entry* entry, std::string_view name) {
    const char* const hard_link = archive_entry_hardlink(entry);
    if (hard_link != nullptr) return take_hard_link(name, hard_link);
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR: {
        COVE_TRY([[maybe_unused]] const bool taken,
                 builder_.begin(name, PackageEntryType::kDirectory));
        return ok();
      }
      case AE_IFREG: {
        COVE_TRY(keeps_, builder_.begin(name, PackageEntryType::kFile));
        if (!keeps_) return ok();
        if ((archive_entry_perm(entry) & 0100U) != 0) builder_.set_executable();
        const la_int64_t size = archive_entry_size(entry);
        if (size > 0) builder_.expect(static_cast<std::uint64_t>(size));
        return ok();
      }
      case AE_IFLNK: {
        COVE_TRY(const bool taken, builder_.begin(name, PackageEntryType::kSymlink));
        const char* const target = archive_entry_symlink(entry);
        if (taken && target != nullptr) builder_.set_target(target);
        return ok();
      }
      default: break;
    }
    return refusal(ErrorCode::kUnsupported, name,
                   "is a device, FIFO or socket, which no package may have");
  }

  Result<void> take_hard_link(std::string_view name, std::string_view earlier) {
    COVE_TRY(const bool taken, builder_.begin(name, PackageEntryType::kFile));
    return taken ? builder_.copy_of(earlier) : ok();
  }

  /// Reads on in the entry, also where its content is not kept: what is skipped costs time too, so
  /// it counts against the limits.
  Result<std::size_t> read_piece() {
    const la_ssize_t size = archive_read_data(archive_, buffer_.data(), buffer_.size());
    if (size < 0) return failure();
    in_entry_ = size > 0;
    if (size == 0) return std::size_t{0};
    const auto count = static_cast<std::size_t>(size);
    read_bytes_ += count;
    const bool bomb = read_bytes_ > kRatioFrom && read_bytes_ / limits_.ratio > bytes_.size();
    if (bomb) {
      return Error(ErrorCode::kTooLarge, shown_ + " unpacks to more than " +
                                             std::to_string(limits_.ratio) + " times its size");
    }
    if (keeps_) COVE_TRY_VOID(builder_.append(ByteView(buffer_.data(), count)));
    return count;
  }

  Error refusal(ErrorCode code, std::string_view name, const std::string& why) const {
    return {code, "entry " + base::quoted(name) + " of " + shown_ + " " + why};
  }

  Error failure() const {
    const char* const words = archive_error_string(archive_);
    const std::string why = words != nullptr ? base::escaped(words) : "it is none";
    return {ErrorCode::kInvalidArgument,
            shown_ + " cannot be read as zip, tar, tar.gz or tar.zst: " + why};
  }

  std::string shown_;
  ByteView bytes_;
  PackageLimits limits_;
  PackageBuilder builder_;
  archive* archive_;
  bool opened_ = false;
  bool in_entry_ = false;
  bool keeps_ = false;  // the entry's content goes into the package
  std::uint64_t read_bytes_ = 0;
  std::array<std::byte, 64 * 1024> buffer_{};
};

PackageReader::PackageReader(std::string shown, ByteView bytes, PackageLimits limits)
    : impl_(std::make_unique<Impl>(std::move(shown), bytes, limits)) {}
PackageReader::~PackageReader() = default;
Result<bool> PackageReader::step() { return impl_->step(); }
std::vector<ContentHash> PackageReader::take_unhashed() { return impl_->builder().take_unhashed(); }
void PackageReader::put_hashes(std::vector<ContentHash> hashes) {
  impl_->builder().put_hashes(std::move(hashes));
}
const PackageEntry& PackageReader::entry(std::size_t index) const {
  return impl_->builder().entry(index);
}
Result<Package> PackageReader::finish() { return impl_->builder().finish(); }

Result<Package> read_package(const std::string& shown, ByteView bytes, PackageLimits limits) {
  PackageReader reader(shown, bytes, limits);
  for (bool done = false; !done;) {
    COVE_TRY(done, reader.step());
  }
  return reader.finish();
}

}  // namespace cove::prepare
