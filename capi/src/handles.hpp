/// What stands behind the opaque handles that have a Cove behind them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include <cove/cove.hpp>

#include "callbacks.hpp"
#include "host_observer.hpp"
#include "parts/clock.hpp"

namespace cove::capi {

/// One open Cove, shared by its handle and its children; the last of them closes it.
class Library {
 public:
  Library(Cove cove, std::shared_ptr<HostObserver> observer, std::shared_ptr<const Clock> clock)
      : clock_(std::move(clock)), cove_(std::move(cove)), observer_(std::move(observer)) {}

  /// Closes without waiting; what is still going on ends on a thread of its own.
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Cove& cove() const noexcept { return cove_; }
  Cove& cove() noexcept { return cove_; }

  HostObserver& observer() noexcept { return *observer_; }

  /// What the Cove goes by.
  const Clock& clock() const noexcept { return *clock_; }

  /// True in a child of fork: threads and locks of the parent's are not here.
  bool is_forked() const noexcept { return ::getpid() != process_; }

 private:
  const std::shared_ptr<const Clock> clock_;
  Cove cove_;
  const std::shared_ptr<HostObserver> observer_;
  const pid_t process_ = ::getpid();
};

using LibraryPtr = std::shared_ptr<Library>;

/// Whether a call may start (kFailedPrecondition after a fork), and whether it may wait.
Result<void> check_usable(const Library& library);
Result<void> check_may_wait(const Library& library);

/// Frees a handle that has a `library`; after a fork it is left, with what it shares.
template <class Handle>
void free_handle(Handle* handle) noexcept {
  if (handle != nullptr && !handle->library->is_forked()) delete handle;
}

/// Calls `step`, a member function, of the work that goes on behind `handle`; after a fork not.
template <class Handle, class Step>
void steer(const Handle* handle, Step step) {
  if (handle == nullptr || handle->library->is_forked()) return;
  const auto& work = handle->handle;
  if (work) ((*work).*step)();
}

}  // namespace cove::capi

struct cove_handle {
  cove::capi::LibraryPtr library;
};

struct cove_workspace {
  cove_workspace(cove::capi::LibraryPtr its_library, cove::Workspace its_workspace)
      : library(std::move(its_library)),
        workspace(std::move(its_workspace)),
        client(workspace.client()),
        directory(workspace.directory()),
        sandbox_id(workspace.sandbox_id().str()),
        work(workspace.work()) {}

  cove::capi::LibraryPtr library;  // first: it ends last
  cove::Workspace workspace;
  cove::SandboxClient client;
  const std::string directory;
  const std::string sandbox_id;
  const cove::AcquireWork work;
};

struct cove_process {
  cove::capi::LibraryPtr library;
  std::optional<cove::ExecHandle> handle;  // set before the host sees it
};

struct cove_watch {
  cove::capi::LibraryPtr library;
  std::optional<cove::WatchHandle> handle;  // set before the host sees it
};

struct cove_search {
  cove::capi::LibraryPtr library;
  std::optional<cove::SearchHandle> handle;  // set before the host sees it
};

struct cove_download {
  cove::capi::LibraryPtr library;
  std::optional<cove::DownloadHandle> handle;  // set before the host sees it
};

struct cove_upload {
  cove::capi::LibraryPtr library;
  std::optional<cove::UploadHandle> handle;  // set before the host sees it
};

namespace cove::capi {

/// The guarded body of a call through `handle` that waits: body(handle's type&).
template <class Handle, class Body>
cove_status waiting_call(Handle* handle, const char* name, cove_error** out_error,
                         Body&& body) noexcept {
  return guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(require(handle, name));
    COVE_TRY_VOID(check_may_wait(*handle->library));
    const ClockScope clock(handle->library->clock());
    return body(*handle);
  });
}

/// The guarded body of a call through `handle` that starts: body(handle's type&, reply).
template <class Out, class Handle, class Body>
cove_status starting_call(Handle* handle, const char* name, cove_error** out_error,
                          typename Reply<Out>::Function done, void* user_data, cove_drop_fn drop,
                          Body&& body) noexcept {
  return guarded_start<Out>(out_error, done, user_data, drop,
                            [&](const std::shared_ptr<Reply<Out>>& reply) -> Result<void> {
                              COVE_TRY_VOID(require(handle, name));
                              COVE_TRY_VOID(check_usable(*handle->library));
                              const ClockScope clock(handle->library->clock());
                              return body(*handle, reply);
                            });
}

/// A completion of the facade that answers `reply` with make(value).
template <class T, class Out, class Make>
std::function<void(Result<T>)> answer(std::shared_ptr<Reply<Out>> reply, Make make) {
  return [reply = std::move(reply), make](Result<T> result) {
    reply->send([&]() -> typename Reply<Out>::Made {
      if (!result) return result.error();
      return make(*std::move(result));
    });
  };
}

/// The same for a call that gives nothing back.
inline std::function<void(Result<void>)> answer(std::shared_ptr<Reply<void>> reply) {
  return [reply = std::move(reply)](Result<void> result) { reply->send([&] { return result; }); };
}

}  // namespace cove::capi
