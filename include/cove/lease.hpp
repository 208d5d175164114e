/// Named leases: one process at a time does what the name stands for, such as preparing a sandbox.
///
///     auto lease = co_await leases.acquire("prepare:" + sandbox.str(), call);
///     ... work, asking lease->held() before each side effect, with lease->token() as the calls'
///     fence ... co_await lease->release(call);
///
/// A lease is a document of the metadata store. Its holder renews it by itself, in the background,
/// for as long as it has the Lease; one that died is found out by its owner file or, elsewhere, by
/// the lease's end. Who waits has a ticket in the document: first come, first served between
/// processes, and within one process by a queue of its own.
///
/// On Cove's scheduler only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/ids.hpp>
#include <cove/task.hpp>

namespace cove {

/// A lease that this process has, until it is released, lost, or let go of.
class Lease {
 public:
  /// Gives it back without waiting.
  virtual ~Lease() = default;

  /// What it stands for, as "prepare:app-12ab".
  virtual const std::string& name() const = 0;

  /// Greater than that of every holder before: what refuses a lower one refuses a late holder.
  virtual std::uint64_t token() const = 0;

  /// True while two thirds of the lease's length are not over, counted by this machine's time since
  /// boot from before the newest renewal was sent. Nothing may be done under it afterwards.
  virtual bool held() const = 0;

  /// Requested when `held` ends, so that a long step ends too.
  virtual std::stop_token lost() const = 0;

  /// Renews it now, besides the renewals that go on by themselves. kConflict: it is lost.
  virtual Task<Result<void>> renew(const CallContext& call) = 0;

  /// Gives it back; success also where it was lost. After an error it ends by its expiry.
  virtual Task<Result<void>> release(const CallContext& call) = 0;
};

/// What is known of a name, for people.
struct LeaseStatus {
  std::uint64_t token = 0;       ///< of its newest holder
  OwnerId holder;                ///< empty = nobody has it
  StoreTime expires_at{};        ///< of the holder's
  std::vector<OwnerId> waiting;  ///< in the order of their tickets
};

/// Takes named leases of one metadata store.
class Leases {
 public:
  virtual ~Leases() = default;

  /// Waits for the lease until the call ends. Errors: kTimeout and kCancelled, which say who has
  /// it; kInvalidArgument - the name is not 1 to 512 bytes without NUL; kUnavailable - the store,
  /// or more than 256 processes wait for it. Cancellation: nothing happened; the ticket is taken
  /// back, or ends by itself.
  virtual Task<Result<std::unique_ptr<Lease>>> acquire(const std::string& name,
                                                       const CallContext& call) = 0;

  /// Reads who has the name and who waits; nothing where nobody ever had it.
  virtual Task<Result<std::optional<LeaseStatus>>> find(const std::string& name,
                                                        const CallContext& call) = 0;
};

}  // namespace cove
