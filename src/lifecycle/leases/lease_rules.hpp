/// The rules of a named lease, as pure functions on its document, and the document's JSON form.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cove/clock.hpp>
#include <cove/ids.hpp>
#include <cove/result.hpp>

namespace cove::lifecycle {

/// Names one holding, or one wait for it, of one process: 32 hex, random.
using LeaseHoldId = StrongId<struct LeaseHoldIdTag>;

/// A place in the queue.
struct LeaseTicket {
  LeaseHoldId id;
  OwnerId owner;
  StoreTime until{};  ///< it counts until then; renewed while its owner waits
};

/// The document of kind kLease; docs/formats.md has its JSON form.
struct LeaseDocument {
  std::string name;
  std::uint64_t token = 0;  ///< of the newest holder
  LeaseHoldId holder;       ///< empty = free
  OwnerId owner;
  StoreTime expires_at{};
  StoreTime changed_at{};            ///< when somebody last took, renewed or gave it back
  std::vector<LeaseTicket> waiters;  ///< in the order of their coming
};

inline constexpr std::size_t kMaxLeaseWaiters = 256;

/// Who asks, and when.
struct LeaseAsker {
  LeaseHoldId id;
  OwnerId owner;
  StoreTime now{};  ///< read before the document was
  std::chrono::milliseconds length{};
  std::function<bool(const OwnerId&)> is_dead;  ///< certainly
};

/// True where nobody has it any more.
bool is_free(const LeaseDocument& document, const LeaseAsker& asker);

/// The document with the asker as its holder; nothing where it is another's, or another's turn.
std::optional<LeaseDocument> take(LeaseDocument document, const LeaseAsker& asker);

/// The document with the asker's ticket, new or renewed; nothing where that is fresh enough.
/// `deadline`: the asker's own, by the store's time. kUnavailable: too many wait.
Result<std::optional<LeaseDocument>> queue_up(LeaseDocument document, const LeaseAsker& asker,
                                              std::optional<StoreTime> deadline);

/// Renews the holding. kConflict: it is not `id`'s any more.
Result<LeaseDocument> renew(LeaseDocument document, const LeaseHoldId& id, StoreTime now,
                            std::chrono::milliseconds length);

/// Takes out whatever `id` has in it: the lease or a ticket; nothing where it has none.
std::optional<LeaseDocument> withdraw(LeaseDocument document, const LeaseHoldId& id, StoreTime now);

std::string to_json(const LeaseDocument& document);

/// kIntegrity - not a lease of a version known here.
Result<LeaseDocument> parse_lease(std::string_view json);

}  // namespace cove::lifecycle
