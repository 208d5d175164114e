#include "lifecycle/leases/lease_rules.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "lifecycle/records/json_reader.hpp"

namespace cove::lifecycle {
namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 1;

bool counts(const LeaseTicket& ticket, const LeaseAsker& asker) {
  return ticket.until > asker.now && !asker.is_dead(ticket.owner);
}

std::vector<LeaseTicket>::iterator ticket_of(LeaseDocument& document, const LeaseHoldId& id) {
  return std::find_if(document.waiters.begin(), document.waiters.end(),
                      [&](const LeaseTicket& ticket) { return ticket.id == id; });
}

void drop_dead_tickets(LeaseDocument& document, const LeaseAsker& asker) {
  std::erase_if(document.waiters, [&](const LeaseTicket& ticket) {
    return ticket.id != asker.id && !counts(ticket, asker);
  });
}

std::int64_t millis(StoreTime time) { return time.time_since_epoch().count(); }

/// Greater than every one before, also where the document was removed meanwhile.
std::uint64_t next_token(const LeaseDocument& document, StoreTime now) {
  const auto by_time = static_cast<std::uint64_t>(std::max<std::int64_t>(millis(now), 1));
  return std::max(document.token + 1, by_time);
}

}  // namespace

bool is_free(const LeaseDocument& document, const LeaseAsker& asker) {
  return document.holder.empty() || document.expires_at < asker.now ||
         asker.is_dead(document.owner);
}

std::optional<LeaseDocument> take(LeaseDocument document, const LeaseAsker& asker) {
  if (!is_free(document, asker)) return std::nullopt;
  drop_dead_tickets(document, asker);
  const bool has_turn = document.waiters.empty() || document.waiters.front().id == asker.id;
  if (!has_turn) return std::nullopt;
  if (!document.waiters.empty()) document.waiters.erase(document.waiters.begin());
  document.token = next_token(document, asker.now);
  document.holder = asker.id;
  document.owner = asker.owner;
  document.expires_at = asker.now + asker.length;
  document.changed_at = asker.now;
  return document;
}

Result<std::optional<LeaseDocument>> queue_up(LeaseDocument document, const LeaseAsker& asker,
                                              std::optional<StoreTime> deadline) {
  StoreTime until = asker.now + asker.length;
  if (deadline) until = std::min(until, *deadline);
  const auto mine = ticket_of(document, asker.id);
  if (mine != document.waiters.end()) {
    const bool fresh = mine->until >= until || mine->until - asker.now > asker.length / 2;
    if (fresh) return std::optional<LeaseDocument>();
    mine->until = until;
    return std::optional<LeaseDocument>(std::move(document));
  }
  drop_dead_tickets(document, asker);
  if (document.waiters.size() >= kMaxLeaseWaiters) {
    return Error(ErrorCode::kUnavailable,
                 "lease '" + document.name + "' is waited for by too many processes")
        .with_retry_after(asker.length);
  }
  document.waiters.push_back(LeaseTicket{asker.id, asker.owner, until});
  return std::optional<LeaseDocument>(std::move(document));
}

Result<LeaseDocument> renew(LeaseDocument document, const LeaseHoldId& id, StoreTime now,
                            std::chrono::milliseconds length) {
  if (document.holder != id) {
    return Error(ErrorCode::kConflict, "lease '" + document.name + "' was taken by another");
  }
  document.expires_at = now + length;
  document.changed_at = now;
  return document;
}

std::optional<LeaseDocument> withdraw(LeaseDocument document, const LeaseHoldId& id,
                                      StoreTime now) {
  const auto mine = ticket_of(document, id);
  const bool waits = mine != document.waiters.end();
  const bool holds = document.holder == id;
  if (!waits && !holds) return std::nullopt;
  if (waits) document.waiters.erase(mine);
  if (holds) {
    document.holder = LeaseHoldId();
    document.owner = OwnerId();
    document.expires_at = StoreTime{};
    document.changed_at = now;
  }
  return document;
}

std::string to_json(const LeaseDocument& document) {
  json waiters = json::array();
  for (const LeaseTicket& ticket : document.waiters) {
    waiters.push_back(
        {{"id", ticket.id.str()}, {"owner", ticket.owner.str()}, {"until", millis(ticket.until)}});
  }
  return base::dump_json({{"version", kVersion},
                          {"name", document.name},
                          {"token", document.token},
                          {"holder", document.holder.str()},
                          {"owner", document.owner.str()},
                          {"expires_at", millis(document.expires_at)},
                          {"changed_at", millis(document.changed_at)},
                          {"waiters", std::move(waiters)}});
}

Result<LeaseDocument> parse_lease(std::string_view text) {
  auto parsed = base::parse_json(text);
  if (!parsed) return Error(ErrorCode::kIntegrity, "not a lease").with_cause(parsed.error());
  JsonReader reader(*parsed, "lease");
  if (reader.number("version") != kVersion) {
    return Error(ErrorCode::kIntegrity, "not a lease of version 1");
  }
  LeaseDocument document;
  document.name = reader.text("name");
  document.token = reader.number("token");
  document.holder = reader.id<LeaseHoldId>("holder");
  document.owner = reader.id<OwnerId>("owner");
  document.expires_at = reader.time("expires_at");
  document.changed_at = reader.time("changed_at");
  for (const json& element : reader.array("waiters")) {
    JsonReader ticket(element, "ticket");
    document.waiters.push_back(
        {ticket.id<LeaseHoldId>("id"), ticket.id<OwnerId>("owner"), ticket.time("until")});
    reader.merge(ticket.finish());
  }
  COVE_TRY_VOID(reader.finish());
  return document;
}

}  // namespace cove::lifecycle
