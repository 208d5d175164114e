#include "prepare/skills/library.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/async/byte_sources.hpp"
#include "base/text/byte_text.hpp"
#include "base/text/display_text.hpp"
#include "base/text/hex.hpp"
#include "base/text/json.hpp"
#include "base/text/name_text.hpp"

namespace cove::prepare {
namespace {

using nlohmann::json;

constexpr int kForm = 1;
constexpr const char* kInfo = "info.json";
constexpr const char* kPackage = "package";
constexpr const char* kRemoved = "removed.json";
constexpr std::size_t kMostInfo = 4U << 20U;

Error not_found(const std::string& version_id) {
  return {ErrorCode::kNotFound, "no skill " + base::quoted(version_id) + " was added"};
}

Error damaged(const std::string& version_id) {
  return {ErrorCode::kIntegrity,
          "what the object store says of skill " + base::quoted(version_id) + " is damaged"};
}

Error taken(const std::string& version_id) {
  return {ErrorCode::kAlreadyExists, "the version id " + base::quoted(version_id) +
                                         " has another content; a version never changes"};
}

Error was_another(const std::string& version_id) {
  return {ErrorCode::kAlreadyExists,
          "the version id " + base::quoted(version_id) +
              " was removed and had another content; a version never changes: choose another id"};
}

Result<void> check_id(const std::string& version_id) {
  if (is_skill_name(version_id)) return ok();
  return Error(ErrorCode::kInvalidArgument,
               "the version id " + base::quoted(version_id) +
                   " must be 1 to 64 of [A-Za-z0-9._-] and begin with one of [A-Za-z0-9_]");
}

std::optional<std::string> text_of(const json& map, const char* key) {
  const auto found = map.find(key);
  if (found == map.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::uint64_t> number_of(const json& map, const char* key) {
  const auto found = map.find(key);
  if (found == map.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

/// The skills of info.json; none where it is malformed.
std::optional<std::vector<PublishedSkill>> skills_in(const json& map) {
  const auto list = map.find("skills");
  if (list == map.end() || !list->is_array()) return std::nullopt;
  std::vector<PublishedSkill> skills;
  for (const json& entry : *list) {
    if (!entry.is_object()) return std::nullopt;
    auto name = text_of(entry, "name");
    auto description = text_of(entry, "description");
    const auto path = text_of(entry, "path");
    if (!name || !description || !path) return std::nullopt;
    skills.push_back({*std::move(name), *std::move(description), base::name_bytes(*path)});
  }
  return skills;
}

Task<Result<std::string>> read_small(ObjectStore& objects, const ObjectKey& key,
                                     const CallContext& call) {
  COVE_CO_TRY(const auto source, co_await objects.get(key, call));
  std::string text;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source->next(call));
    if (piece.empty()) co_return text;
    text += base::text_of(piece);
    if (text.size() > kMostInfo) co_return Error(ErrorCode::kIntegrity, "info.json is too large");
  }
}

}  // namespace

std::string removal_text(const std::string& version_id, const std::string& sha256) {
  return base::dump_json_pretty(
             json{{"form", kForm}, {"version_id", version_id}, {"sha256", sha256}}) +
         "\n";
}

Result<std::string> parse_removal(const std::string& version_id, std::string_view text) {
  const auto map = base::parse_json(text);
  if (!map || !map->is_object()) return damaged(version_id);
  const auto form = number_of(*map, "form");
  const auto sha256 = text_of(*map, "sha256");
  if (!form || text_of(*map, "version_id") != version_id || !sha256) return damaged(version_id);
  if (!sha256->empty() && !base::is_hex(*sha256, 64)) return damaged(version_id);
  return *sha256;
}

std::string info_text(const SkillPackageInfo& info) {
  json skills = json::array();
  for (const PublishedSkill& skill : info.skills) {
    skills.push_back({{"name", skill.name},
                      {"description", skill.description},
                      {"path", base::name_text(skill.path)}});
  }
  return base::dump_json_pretty(json{{"form", kForm},
                                     {"version_id", info.version_id},
                                     {"sha256", info.sha256},
                                     {"content_hash", info.content_hash},
                                     {"packed_bytes", info.packed_bytes},
                                     {"content_bytes", info.content_bytes},
                                     {"files", info.files},
                                     {"skills", skills}}) +
         "\n";
}

Result<SkillPackageInfo> parse_info(const std::string& version_id, std::string_view text) {
  const auto map = base::parse_json(text);
  if (!map || !map->is_object()) return damaged(version_id);
  const auto form = number_of(*map, "form");
  if (form && *form > kForm) {
    return Error(ErrorCode::kUnsupported,
                 "skill " + base::quoted(version_id) + " was added by a newer Cove");
  }
  const auto sha256 = text_of(*map, "sha256");
  const auto hash = text_of(*map, "content_hash");
  const auto packed = number_of(*map, "packed_bytes");
  const auto content = number_of(*map, "content_bytes");
  const auto files = number_of(*map, "files");
  auto skills = skills_in(*map);
  const bool whole = form && sha256 && base::is_hex(*sha256, 64) && hash && packed && content &&
                     files && skills && text_of(*map, "version_id") == version_id;
  if (!whole) return damaged(version_id);
  return SkillPackageInfo{.version_id = version_id,
                          .sha256 = *sha256,
                          .content_hash = *hash,
                          .packed_bytes = *packed,
                          .content_bytes = *content,
                          .files = *files,
                          .skills = *std::move(skills)};
}

SkillLibrary::SkillLibrary(SkillShelf& shelf, const DeploymentId& deployment)
    : shelf_(shelf),
      objects_(*shelf.parts().objects),
      prefix_("cove/v1/" + deployment.str() + "/skills/") {}

ObjectKey SkillLibrary::key(const std::string& version_id, const char* part) const {
  return ObjectKey(prefix_ + version_id + "/" + part);
}

Task<Result<SkillPackageInfo>> SkillLibrary::read_info(const std::string& version_id,
                                                       const CallContext& call) {
  const ObjectKey place = key(version_id, kInfo);
  const Result<std::string> text = co_await read_small(objects_, place, call);
  if (!text && text.error().code() == ErrorCode::kNotFound) co_return not_found(version_id);
  if (!text) co_return text.error();
  co_return parse_info(version_id, *text);
}

Task<Result<void>> SkillLibrary::put(ObjectKey place, ByteView bytes, const CallContext& call) {
  base::ViewSource source(bytes);
  const Result<ObjectInfo> stored = co_await objects_.put_if_absent(place, source, call);
  if (!stored) co_return stored.error();
  co_return ok();
}

Task<Result<void>> SkillLibrary::check_removed(const std::string& version_id,
                                               const std::string& sha256, const CallContext& call) {
  const ObjectKey place = key(version_id, kRemoved);
  const Result<std::string> text = co_await read_small(objects_, place, call);
  if (!text && text.error().code() == ErrorCode::kNotFound) co_return ok();
  if (!text) co_return text.error();
  COVE_CO_TRY(const std::string removed, parse_removal(version_id, *text));
  if (removed != sha256) co_return was_another(version_id);
  co_return ok();
}

Task<Result<void>> SkillLibrary::put_removed(const std::string& version_id,
                                             const std::string& sha256, const CallContext& call) {
  const std::string text = removal_text(version_id, sha256);
  const ByteView bytes = std::as_bytes(std::span(text));
  const ObjectKey place = key(version_id, kRemoved);
  const Result<void> noted = co_await put(place, bytes, call);
  // It was removed before, and added again since: the same bytes, so the same note.
  if (!noted && noted.error().code() != ErrorCode::kAlreadyExists) co_return noted.error();
  co_return ok();
}

Task<Result<SkillPackageInfo>> SkillLibrary::add(const std::string& version_id, ByteView package,
                                                 const CallContext& call) {
  COVE_CO_TRY_VOID(check_id(version_id));
  SkillPackage given;
  given.version_id = version_id;
  given.content = Bytes(package.begin(), package.end());
  COVE_CO_TRY(const LoadedPackage loaded, co_await shelf_.load(given, call));
  const SkillPackageInfo info = info_of(version_id, *loaded.known);
  const Result<SkillPackageInfo> there = co_await read_info(version_id, call);
  if (there && there->sha256 != info.sha256) co_return taken(version_id);
  if (there) co_return *there;
  if (there.error().code() != ErrorCode::kNotFound) co_return there.error();
  // After the info: a removal writes its note before it takes the info away.
  COVE_CO_TRY_VOID(co_await check_removed(version_id, info.sha256, call));
  const ObjectKey place = key(version_id, kPackage);
  Result<void> stored = co_await put(place, package, call);
  if (!stored && stored.error().code() == ErrorCode::kAlreadyExists) {
    // An add that was killed, or that runs now, was there before.
    SkillPackage left;
    left.version_id = version_id;
    left.content = place;
    const Result<LoadedPackage> old = co_await shelf_.load(left, call);
    if (!old) co_return old.error();
    if (old->known->sha256 != info.sha256) co_return taken(version_id);
    stored = ok();
  }
  if (!stored) co_return stored.error();
  const std::string text = info_text(info);
  const ByteView bytes = std::as_bytes(std::span(text));
  const ObjectKey info_place = key(version_id, kInfo);
  const Result<void> told = co_await put(info_place, bytes, call);
  if (!told && told.error().code() != ErrorCode::kAlreadyExists) co_return told.error();
  co_return info;
}

Task<Result<std::vector<SkillPackageInfo>>> SkillLibrary::list(const CallContext& call) {
  std::vector<SkillPackageInfo> found;
  const std::string end = std::string("/") + kInfo;
  std::string after;
  do {
    constexpr std::uint32_t kPage = 1000;
    COVE_CO_TRY(ObjectPage page, co_await objects_.list(prefix_, after, kPage, call));
    for (const ObjectInfo& object : page.objects) {
      const std::string& name = object.key.str();
      if (!name.ends_with(end)) continue;
      const std::string version_id =
          name.substr(prefix_.size(), name.size() - prefix_.size() - end.size());
      Result<SkillPackageInfo> info = co_await read_info(version_id, call);
      const bool gone = !info && info.error().code() == ErrorCode::kNotFound;  // just now
      if (!info && !gone) co_return info.error();
      if (info) found.push_back(*std::move(info));
    }
    after = page.next;
  } while (!after.empty());
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.version_id < b.version_id; });
  co_return found;
}

Task<Result<SkillPackage>> SkillLibrary::find(const std::string& version_id,
                                              const CallContext& call) {
  COVE_CO_TRY_VOID(check_id(version_id));
  COVE_CO_TRY(const SkillPackageInfo info, co_await read_info(version_id, call));
  SkillPackage package;
  package.version_id = version_id;
  package.content = key(version_id, kPackage);
  package.sha256 = info.sha256;
  co_return package;
}

Task<Result<void>> SkillLibrary::remove(const std::string& version_id, const CallContext& call) {
  COVE_CO_TRY_VOID(check_id(version_id));
  const ObjectKey info_place = key(version_id, kInfo);
  const ObjectKey place = key(version_id, kPackage);
  const Result<SkillPackageInfo> there = co_await read_info(version_id, call);
  // One that is damaged can be removed too; its id is then given away for ever.
  const bool is_known = there.has_value();
  if (!is_known && there.error().code() != ErrorCode::kIntegrity) co_return there.error();
  const std::string sha256 = is_known ? there->sha256 : std::string();
  COVE_CO_TRY_VOID(co_await put_removed(version_id, sha256, call));
  // The info first: what is left of a removal that was killed is not listed any more.
  COVE_CO_TRY_VOID(co_await objects_.remove(info_place, call));
  co_return co_await objects_.remove(place, call);
}

}  // namespace cove::prepare
