/// Admission: which calls may begin, and which still run.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

#include <sys/types.h>

#include <cove/call_context.hpp>

#include "client/call_gate.hpp"

namespace cove::runtime {

/// Any thread. Held by std::shared_ptr: each scope keeps it.
class Admission : public std::enable_shared_from_this<Admission> {
 public:
  Admission();

  /// Admits a call. kFailedPrecondition: closed, or in a child of fork().
  Result<std::unique_ptr<client::CallScope>> begin(const CallContext& call);

  /// True in a child of fork(): threads and locks of the parent are not there.
  bool forked() const noexcept;

  /// Admits no more, and cancels what runs. Harmless twice.
  void close();
  bool closed() const;

  /// Blocks until nothing that was admitted runs.
  void wait_idle();

 private:
  class Scope;
  void leave();

  const pid_t pid_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t running_ = 0;
  bool closed_ = false;
  std::stop_source closing_;
};

}  // namespace cove::runtime
