/// The file calls of a client: each is a value that knows what to ask of a guest, so that the
/// blocking and the callback form are the same call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/guest_calls.hpp"
#include "client/guest_link.hpp"

namespace cove::client {

constexpr std::uint64_t kMostReadAtOnce = 64ULL << 20;  // bytes that read_file keeps in memory

struct ReadCall {
  using Value = FileContent;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  ReadRange range;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

struct OpenCall {
  using Value = GuestFile;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  ReadRange range;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.read_file(path, range, call);
  }
};

struct ReadLinesCall {
  using Value = LineSlice;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  LineRange range;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.read_lines(path, range, call);
  }
};

/// `content` outlives the task.
struct WriteCall {
  using Value = FileInfo;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath path;
  ByteView content;
  WriteOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

/// The same of content that is the call's own.
struct WriteOwnCall {
  using Value = FileInfo;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath path;
  Bytes content;
  WriteOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

/// `source` outlives the task.
struct UploadCall {
  using Value = FileInfo;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath path;
  WriteOptions options;
  ByteSource* source;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.write_file(path, *source, options, call);
  }
};

struct EditCall {
  using Value = EditResult;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath path;
  std::vector<Edit> edits;
  EditOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.edit_file(path, edits, options, call);
  }
};

struct StatCall {
  using Value = FileInfo;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.stat(path, call);
  }
};

struct ListCall {
  using Value = FilePage;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  ListOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.list(path, options, call);
  }
};

struct MakeDirectoryCall {
  using Value = void;
  // Making what is there is success, so asking twice does no harm.
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.make_directory(path, call);
  }
};

struct RemoveCall {
  using Value = void;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath path;
  bool recursive;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.remove(path, recursive, call);
  }
};

struct MoveCall {
  using Value = FileInfo;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath from;
  GuestPath to;
  MoveOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.move(from, to, options, call);
  }
};

struct CopyCall {
  using Value = TreeCounts;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath from;
  GuestPath to;
  CopyOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.copy(from, to, options, call);
  }
};

struct SetModeCall {
  using Value = FileInfo;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  std::uint32_t mode;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.set_mode(path, mode, call);
  }
};

struct MakeSymlinkCall {
  using Value = FileInfo;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath path;
  std::string target;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.make_symlink(path, target, call);
  }
};

struct OpenTreeCall {
  using Value = std::unique_ptr<ByteSource>;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.read_tree(path, call);
  }
};

/// `archive` outlives the task.
struct WriteTreeCall {
  using Value = TreeCounts;
  static constexpr Repeat kRepeat = Repeat::kNever;
  GuestPath path;
  ByteSource* archive;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.write_tree(path, *archive, call);
  }
};

struct WatchCall {
  using Value = std::unique_ptr<GuestWatch>;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  GuestPath path;
  WatchOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.watch(path, options, call);
  }
};

/// Edits several files of a session, those of one path together. See SandboxFiles::edit_files.
Task<Result<std::vector<Result<EditResult>>>> edit_many(GuestLink& link, std::string session,
                                                        std::vector<FileEdit> edits,
                                                        const CallContext& call);

}  // namespace cove::client
