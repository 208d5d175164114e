/// Memory: what this process knows of preparations, so that a warm acquire asks nobody.
///
/// Bounded: what was used longest ago is forgotten, which costs a round trip. On the scheduler
/// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

#include <cove/prepare.hpp>
#include <cove/provider.hpp>

namespace cove::prepare {

/// A step that failed, and when it may be tried again.
struct Failure {
  std::string hash;  ///< of the fingerprint that failed
  std::uint32_t failures = 0;
  Instant retry_at{};
  std::string reason;
};

/// A required step that failed: whoever waited for that attempt gets its error, instead of making
/// another one each.
struct Refusal {
  std::string step;
  std::string hash;
  std::uint64_t number = 0;  ///< of all refusals of this process
  Error error;
};

/// A preparation that was made.
struct Prepared {
  std::string fingerprint;
  PrepareReport report;
  Instant at{};
  std::optional<Instant> until;  ///< when a step of it may be tried again
};

/// What is known of one sandbox's instance.
class SandboxMemory {
 public:
  static constexpr std::size_t kMostPrepared = 64;

  const InstanceRef& instance() const noexcept { return instance_; }

  /// Another instance: all is forgotten but the failures, whose inputs are the same.
  void move_to(const InstanceRef& instance);

  /// The preparation with these inputs; null where there was none, or a failed step of it may be
  /// tried again by now.
  const Prepared* find(const std::string& fingerprint, Instant now);

  void note(Prepared prepared);

  /// After a step was applied that others take back, whose reports do not have it.
  void forget_all() { prepared_.clear(); }

  /// After `step` was applied for other inputs than before: who prepared it for those is not
  /// prepared any more.
  void forget(const std::string& step);

  static constexpr std::size_t kMostFailures = 256;

  std::map<std::string, Failure> failures;  ///< by step; bounded by `make_room`

  /// Forgets some failure where there are too many: its step is tried sooner than it need be.
  void make_room() {
    if (failures.size() >= kMostFailures) failures.erase(failures.begin());
  }
  std::optional<Refusal> refusal;

 private:
  InstanceRef instance_;
  std::list<Prepared> prepared_;  // what was used last stands first
};

class Memory {
 public:
  static constexpr std::size_t kMostSandboxes = 1024;

  /// What is known of a sandbox; it stays where it is until `of` or `forget` is called again.
  SandboxMemory& of(const InstanceRef& instance);

  /// The same without making anything; null where nothing is known of this very instance.
  SandboxMemory* find(const InstanceRef& instance);

 private:
  using Known = std::pair<SandboxId, SandboxMemory>;

  std::list<Known> known_;  // what was used last stands first
  std::map<SandboxId, std::list<Known>::iterator> places_;
};

}  // namespace cove::prepare
