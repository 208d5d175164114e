// What a part of the host gets where there is a loop and a clock, and no Cove.
#pragma once

#include <memory>

#include <cove/parts.hpp>

#include "base/async/io_loop.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::test {

/// No agent can be reached.
class LoopTools final : public PartTools {
 public:
  LoopTools(base::IoLoop& loop, const Clock& clock) : loop_(loop), clock_(clock) {}

  Scheduler& scheduler() const override { return loop_; }
  const Clock& clock() const override { return clock_; }
  Task<Result<std::shared_ptr<Guest>>> reach_agent(int socket, const InstanceRef&,
                                                   const CallContext&) const override {
    const base::UniqueFd taken(socket);
    co_return Error(ErrorCode::kUnsupported, "there are no agents here");
  }
  bool is_connected(const Guest&) const override { return false; }

 private:
  base::IoLoop& loop_;
  const Clock& clock_;
};

}  // namespace cove::test
