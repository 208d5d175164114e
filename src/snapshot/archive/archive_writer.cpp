#include "snapshot/archive/archive_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>
#include <zstd.h>

namespace cove::snapshot {
namespace {

constexpr int kLevel = 3;

/// Zeros to show libarchive where a file has holes: it steps over them. Mapped read-only and never
/// touched, so they cost no memory.
class Zeros {
 public:
  static constexpr std::size_t kSize = 256 << 20;

  Zeros()
      : data_(
            ::mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Zeros() { ::munmap(data_, kSize); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  const void* data() const noexcept { return data_; }

 private:
  void* data_;
};

mode_t type_bits(EntryType type) {
  switch (type) {
    case EntryType::kDirectory: return AE_IFDIR;
    case EntryType::kSymlink: return AE_IFLNK;
    case EntryType::kFifo: return AE_IFIFO;
    case EntryType::kFile:
    case EntryType::kHardLink: return AE_IFREG;
  }
  return AE_IFREG;
}

void fill(archive_entry* to, const Entry& entry) {
  archive_entry_clear(to);
  archive_entry_set_pathname(to, entry.path.empty() ? "." : entry.path.c_str());
  archive_entry_set_filetype(to, type_bits(entry.type));
  archive_entry_set_perm(to, entry.attributes.mode);
  archive_entry_set_uid(to, entry.attributes.uid);
  archive_entry_set_gid(to, entry.attributes.gid);
  archive_entry_set_mtime(to, entry.attributes.mtime, entry.attributes.mtime_nanoseconds);
  archive_entry_set_size(to, 0);
  if (entry.type == EntryType::kSymlink) archive_entry_set_symlink(to, entry.target.c_str());
  if (entry.type == EntryType::kHardLink) archive_entry_set_hardlink(to, entry.target.c_str());
  for (const Xattr& xattr : entry.attributes.xattrs) {
    archive_entry_xattr_add_entry(to, xattr.name.c_str(), xattr.value.data(), xattr.value.size());
  }
  if (entry.type != EntryType::kFile) return;
  archive_entry_set_size(to, static_cast<la_int64_t>(entry.size));
  if (!entry.sparse) return;
  // A file without any data is told by one empty extent.
  if (entry.data.empty()) archive_entry_sparse_add_entry(to, 0, 0);
  for (const Extent& extent : entry.data) {
    archive_entry_sparse_add_entry(to, static_cast<la_int64_t>(extent.offset),
                                   static_cast<la_int64_t>(extent.size));
  }
}

}  // namespace

class ArchiveWriter::Impl {
 public:
  Impl() : archive_(archive_write_new()), entry_(archive_entry_new()), zstd_(ZSTD_createCCtx()) {
    if (archive_ == nullptr || entry_ == nullptr || zstd_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(zstd_, ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(zstd_, ZSTD_c_checksumFlag, 1);
    archive_write_set_format_pax(archive_);
    // Names as bytes, also in the C locale; attributes by the one form that keeps every name.
    archive_write_set_format_option(archive_, "pax", "hdrcharset", "BINARY");
    archive_write_set_format_option(archive_, "pax", "xattrheader", "LIBARCHIVE");
    archive_write_add_filter_none(archive_);
    archive_write_set_bytes_per_block(archive_, 0);
    archive_write_open(archive_, this, nullptr, &Impl::write, nullptr);
  }

  ~Impl() {
    archive_entry_free(entry_);
    archive_write_free(archive_);
    ZSTD_freeCCtx(zstd_);
  }

  Result<void> begin(const Entry& entry) {
    fill(entry_, entry);
    if (archive_write_header(archive_, entry_) != ARCHIVE_OK) return failure(entry.path);
    path_ = entry.path;
    return {};
  }

  Result<void> content(const void* data, std::size_t size) {
    while (size > 0) {
      const la_ssize_t taken = archive_write_data(archive_, data, size);
      if (taken <= 0) return failure(path_);
      data = static_cast<const char*>(data) + taken;
      size -= static_cast<std::size_t>(taken);
    }
    return {};
  }

  Result<void> hole(std::uint64_t size) {
    while (size > 0) {
      const std::uint64_t piece = std::min<std::uint64_t>(size, Zeros::kSize);
      COVE_TRY_VOID(content(zeros_.data(), static_cast<std::size_t>(piece)));
      size -= piece;
    }
    return {};
  }

  Result<void> finish() {
    if (archive_write_close(archive_) != ARCHIVE_OK) return failure({});
    return compress({}, ZSTD_e_end) ? ok() : Result<void>(failure({}));
  }

  Bytes take() { return std::exchange(out_, {}); }
  std::size_t held() const noexcept { return out_.size(); }

 private:
  static la_ssize_t write(archive* self_archive, void* self, const void* data, std::size_t size) {
    const ByteView bytes(static_cast<const std::byte*>(data), size);
    if (static_cast<Impl*>(self)->compress(bytes, ZSTD_e_continue)) {
      return static_cast<la_ssize_t>(size);
    }
    archive_set_error(self_archive, ENOMEM, "compression failed");
    return ARCHIVE_FATAL;
  }

  bool compress(ByteView bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{scratch_.data(), scratch_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(zstd_, &out, &in, directive);
      out_.insert(out_.end(), scratch_.begin(), scratch_.begin() + static_cast<long>(out.pos));
      if (ZSTD_isError(left) != 0U) return false;
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) return true;
    }
  }

  Error failure(const std::string& path) const {
    const char* words = archive_error_string(archive_);
    return {ErrorCode::kInternal,
            "archive " + shown(path) + ": " + (words != nullptr ? words : "no memory to compress")};
  }

  archive* archive_;
  archive_entry* entry_;
  ZSTD_CCtx* zstd_;
  Zeros zeros_;
  Bytes scratch_ = Bytes(ZSTD_CStreamOutSize());
  Bytes out_;
  std::string path_;
};

ArchiveWriter::ArchiveWriter() : impl_(std::make_unique<Impl>()) {}
ArchiveWriter::~ArchiveWriter() = default;
Result<void> ArchiveWriter::begin(const Entry& entry) { return impl_->begin(entry); }
Result<void> ArchiveWriter::data(ByteView bytes) {
  return impl_->content(bytes.data(), bytes.size());
}
Result<void> ArchiveWriter::hole(std::uint64_t size) { return impl_->hole(size); }
Result<void> ArchiveWriter::finish() { return impl_->finish(); }
Bytes ArchiveWriter::take() { return impl_->take(); }
std::size_t ArchiveWriter::held() const noexcept { return impl_->held(); }

}  // namespace cove::snapshot
