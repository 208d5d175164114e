/// Files of any size between the guest and functions of the host, which are called on the calling
/// thread: the scheduler never waits for them.
#pragma once

#include <functional>

#include "client/guest_link.hpp"

namespace cove::client {

Result<void> download_to(GuestLink& link, const GuestPath& path,
                         const std::function<Result<void>(ByteView)>& sink,
                         const CallContext& call);

Result<FileInfo> upload_from(GuestLink& link, const GuestPath& path,
                             const std::function<Result<Bytes>()>& source,
                             const WriteOptions& options, const CallContext& call);

}  // namespace cove::client
