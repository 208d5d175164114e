/// SkillShelf: the host's side of skills. Reads packages from where they are, once at a time, and
/// remembers what it knows of them: a version never changes.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cove/clock.hpp>
#include <cove/id_source.hpp>
#include <cove/object_store.hpp>
#include <cove/prepare_inputs.hpp>
#include <cove/scheduler.hpp>
#include <cove/skills.hpp>

#include "base/async/completion.hpp"
#include "base/async/worker_pool.hpp"
#include "prepare/skills/package/package.hpp"
#include "prepare/skills/text/packaged_skills.hpp"

namespace cove::prepare {

/// What is known of a package without its content.
struct KnownPackage {
  std::string sha256;              ///< of its bytes; empty of a directory
  std::uint64_t packed_bytes = 0;  ///< 0 of a directory
  Package outline;
  std::vector<PackagedSkill> skills;
};

struct LoadedPackage {
  std::shared_ptr<const KnownPackage> known;
  std::shared_ptr<const Package> package;
};

/// What an acquire asks for, shared by its steps and its index.
struct SkillInputs {
  std::vector<SkillPackage> published;
  std::vector<BuiltinSkill> builtin;
};

/// Which versions the sessions of this process use. Any thread.
class SkillUses {
 public:
  /// Counts as a use of these versions in the sandbox until the last copy of it goes.
  std::shared_ptr<void> hold(const SandboxId& sandbox, const SkillInputs& inputs);

  bool has(const SandboxId& sandbox, const std::string& version_id) const;

 private:
  using Use = std::pair<SandboxId, std::string>;
  struct Counts {
    mutable std::mutex mutex;
    std::map<Use, std::size_t> of;  // guarded by mutex
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

class PackageReader;
class PackageStream;
class PieceHash;

/// All but `uses` on the scheduler's own thread; reading and unpacking runs on the executor, some
/// MB at a time.
class SkillShelf {
 public:
  /// What it works with; borrowed. `objects` may be null where no package is named by a key.
  struct Parts {
    ObjectStore* objects = nullptr;
    base::BlockingExecutor& executor;
    Scheduler& scheduler;
    const Clock& clock;
    IdSource& ids;
    PackageLimits limits = {};
  };

  explicit SkillShelf(Parts parts) : parts_(parts) {}

  const Parts& parts() const noexcept { return parts_; }
  SkillUses& uses() noexcept { return uses_; }

  /// Reads the package. One that came as bytes without a sha256 learns it, so that it is hashed
  /// once however often it is asked for. Errors: those of PackageReader and skills_of; kIntegrity -
  /// its bytes have not the sha256 that is asked for; kNotFound - no such object, file or
  /// directory; kTooLarge.
  Task<Result<LoadedPackage>> load(SkillPackage& skill, const CallContext& call);

  /// The same; files are offered to `stream` as they are unpacked, and it is finished or failed.
  Task<Result<LoadedPackage>> load_into(PackageStream& stream, SkillPackage& skill,
                                        const CallContext& call);
  Task<Result<LoadedPackage>> load(const BuiltinSkill& skill, const CallContext& call);

  /// The same without the content, from memory where it was read before. Of a builtin skill that is
  /// a directory of the host: where it has not changed since, which is looked at every 10 s.
  Task<Result<std::shared_ptr<const KnownPackage>>> know(SkillPackage& skill,
                                                         const CallContext& call);
  Task<Result<std::shared_ptr<const KnownPackage>>> know(const BuiltinSkill& skill,
                                                         const CallContext& call);

  /// That a package was found whole in an instance, or placed there. Forgotten after 1,000 others.
  bool is_verified(const std::string& instance, const std::string& version,
                   const std::string& hash) const;
  void set_verified(const std::string& instance, const std::string& version,
                    const std::string& hash);
  void doubt(const std::string& instance);

 private:
  /// One package, wherever it is, as both kinds of skills have it.
  struct Origin {
    std::string shown;  ///< "skill 'v1'"
    const Bytes* bytes = nullptr;
    const HostPath* path = nullptr;
    const ObjectKey* object = nullptr;
    std::string sha256;             ///< that it must have; empty = any
    std::string* learnt = nullptr;  ///< takes the sha256 where it is worked out
    bool may_change = false;
    PackageStream* stream = nullptr;  ///< hears of files as they come
  };
  struct Memory {
    std::shared_ptr<const KnownPackage> known;
    std::string signature;  ///< of a directory that may change
    Instant looked_at{};
  };
  class Turn;

  static Origin origin_of(SkillPackage& skill);
  static Origin origin_of(const BuiltinSkill& skill);
  static std::string key_of(const Origin& origin, const std::string& sha256);
  Task<std::string> hash_bytes(const Origin& origin);
  Task<Result<LoadedPackage>> load_origin(Origin origin, const CallContext& call);
  Task<Result<std::shared_ptr<const KnownPackage>>> know_origin(Origin origin,
                                                                const CallContext& call);
  Task<Result<Bytes>> fetch(const Origin& origin, const CallContext& call);
  Task<Result<LoadedPackage>> read(const Origin& origin, const CallContext& call);
  Task<Result<LoadedPackage>> unpack(const Origin& origin, ByteView bytes, const CallContext& call);
  Task<Result<Package>> read_all(PackageReader& reader, PieceHash& packed, PackageStream* stream,
                                 const CallContext& call);
  Task<Result<Turn>> turn(const CallContext& call);

  Parts parts_;
  SkillUses uses_;
  std::map<std::string, Memory> known_;  // by key_of
  std::deque<std::string> known_order_;
  std::deque<std::shared_ptr<base::Completion<Result<void>>>> waiting_;
  bool busy_ = false;
  std::map<std::string, std::set<std::string>> verified_;  // by instance: version and hash
  std::deque<std::string> verified_order_;
};

/// The same as SkillPackageInfo tells.
SkillPackageInfo info_of(const std::string& version_id, const KnownPackage& known);

}  // namespace cove::prepare
