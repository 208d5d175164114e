/// What answers in a simulated instance: its status and sync; nothing else is needed.
#pragma once

#include <cove/guest.hpp>

#include "support/fakes/no_files.hpp"
#include "support/sim/sim_provider.hpp"

namespace cove::testing {

class SimGuest final : public NoFiles<Guest> {
 public:
  SimGuest(SimHost& host, SimNode& node, InstanceRef instance)
      : host_(host), node_(node), instance_(std::move(instance)) {}

  GuestCapabilities capabilities() const override { return {}; }

  Task<Result<GuestStatus>> status(const CallContext& call) override {
    const auto effect = [node = &node_, instance = instance_]() -> Result<GuestStatus> {
      const auto found = node->instances.find(instance);
      if (found == node->instances.end()) return gone();
      GuestStatus status;
      status.epoch = instance.epoch;
      status.running_commands = found->second.running_commands;
      status.keep_alive_commands = found->second.keep_alive_commands;
      return status;
    };
    co_return co_await remote<GuestStatus>(host_, "guest status", effect, call);
  }

  Task<Result<void>> hold_commands(const std::string& by, std::chrono::milliseconds length,
                                   const CallContext& call) override {
    const auto effect = [node = &node_, instance = instance_, by, length]() -> Result<void> {
      const auto found = node->instances.find(instance);
      if (found == node->instances.end()) return gone();
      SimInstance& held = found->second;
      if (length.count() == 0 && held.held_by != by) return ok();
      held.held_by = by;
      held.held_until = length.count() == 0 ? Instant{} : node->world.now() + length;
      return ok();
    };
    co_return co_await remote<void>(host_, "guest hold", effect, call);
  }

  Task<Result<void>> sync(const CallContext& call) override {
    const auto effect = [node = &node_, instance = instance_]() -> Result<void> {
      if (!node->instances.contains(instance)) return gone();
      node->sync(instance.volume);
      return ok();
    };
    co_return co_await remote<void>(host_, "guest sync", effect, call);
  }

  Task<Result<ExecResult>> run(const std::string&, const ExecSpec&, const CallContext&) override {
    co_return unsupported();
  }
  Task<Result<std::shared_ptr<GuestProcess>>> start(const std::string&, const ExecSpec&, bool,
                                                    const CallContext&) override {
    co_return unsupported();
  }
  Task<Result<ProcessInfo>> start_process(const std::string&, const ExecSpec&,
                                          const ProcessOptions&, const CallContext&) override {
    co_return unsupported();
  }
  Task<Result<std::vector<ProcessInfo>>> list_processes(const CallContext&) override {
    co_return unsupported();
  }
  Task<Result<ProcessInfo>> find_process(const ProcessId&, const CallContext&) override {
    co_return unsupported();
  }
  Task<Result<OutputSlice>> process_output(const ProcessId&, const OutputRequest&,
                                           const CallContext&) override {
    co_return unsupported();
  }
  Task<Result<std::shared_ptr<GuestProcess>>> attach(const ProcessId&, const AttachOptions&,
                                                     const CallContext&) override {
    co_return unsupported();
  }
  Task<Result<void>> remove_process(const ProcessId&, const CallContext&) override {
    co_return unsupported();
  }

 private:
  static Error gone() { return Error(ErrorCode::kUnavailable, "the instance is gone"); }
  static Error unsupported() { return Error(ErrorCode::kUnsupported, "not simulated"); }

  SimHost& host_;
  SimNode& node_;
  InstanceRef instance_;
};

}  // namespace cove::testing
