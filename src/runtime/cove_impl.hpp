/// What the parts of the facade share: cove.cpp has the calls on one workspace, cove_deployment.cpp
/// those on many.
#pragma once

#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include <cove/cove.hpp>

#include "runtime/assembly/disk_reserve.hpp"
#include "runtime/core.hpp"

namespace cove {

/// What a Cove and its copies share.
class Cove::Impl {
 public:
  explicit Impl(std::shared_ptr<runtime::Core> its_core) : core(std::move(its_core)) {}

  ~Impl() {
    if (core->forked()) return;
    if (core->close(std::chrono::seconds(10))) return;
    // On the I/O thread nobody can wait, and after a timeout it goes on by itself. Where not even a
    // thread could be had, the parts are left as they are.
    if (!core->start_closing())
      static_cast<void>(new (std::nothrow) std::shared_ptr<runtime::Core>(core));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::shared_ptr<runtime::Core> core;
};

namespace runtime {

/// Runs what gives room back, with the room that is kept for it.
template <class T>
Task<Result<T>> with_reserve(Core& core, Task<Result<T>> work) {
  auto& parts = core.parts();
  const runtime::DiskReserve reserve(*parts.state_directory);
  const auto lend = [reserve] { return reserve.lend(); };
  const auto restore = [reserve] { return reserve.restore(); };
  static_cast<void>(co_await base::offload(*parts.blocking, *parts.loop, lend));
  Result<T> result = co_await work;
  static_cast<void>(co_await base::offload(*parts.blocking, *parts.loop, restore));
  co_return result;
}

}  // namespace runtime
}  // namespace cove
