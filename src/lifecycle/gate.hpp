/// One at a time within this process: who works on what a name stands for, and who waits to.
///
/// The record, or the lease, says which process may act; the gate keeps the callers of one process
/// from asking the store for it over and over. On the scheduler's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

namespace cove::lifecycle {

/// Why somebody waits; the later ones call off what an earlier one may give up.
enum class Urgency : std::uint8_t { kCanWait, kUser, kDestroy };

class Gates {
 public:
  class Hold;

  explicit Gates(Scheduler& scheduler);

  /// Waits for its turn with the name, first come first served, until the call ends.
  Task<Result<std::shared_ptr<Hold>>> enter(std::string name, Urgency urgency,
                                            const CallContext& call);

  /// Null where somebody is there already.
  std::shared_ptr<Hold> try_enter(const std::string& name);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A turn; its end lets the next one in.
class Gates::Hold {
 public:
  Hold(std::shared_ptr<State> state, std::string name);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// True while somebody with this urgency, or a greater one, waits.
  bool is_wanted(Urgency urgency) const;

  /// Calls `call_off` whenever somebody more urgent than kCanWait begins to wait; empty ends that.
  void on_wanted(std::function<void(Urgency)> call_off);

 private:
  std::shared_ptr<State> state_;
  std::string name_;
};

}  // namespace cove::lifecycle
