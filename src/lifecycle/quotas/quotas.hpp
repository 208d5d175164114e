/// How many sandboxes run at once: places that a start takes and a stop gives back.
///
/// A record says first that it is being started, then its places are taken, then something starts.
/// A place is taken out of its document only while the record, read after the document, does not
/// need it: so there are never more than the limit, and a place that a dead host left is found
/// again. Every taking writes the document, also where the place is there already, so that whoever
/// is about to take it out notices.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "lifecycle/gate.hpp"
#include "lifecycle/quotas/places.hpp"
#include "lifecycle/records/record_store.hpp"

namespace cove::lifecycle {

/// How much of a quota is in use.
struct QuotaUse {
  std::uint32_t limit = 0;     ///< of one document: of the deployment, a source, a user
  std::uint64_t places = 0;    ///< taken, over all of them
  std::uint32_t fullest = 0;   ///< taken in the one that has the most
  std::uint64_t at_limit = 0;  ///< how many have no place left
};

class Quotas {
 public:
  Quotas(MetadataStore& store, RecordStore& records, Scheduler& scheduler, const Clock& clock,
         const RunningQuotas& limits);

  /// Takes the places that the record needs. REQUIRES: it says that it is being started.
  /// Errors: kQuotaExceeded - says what is in use; the store's.
  Task<Result<void>> take(Record record, const CallContext& call);

  /// Gives back the places that a record no longer needs; nothing where it does.
  Task<Result<void>> give_back(Record record, const CallContext& call);

  /// Looks through all places for those that nobody needs. Returns how many it freed.
  Task<Result<std::uint32_t>> reclaim_all(const CallContext& call);

  /// How much is in use, by the quota's name in the configuration; of those that are limited here.
  /// Reads each quota's document once: one for each source and user that runs something.
  Task<Result<std::map<std::string, QuotaUse>>> in_use(const CallContext& call);

 private:
  struct Stored {
    Places places;
    std::optional<Version> version;  // none = it is not in the store yet
  };

  bool is_limited() const;
  Task<Result<void>> count_running(const CallContext& call);
  Task<Result<void>> add(QuotaScope scope, std::vector<SandboxId> sandboxes,
                         const CallContext& call);
  Task<Result<void>> take_one(QuotaScope scope, SandboxId sandbox, const CallContext& call);
  Task<Result<void>> give_back_one(QuotaScope scope, SandboxId sandbox, const CallContext& call);
  Task<Result<std::uint32_t>> reclaim(std::string document, std::string source,
                                      const CallContext& call);
  Task<Result<Stored>> load(std::string document, std::string of, const CallContext& call);
  Task<Result<void>> replace(std::string document, std::string source, Stored known, Places next,
                             const CallContext& call);
  bool may_reclaim(const std::string& document);

  MetadataStore& store_;
  RecordStore& records_;
  const Clock& clock_;
  RunningQuotas limits_;
  Gates gates_;
  bool counted_ = false;                      // what ran before this process had these limits
  std::map<std::string, Instant> reclaimed_;  // when, by document
};

}  // namespace cove::lifecycle
