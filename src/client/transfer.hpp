/// Files and trees of any size between the guest and functions of the host, which are called on the
/// calling thread: the scheduler never waits for them.
#pragma once

#include <functional>

#include <cove/sandbox_files.hpp>

#include "client/guest_link.hpp"

namespace cove::client {

/// The host's end of a download.
struct Outlet {
  const ByteSink& sink;
  const Progress& progress;
};

/// The host's end of an upload.
struct Inlet {
  const ByteFeed& source;
  const Progress& progress;
};

Result<void> download_file(GuestLink& link, const GuestPath& path, const Outlet& outlet,
                           const CallContext& call);
Result<void> download_tree(GuestLink& link, const GuestPath& path, const Outlet& outlet,
                           const CallContext& call);
Result<FileInfo> upload_file(GuestLink& link, const GuestPath& path, const Inlet& inlet,
                             const WriteOptions& options, const CallContext& call);
Result<TreeCounts> upload_tree(GuestLink& link, const GuestPath& path, const Inlet& inlet,
                               const CallContext& call);

/// Tells `on_event` what changes, on the calling thread, until it answers false.
Result<void> follow_watch(GuestLink& link, const GuestPath& path, const WatchOptions& options,
                          const std::function<bool(const FileEvent&)>& on_event,
                          const CallContext& call);

/// Tells the callback what changes, on the scheduler, until the call ends. All references outlive
/// the task.
Task<Result<void>> run_watch(GuestLink& link, const GuestPath& path, const WatchOptions& options,
                             const std::function<void(std::vector<FileEvent>)>& on_events,
                             const CallContext& call);

}  // namespace cove::client
