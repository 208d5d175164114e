/// The file operations of a client, as coroutines on the scheduler. All references outlive the
/// task.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/guest_link.hpp"

namespace cove::client {

constexpr std::uint64_t kMostReadAtOnce = 64ULL << 20;  // bytes that read_file keeps in memory

Task<Result<Bytes>> read_whole(GuestLink& link, const GuestPath& path, const ReadRange& range,
                               const CallContext& call);
Task<Result<std::unique_ptr<ByteSource>>> open_file(GuestLink& link, const GuestPath& path,
                                                    const CallContext& call);
Task<Result<FileInfo>> write_whole(GuestLink& link, const GuestPath& path, ByteView content,
                                   const WriteOptions& options, const CallContext& call);
Task<Result<FileInfo>> write_from(GuestLink& link, const GuestPath& path, ByteSource& content,
                                  const WriteOptions& options, const CallContext& call);
Task<Result<FileInfo>> stat_path(GuestLink& link, const GuestPath& path, const CallContext& call);
Task<Result<FilePage>> list_path(GuestLink& link, const GuestPath& path, const ListOptions& options,
                                 const CallContext& call);
Task<Result<void>> make_directory_at(GuestLink& link, const GuestPath& path,
                                     const CallContext& call);
Task<Result<void>> remove_path(GuestLink& link, const GuestPath& path, bool recursive,
                               const CallContext& call);

}  // namespace cove::client
