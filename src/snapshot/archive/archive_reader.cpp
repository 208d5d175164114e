#include "snapshot/archive/archive_reader.hpp"

#include <cerrno>
#include <deque>
#include <new>
#include <string>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <zstd.h>

#include "snapshot/archive/entry_order.hpp"

namespace cove::snapshot {
namespace {

// libarchive asks for bytes in the middle of a header and cannot be paused there. So it is only
// called while this much is at hand: more than any header that it takes (1 MiB each, two or three
// in a row).
constexpr std::size_t kLookahead = 4 << 20;
constexpr std::size_t kStepBytes = 1 << 20;
constexpr unsigned kStepEntries = 256;
constexpr std::size_t kMaxTail = 1 << 20;
constexpr int kMaxWindowLog = 24;

Error damaged(const std::string& how) { return {ErrorCode::kIntegrity, "the archive " + how}; }

/// zstd, a block at a time, one frame.
class Inflater {
 public:
  Inflater() : zstd_(ZSTD_createDCtx()), scratch_(ZSTD_DStreamOutSize()) {
    if (zstd_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(zstd_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~Inflater() { ZSTD_freeDCtx(zstd_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void feed(Bytes piece) {
    input_ended_ = input_ended_ || piece.empty();
    input_ = std::move(piece);
    at_ = 0;
  }

  bool is_at_end() const noexcept { return frame_ended_ && input_ended_; }

  /// The next block; empty = it needs input, or is_at_end().
  Result<Bytes> next() {
    if (frame_ended_ && at_ < input_.size()) return damaged("goes on after its end");
    while (!frame_ended_ && (at_ < input_.size() || holds_more_)) {
      ZSTD_inBuffer in{input_.data(), input_.size(), at_};
      ZSTD_outBuffer out{scratch_.data(), scratch_.size(), 0};
      const std::size_t hint = ZSTD_decompressStream(zstd_, &out, &in);
      if (ZSTD_isError(hint) != 0U) {
        return damaged(std::string("cannot be decompressed: ") + ZSTD_getErrorName(hint));
      }
      at_ = in.pos;
      frame_ended_ = hint == 0;
      holds_more_ = out.pos == out.size;
      if (out.pos > 0) {
        return Bytes(scratch_.begin(), scratch_.begin() + static_cast<long>(out.pos));
      }
    }
    if (frame_ended_ && at_ < input_.size()) return damaged("goes on after its end");
    if (input_ended_ && !frame_ended_) return damaged("is cut short");
    return Bytes();
  }

 private:
  ZSTD_DCtx* zstd_;
  Bytes scratch_;
  Bytes input_;
  std::size_t at_ = 0;
  bool input_ended_ = false;
  bool frame_ended_ = false;
  bool holds_more_ = false;
};

Result<Entry> converted(archive_entry* from) {
  const char* name = archive_entry_pathname(from);
  if (name == nullptr) return damaged("has an entry without a name");
  Entry entry;
  entry.path = name;
  const char* hard_link = archive_entry_hardlink(from);
  const char* symlink = archive_entry_symlink(from);
  const mode_t type = archive_entry_filetype(from);
  if (hard_link != nullptr) {
    entry.type = EntryType::kHardLink;
    entry.target = hard_link;
  } else if (type == AE_IFREG) {
    entry.type = EntryType::kFile;
    entry.size = static_cast<std::uint64_t>(archive_entry_size(from));
    entry.sparse = archive_entry_sparse_count(from) > 0;
  } else if (type == AE_IFDIR) {
    entry.type = EntryType::kDirectory;
    if (entry.path == "./" || entry.path == ".") entry.path.clear();
    if (entry.path.size() > 1 && entry.path.back() == '/') entry.path.pop_back();
  } else if (type == AE_IFLNK && symlink != nullptr && *symlink != '\0') {
    entry.type = EntryType::kSymlink;
    entry.target = symlink;
  } else if (type == AE_IFIFO) {
    entry.type = EntryType::kFifo;
  } else {
    return Error(ErrorCode::kIntegrity,
                 "archive entry " + shown(entry.path) + " is of a kind that no snapshot has");
  }
  if (entry.type != EntryType::kFile && archive_entry_size(from) > 0) {
    return Error(ErrorCode::kIntegrity, "archive entry " + shown(entry.path) + " has content");
  }
  return entry;
}

Result<Attributes> attributes_of(archive_entry* from, const Entry& entry) {
  const auto uid = archive_entry_uid(from);
  const auto gid = archive_entry_gid(from);
  if (uid < 0 || uid > UINT32_MAX || gid < 0 || gid > UINT32_MAX) {
    return Error(ErrorCode::kIntegrity,
                 "archive entry " + shown(entry.path) + " has an owner that no system has");
  }
  Attributes attributes;
  attributes.mode = archive_entry_perm(from) & 07777U;
  attributes.uid = static_cast<std::uint32_t>(uid);
  attributes.gid = static_cast<std::uint32_t>(gid);
  attributes.mtime = archive_entry_mtime(from);
  attributes.mtime_nanoseconds = static_cast<std::uint32_t>(archive_entry_mtime_nsec(from));
  archive_entry_xattr_reset(from);
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  while (archive_entry_xattr_next(from, &name, &value, &size) == ARCHIVE_OK) {
    const std::string key = name != nullptr ? name : "";
    if (!key.starts_with("user.")) {
      return Error(ErrorCode::kIntegrity, "archive entry " + shown(entry.path) +
                                              " has the attribute " + shown(key) +
                                              "; only those of user. are kept");
    }
    attributes.xattrs.push_back({key, std::string(static_cast<const char*>(value), size)});
  }
  return attributes;
}

}  // namespace

class ArchiveReader::Impl {
 public:
  explicit Impl(EntrySink& sink) : sink_(sink), archive_(archive_read_new()) {
    if (archive_ == nullptr) throw std::bad_alloc();
    archive_read_support_format_tar(archive_);
    archive_read_set_format_option(archive_, "tar", "hdrcharset", "BINARY");
  }
  ~Impl() { archive_read_free(archive_); }

  void feed(Bytes piece) { inflater_.feed(std::move(piece)); }

  Result<Progress> step() {
    step_bytes_ = 0;
    step_entries_ = 0;
    while (step_bytes_ < kStepBytes && step_entries_ < kStepEntries) {
      COVE_TRY_VOID(fill());
      if (state_ == State::kDone) return Progress::kDone;
      if (ready_size_ < kLookahead && !inflater_.is_at_end()) return Progress::kNeedInput;
      COVE_TRY_VOID(advance());
    }
    return Progress::kMore;
  }

 private:
  enum class State : std::uint8_t { kOpen, kHeader, kData, kTail, kDone };

  Result<void> fill() {
    while (ready_size_ < kLookahead) {
      COVE_TRY(Bytes block, inflater_.next());
      if (block.empty()) return {};
      ready_size_ += block.size();
      ready_.push_back(std::move(block));
    }
    return {};
  }

  Result<void> advance() {
    switch (state_) {
      case State::kOpen: return open();
      case State::kHeader: return next_entry();
      case State::kData: return next_data();
      case State::kTail: return drain();
      case State::kDone: return {};
    }
    return {};
  }

  Result<void> open() {
    if (archive_read_open(archive_, this, nullptr, &Impl::read, nullptr) != ARCHIVE_OK) {
      return failure();
    }
    state_ = State::kHeader;
    return {};
  }

  Result<void> next_entry() {
    archive_entry* found = nullptr;
    const int status = archive_read_next_header(archive_, &found);
    if (status == ARCHIVE_EOF) {
      state_ = State::kTail;
      return {};
    }
    if (status != ARCHIVE_OK) return failure();
    ++step_entries_;
    COVE_TRY(Entry entry, converted(found));
    COVE_TRY(entry.attributes, attributes_of(found, entry));
    COVE_TRY(const std::size_t above, order_.accept(entry));
    size_ = entry.size;
    at_ = 0;
    COVE_TRY_VOID(sink_.entry(entry, above));
    if (entry.type == EntryType::kFile) {
      state_ = State::kData;
      return {};
    }
    return sink_.entry_end();
  }

  Result<void> next_data() {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(archive_, &data, &size, &offset);
    if (status == ARCHIVE_EOF) {
      state_ = State::kHeader;
      return sink_.entry_end();
    }
    if (status != ARCHIVE_OK) return failure();
    if (size == 0) return {};
    const auto from = static_cast<std::uint64_t>(offset);
    if (offset < 0 || from < at_ || from > size_ || size > size_ - from) {
      return damaged("has data outside of its file");
    }
    at_ = from + size;
    step_bytes_ += size;
    return sink_.data(from, ByteView(static_cast<const std::byte*>(data), size));
  }

  /// After the last entry: what is left is read, so that the checksum at its end counts.
  Result<void> drain() {
    tail_ += ready_size_;
    ready_.clear();
    ready_size_ = 0;
    if (tail_ > kLookahead + kMaxTail) return damaged("goes on after its last entry");
    if (!inflater_.is_at_end()) return {};
    state_ = State::kDone;
    return sink_.finish();
  }

  static la_ssize_t read(archive* self_archive, void* self, const void** data) {
    return static_cast<Impl*>(self)->give(self_archive, data);
  }

  la_ssize_t give(archive* self_archive, const void** data) {
    if (ready_.empty() && !inflater_.is_at_end()) {
      archive_set_error(self_archive, EINVAL, "a header is too large");
      return ARCHIVE_FATAL;
    }
    given_ = Bytes();
    if (!ready_.empty()) {
      given_ = std::move(ready_.front());
      ready_.pop_front();
      ready_size_ -= given_.size();
    }
    *data = given_.data();
    return static_cast<la_ssize_t>(given_.size());
  }

  Error failure() const {
    const char* words = archive_error_string(archive_);
    return damaged(std::string("is damaged: ") + (words != nullptr ? words : "not a tar"));
  }

  EntrySink& sink_;
  archive* archive_;
  Inflater inflater_;
  EntryOrder order_;
  State state_ = State::kOpen;
  std::deque<Bytes> ready_;  // decompressed
  std::size_t ready_size_ = 0;
  Bytes given_;  // what libarchive looks at
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
  std::size_t tail_ = 0;
  std::size_t step_bytes_ = 0;
  unsigned step_entries_ = 0;
};

ArchiveReader::ArchiveReader(EntrySink& sink) : impl_(std::make_unique<Impl>(sink)) {}
ArchiveReader::~ArchiveReader() = default;
void ArchiveReader::feed(Bytes piece) { impl_->feed(std::move(piece)); }
Result<ArchiveReader::Progress> ArchiveReader::step() { return impl_->step(); }

}  // namespace cove::snapshot
