/// Resolver: addresses of names, asked for on a few threads of its own, since getaddrinfo blocks
/// for as long as a name server likes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/result.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "network/rules/ip_address.hpp"

namespace cove::network {

class Resolver {
 public:
  /// The addresses of a name, in the order in which to try them. On one of the threads; may block.
  using Lookup = std::function<Result<std::vector<IpAddress>>(const std::string& name)>;

  /// getaddrinfo. Errors: kNotFound - no such name, or no address; kUnavailable - nobody knows now.
  static Result<std::vector<IpAddress>> ask_system(const std::string& name);

  /// `scheduler` is borrowed and outlives this. Threads begin when they are first needed, at most
  /// `threads`.
  Resolver(Scheduler& scheduler, Lookup lookup, unsigned threads);

  /// Waits for nobody: a thread that is still asking ends by itself, and its answer goes nowhere.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Errors: as the lookup; kQuotaExceeded - too many wait already; kTimeout, kCancelled. The
  /// answer that a call does not wait for any more is dropped.
  Task<Result<std::vector<IpAddress>>> resolve(const std::string& name, const CallContext& call);

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state);

  Scheduler& scheduler_;
  std::shared_ptr<State> state_;
};

}  // namespace cove::network
