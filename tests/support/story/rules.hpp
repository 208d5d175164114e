/// The rules of docs/lifecycle.md, watched in a simulated world: after every effect of every call
/// it is checked that no acknowledged file is lost, and at every swap that the record may become
/// that.
///
/// It knows nothing of how the manager works: it sees the records, the disks and the objects.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/sim/sim_cluster.hpp"

namespace cove::testing {

/// Somebody asks for what ends more than a record's life allows by itself; open until it is
/// answered, or until what its dead host had sent cannot arrive any more.
struct Ask {
  enum class Kind : std::uint8_t {
    kDestroy,  ///< the files may go
    kCancel,   ///< what runs may be ended
  };
  Kind kind = Kind::kDestroy;
  std::string subject;  ///< a sandbox id, or `source_type/source_id`
  const SimHost* host = nullptr;
  std::optional<Instant> ended;
};

/// Files where they lie; valid until the next step of the world.
using FileSets = std::vector<const SimFiles*>;

/// True where the record says that this very instance runs.
bool names_instance(const Record& record, const InstanceRef& instance);

class Rules {
 public:
  /// Watches until its end. The cluster outlives it.
  explicit Rules(SimCluster& cluster);
  ~Rules();
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  /// Begins to watch a machine's disks.
  void watch(SimNode& node);

  /// How histories call a sandbox.
  void name_sandbox(const SandboxId& sandbox, const std::string& name) { names_[sandbox] = name; }
  std::string name_of(const SandboxId& sandbox) const;

  std::shared_ptr<Ask> begin_ask(Ask::Kind kind, const std::string& subject, const SimHost& host);
  /// It was answered. One that timed out does not know what of it is still on its way.
  void end_ask(Ask& ask, const Result<void>& answer) const;

  /// An object that the story damaged: it is no fault of the lifecycle.
  void excuse(const std::string& object) { excused_.insert(object); }

  /// What was written and acknowledged and must be there, machine by machine.
  FileSets promised(const Record& record) const;

  /// What would be there if the sandbox were woken now, the newer of a name first; none where that
  /// cannot be said.
  std::optional<FileSets> kept(const Record& record) const;

  /// True where record or tombstone says that the volume may be deleted.
  bool is_doomed(const VolumeRef& volume) const;

  /// True where the sandbox's tombstone has a grave of this life.
  bool is_buried(const Record& record) const;

  /// Checks the files of one sandbox.
  void check_files(const Record& record);

 private:
  void on_change(const Record* before, const Record* after);
  void on_rollback(const Record* lost, const Record* restored);
  void on_erase(const VolumeRef& volume, const SimVolume& content);
  void on_stop(const SimNode& node, const InstanceRef& instance);
  void on_effect();

  void check_removal(const Record& before);
  void check_operation(const Record& before, const Record& after);
  void check_same(const Record& before, const Record& after);
  void check_next(const Record& before, const Record& after);
  void check_end(const Record& before, const Record& after);
  void check_claim(const Record& before, const Record& after);
  void check_lost(const Record& before);
  void check_garbage(const Record& before, const Record& after);
  void check_taken_off(const Record& before, const Record& after);
  bool is_allowed(Ask::Kind kind, const Record& record) const;
  std::optional<StoreTime> end_of(const Ask& ask) const;
  void wrong(const Record& record, const std::string& what);
  void tell(const Record* before, const Record* after);

  SimCluster& cluster_;
  std::vector<SimNode*> nodes_;
  std::vector<std::shared_ptr<Ask>> asks_;
  std::set<std::string> excused_;
  std::map<SandboxId, std::string> names_;
  std::set<std::string> said_;  // once is enough
  std::uint64_t seen_ = 0;      // what had changed at the last check
};

}  // namespace cove::testing
