#include "prepare/skills/shelf.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/sha256.hpp"
#include "base/text/display_text.hpp"
#include "prepare/skills/package/package_directory.hpp"
#include "prepare/skills/package/package_hashing.hpp"
#include "prepare/skills/package/package_reader.hpp"
#include "prepare/skills/package/package_stream.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookAgain = 10s;
constexpr std::size_t kMostKnown = 1000;
constexpr std::size_t kMostInstances = 1000;

std::string shown_of(const char* kind, const std::string& name) {
  return std::string(kind) + " " + base::quoted(name);
}

Result<LoadedPackage> loaded(const std::string& shown, Package package, std::string sha256,
                             std::uint64_t packed_bytes) {
  COVE_TRY(auto skills, skills_of(shown, package));
  auto known = std::make_shared<KnownPackage>();
  known->sha256 = std::move(sha256);
  known->packed_bytes = packed_bytes;
  known->outline = package.outline();
  known->skills = std::move(skills);
  return LoadedPackage{std::move(known), std::make_shared<const Package>(std::move(package))};
}

}  // namespace

/// One package is read at a time, so that the memory for it is needed once.
class SkillShelf::Turn {
 public:
  explicit Turn(SkillShelf& shelf) : shelf_(&shelf) {}
  Turn(Turn&& other) noexcept : shelf_(std::exchange(other.shelf_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (shelf_ == nullptr) return;
    while (!shelf_->waiting_.empty()) {
      const auto next = shelf_->waiting_.front();
      shelf_->waiting_.pop_front();
      if (next->complete(ok())) return;  // else it has given up waiting
    }
    shelf_->busy_ = false;
  }

 private:
  SkillShelf* shelf_;
};

Task<Result<SkillShelf::Turn>> SkillShelf::turn(const CallContext& call) {
  if (busy_) {
    const auto waiter = base::Completion<Result<void>>::make(parts_.scheduler);
    waiting_.push_back(waiter);
    COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(waiter, parts_.scheduler, call));
  }
  busy_ = true;
  co_return Turn(*this);
}

SkillShelf::Origin SkillShelf::origin_of(SkillPackage& skill) {
  Origin origin;
  origin.shown = shown_of("skill", skill.version_id);
  origin.bytes = std::get_if<Bytes>(&skill.content);
  origin.path = std::get_if<HostPath>(&skill.content);
  origin.object = std::get_if<ObjectKey>(&skill.content);
  origin.sha256 = skill.sha256;
  if (origin.bytes != nullptr && skill.sha256.empty()) origin.learnt = &skill.sha256;
  return origin;
}

SkillShelf::Origin SkillShelf::origin_of(const BuiltinSkill& skill) {
  Origin origin;
  origin.shown = shown_of("builtin skill", skill.name);
  origin.bytes = std::get_if<Bytes>(&skill.content);
  origin.path = std::get_if<HostPath>(&skill.content);
  origin.may_change = true;
  return origin;
}

/// What names the package's content: a version id alone does not, two applications may both say
/// "v1".
std::string SkillShelf::key_of(const Origin& origin, const std::string& sha256) {
  if (origin.object != nullptr) {
    return origin.shown + "\nobject " + origin.object->str() + " " + origin.sha256;
  }
  if (origin.path != nullptr) return origin.shown + "\npath " + origin.path->path;
  return origin.shown + "\nsha256 " + sha256;
}

/// The sha256 of a package that came as bytes.
Task<std::string> SkillShelf::hash_bytes(const Origin& origin) {
  if (origin.bytes == nullptr || !origin.sha256.empty()) co_return origin.sha256;
  PieceHash hash(*origin.bytes);
  while (!hash.is_done()) {
    co_await base::offload(parts_.executor, parts_.scheduler, [&hash] { return hash.step(); });
  }
  const std::string sha256 = hash.hex();
  if (origin.learnt != nullptr) *origin.learnt = sha256;
  co_return sha256;
}

Task<Result<LoadedPackage>> SkillShelf::load(SkillPackage& skill, const CallContext& call) {
  Origin origin = origin_of(skill);
  co_return co_await load_origin(std::move(origin), call);
}

Task<Result<LoadedPackage>> SkillShelf::load_into(PackageStream& stream, SkillPackage& skill,
                                                  const CallContext& call) {
  Origin origin = origin_of(skill);
  origin.stream = &stream;
  auto package = co_await load_origin(std::move(origin), call);
  // Nothing runs between the end of what was offered and this.
  if (package) {
    stream.finish(package->package);
  } else {
    stream.fail(package.error());
  }
  co_return package;
}

Task<Result<LoadedPackage>> SkillShelf::load(const BuiltinSkill& skill, const CallContext& call) {
  Origin origin = origin_of(skill);
  co_return co_await load_origin(std::move(origin), call);
}

Task<Result<std::shared_ptr<const KnownPackage>>> SkillShelf::know(SkillPackage& skill,
                                                                   const CallContext& call) {
  Origin origin = origin_of(skill);
  co_return co_await know_origin(std::move(origin), call);
}

Task<Result<std::shared_ptr<const KnownPackage>>> SkillShelf::know(const BuiltinSkill& skill,
                                                                   const CallContext& call) {
  Origin origin = origin_of(skill);
  co_return co_await know_origin(std::move(origin), call);
}

Task<Result<LoadedPackage>> SkillShelf::load_origin(Origin origin, const CallContext& call) {
  std::string signature;
  if (origin.may_change && origin.path != nullptr) {
    const HostPath& path = *origin.path;
    // Before it is read, so that what changes meanwhile is seen the next time.
    auto looked = co_await base::offload(parts_.executor, parts_.scheduler, [&] {
      return directory_signature(origin.shown, path.path, parts_.limits);
    });
    if (looked) signature = *std::move(looked);  // else it is a file, or reading it says why
  }
  COVE_CO_TRY(LoadedPackage package, co_await read(origin, call));
  const std::string key = key_of(origin, package.known->sha256);
  if (!known_.contains(key)) known_order_.push_back(key);
  known_[key] = Memory{package.known, signature, parts_.clock.now()};
  if (known_order_.size() > kMostKnown) {
    known_.erase(known_order_.front());
    known_order_.pop_front();
  }
  co_return package;
}

Task<Result<std::shared_ptr<const KnownPackage>>> SkillShelf::know_origin(Origin origin,
                                                                          const CallContext& call) {
  const std::string key = key_of(origin, co_await hash_bytes(origin));
  const auto found = known_.find(key);
  if (found != known_.end()) {
    const Memory memory = found->second;
    const bool fixed = !origin.may_change || origin.path == nullptr;
    if (fixed || parts_.clock.now() - memory.looked_at < kLookAgain) co_return memory.known;
    const HostPath& path = *origin.path;
    auto looked = co_await base::offload(parts_.executor, parts_.scheduler, [&] {
      return directory_signature(origin.shown, path.path, parts_.limits);
    });
    if (looked && !memory.signature.empty() && *looked == memory.signature) {
      known_[key] = Memory{memory.known, memory.signature, parts_.clock.now()};
      co_return memory.known;
    }
  }
  COVE_CO_TRY(const LoadedPackage package, co_await load_origin(std::move(origin), call));
  co_return package.known;
}

Task<Result<Bytes>> SkillShelf::fetch(const Origin& origin, const CallContext& call) {
  if (parts_.objects == nullptr) {
    co_return Error(ErrorCode::kFailedPrecondition,
                    origin.shown + " is in an object store, and there is none here");
  }
  COVE_CO_TRY(const ObjectInfo info, co_await parts_.objects->stat(*origin.object, call));
  if (info.size > parts_.limits.packed_bytes) {
    co_return Error(ErrorCode::kTooLarge, origin.shown + " has " + std::to_string(info.size) +
                                              " bytes; a package may have " +
                                              std::to_string(parts_.limits.packed_bytes));
  }
  COVE_CO_TRY(const auto source, co_await parts_.objects->get(*origin.object, call));
  Bytes bytes;
  bytes.reserve(info.size);
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source->next(call));
    if (piece.empty()) co_return bytes;
    if (bytes.size() + piece.size() > info.size) {
      co_return Error(ErrorCode::kIntegrity, origin.shown + " has more bytes than its store says");
    }
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
}

Task<Result<LoadedPackage>> SkillShelf::read(const Origin& origin, const CallContext& call) {
  COVE_CO_TRY(const Turn turn, co_await this->turn(call));
  if (origin.bytes != nullptr) co_return co_await unpack(origin, *origin.bytes, call);
  if (origin.object != nullptr) {
    COVE_CO_TRY(const Bytes fetched, co_await fetch(origin, call));
    co_return co_await unpack(origin, fetched, call);
  }
  const std::string& path = origin.path->path;
  auto tree = co_await base::offload(parts_.executor, parts_.scheduler, [&] {
    return read_package_directory(origin.shown, path, parts_.limits);
  });
  if (tree) co_return loaded(origin.shown, *std::move(tree), {}, 0);
  if (tree.error().code() != ErrorCode::kFailedPrecondition) co_return tree.error();
  ContentStore packed;
  auto file = co_await base::offload(parts_.executor, parts_.scheduler, [&] {
    return read_package_file(packed, origin.shown, path, parts_.limits);
  });
  if (!file) co_return file.error();
  co_return co_await unpack(origin, *file, call);
}

/// While a worker unpacks, another hashes what was unpacked before, and what is packed.
Task<Result<Package>> SkillShelf::read_all(PackageReader& reader, PieceHash& packed,
                                           PackageStream* stream, const CallContext& call) {
  HashingBeside hashing(parts_.executor, parts_.scheduler, packed);
  Result<bool> done = false;
  while (done && !*done) {
    if (const auto may = call.check(parts_.clock); !may) {
      done = may.error();
      break;
    }
    std::vector<ContentHash> whole = reader.take_unhashed();
    for (const ContentHash& file : whole) {
      if (stream != nullptr) stream->offer(reader.entry(file.entry));
    }
    co_await hashing.add(std::move(whole));
    done = co_await base::offload(parts_.executor, parts_.scheduler, [&] { return reader.step(); });
  }
  auto hashes = co_await hashing.end();
  if (!done) co_return done.error();
  reader.put_hashes(std::move(hashes));
  co_return co_await base::offload(parts_.executor, parts_.scheduler,
                                   [&] { return reader.finish(); });
}

Task<Result<LoadedPackage>> SkillShelf::unpack(const Origin& origin, ByteView bytes,
                                               const CallContext& call) {
  PieceHash packed(bytes);
  const auto hash_rest = [&]() -> Task<void> {
    while (!packed.is_done()) {
      co_await base::offload(parts_.executor, parts_.scheduler, [&] { return packed.step(); });
    }
  };
  // Nothing that was sent instead of what is asked for is ever unpacked.
  if (!origin.sha256.empty()) {
    co_await hash_rest();
    const std::string sha256 = packed.hex();
    if (sha256 != origin.sha256) {
      co_return Error(ErrorCode::kIntegrity, origin.shown + " has the sha256 " + sha256 +
                                                 ", not the " + origin.sha256 +
                                                 " that is asked for");
    }
  }
  PackageReader reader(origin.shown, bytes, parts_.limits);
  COVE_CO_TRY(Package package, co_await read_all(reader, packed, origin.stream, call));
  if (origin.sha256.empty()) co_await hash_rest();
  const std::string sha256 = origin.sha256.empty() ? packed.hex() : origin.sha256;
  if (origin.learnt != nullptr) *origin.learnt = sha256;
  co_return loaded(origin.shown, std::move(package), sha256, bytes.size());
}

bool SkillShelf::is_verified(const std::string& instance, const std::string& version,
                             const std::string& hash) const {
  const auto found = verified_.find(instance);
  return found != verified_.end() && found->second.contains(version + "\n" + hash);
}

void SkillShelf::set_verified(const std::string& instance, const std::string& version,
                              const std::string& hash) {
  if (instance.empty()) return;
  if (!verified_.contains(instance)) verified_order_.push_back(instance);
  verified_[instance].insert(version + "\n" + hash);
  if (verified_order_.size() > kMostInstances) {
    verified_.erase(verified_order_.front());
    verified_order_.pop_front();
  }
}

void SkillShelf::doubt(const std::string& instance) {
  const auto found = verified_.find(instance);
  if (found != verified_.end()) found->second.clear();
}

std::shared_ptr<void> SkillUses::hold(const SandboxId& sandbox, const SkillInputs& inputs) {
  std::vector<Use> uses;
  for (const SkillPackage& skill : inputs.published) uses.emplace_back(sandbox, skill.version_id);
  {
    const std::lock_guard lock(counts_->mutex);
    for (const Use& use : uses) ++counts_->of[use];
  }
  const auto end = [counts = counts_, uses](void* /*nothing*/) {
    const std::lock_guard lock(counts->mutex);
    for (const Use& use : uses) {
      if (--counts->of[use] == 0) counts->of.erase(use);
    }
  };
  return {static_cast<void*>(counts_.get()), end};
}

bool SkillUses::has(const SandboxId& sandbox, const std::string& version_id) const {
  const std::lock_guard lock(counts_->mutex);
  return counts_->of.contains(Use(sandbox, version_id));
}

SkillPackageInfo info_of(const std::string& version_id, const KnownPackage& known) {
  SkillPackageInfo info;
  info.version_id = version_id;
  info.sha256 = known.sha256;
  info.content_hash = known.outline.hash;
  info.packed_bytes = known.packed_bytes;
  info.content_bytes = known.outline.content_bytes;
  for (const PackageEntry& entry : known.outline.entries) {
    if (entry.type == PackageEntryType::kFile) ++info.files;
  }
  for (const PackagedSkill& skill : known.skills) {
    info.skills.push_back({skill.name, skill.description, skill.path});
  }
  return info;
}

}  // namespace cove::prepare

namespace cove {

Result<SkillPackageInfo> inspect_skill_package(const std::string& version_id, ByteView package) {
  const std::string shown = "skill " + base::quoted(version_id);
  if (!prepare::is_skill_name(version_id)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the version id " + base::quoted(version_id) +
                     " must be 1 to 64 of [A-Za-z0-9._-] and begin with one of [A-Za-z0-9_]");
  }
  COVE_TRY(const prepare::Package read, prepare::read_package(shown, package));
  prepare::KnownPackage known;
  COVE_TRY(known.skills, prepare::skills_of(shown, read));
  known.outline = read.outline();
  base::Sha256 hash;
  hash.update(package);
  known.sha256 = hash.hex();
  known.packed_bytes = package.size();
  return prepare::info_of(version_id, known);
}

}  // namespace cove
