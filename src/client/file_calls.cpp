#include "client/file_calls.hpp"

#include <algorithm>

#include "client/guest_calls.hpp"

namespace cove::client {
namespace {

/// Pieces of bytes that somebody else keeps.
class ViewSource final : public ByteSource {
 public:
  explicit ViewSource(ByteView bytes) : rest_(bytes) {}

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    constexpr std::size_t kPiece = 256 * 1024;
    const ByteView piece = rest_.first(std::min(kPiece, rest_.size()));
    rest_ = rest_.subspan(piece.size());
    co_return Bytes(piece.begin(), piece.end());
  }

 private:
  ByteView rest_;
};

Task<Result<Bytes>> read_from(Guest& guest, const GuestPath& path, const ReadRange& range,
                              const CallContext& call) {
  COVE_CO_TRY(const std::unique_ptr<ByteSource> source,
              co_await guest.read_file(path, range, call));
  Bytes all;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source->next(call));
    if (piece.empty()) co_return all;
    if (all.size() + piece.size() > kMostReadAtOnce) {
      co_return Error(ErrorCode::kTooLarge,
                      "'" + path.path +
                          "' is larger than the 64 MiB that read_file gives at once; "
                          "read a range of it, or use download");
    }
    all.insert(all.end(), piece.begin(), piece.end());
  }
}

}  // namespace

Task<Result<Bytes>> read_whole(GuestLink& link, const GuestPath& path, const ReadRange& range,
                               const CallContext& call) {
  auto ask = [&path, &range](Guest& guest, const CallContext& inner) {
    return read_from(guest, path, range, inner);
  };
  co_return co_await ask_guest<Bytes>(link, Repeat::kOnce, call, ask);
}

Task<Result<std::unique_ptr<ByteSource>>> open_file(GuestLink& link, const GuestPath& path,
                                                    const CallContext& call) {
  const ReadRange whole;
  auto ask = [&path, &whole](Guest& guest, const CallContext& inner) {
    return guest.read_file(path, whole, inner);
  };
  co_return co_await ask_guest<std::unique_ptr<ByteSource>>(link, Repeat::kOnce, call, ask);
}

Task<Result<FileInfo>> write_whole(GuestLink& link, const GuestPath& path, ByteView content,
                                   const WriteOptions& options, const CallContext& call) {
  ViewSource source(content);
  co_return co_await write_from(link, path, source, options, call);
}

Task<Result<FileInfo>> write_from(GuestLink& link, const GuestPath& path, ByteSource& content,
                                  const WriteOptions& options, const CallContext& call) {
  auto ask = [&path, &content, &options](Guest& guest, const CallContext& inner) {
    return guest.write_file(path, content, options, inner);
  };
  co_return co_await ask_guest<FileInfo>(link, Repeat::kNever, call, ask);
}

Task<Result<FileInfo>> stat_path(GuestLink& link, const GuestPath& path, const CallContext& call) {
  auto ask = [&path](Guest& guest, const CallContext& inner) { return guest.stat(path, inner); };
  co_return co_await ask_guest<FileInfo>(link, Repeat::kOnce, call, ask);
}

Task<Result<FilePage>> list_path(GuestLink& link, const GuestPath& path, const ListOptions& options,
                                 const CallContext& call) {
  auto ask = [&path, &options](Guest& guest, const CallContext& inner) {
    return guest.list(path, options, inner);
  };
  co_return co_await ask_guest<FilePage>(link, Repeat::kOnce, call, ask);
}

Task<Result<void>> make_directory_at(GuestLink& link, const GuestPath& path,
                                     const CallContext& call) {
  auto ask = [&path](Guest& guest, const CallContext& inner) {
    return guest.make_directory(path, inner);
  };
  // Making what is there is success, so asking twice does no harm.
  co_return co_await ask_guest<void>(link, Repeat::kOnce, call, ask);
}

Task<Result<void>> remove_path(GuestLink& link, const GuestPath& path, bool recursive,
                               const CallContext& call) {
  auto ask = [&path, recursive](Guest& guest, const CallContext& inner) {
    return guest.remove(path, recursive, inner);
  };
  co_return co_await ask_guest<void>(link, Repeat::kNever, call, ask);
}

}  // namespace cove::client
