#include "agent/search/find_search.hpp"

#include <cerrno>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "agent/files/file_facts.hpp"
#include "base/system/system_error.hpp"
#include "wire/search_batch.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kSegment = 64U * 1024;  // far below what one message holds

FileType file_type(unsigned char type) {
  switch (type) {
    case DT_REG: return FileType::kRegular;
    case DT_DIR: return FileType::kDirectory;
    case DT_LNK: return FileType::kSymlink;
    default: return FileType::kOther;
  }
}

}  // namespace

class FindSearch::Worker final : public SearchWorker {
 public:
  explicit Worker(FindSearch& search) : search_(search), needs_facts_(search.needs_facts()) {}

  bool look(WalkOrder::Place place, Found& found) override {
    const WalkPiece& piece = place->piece;
    FoundSegment segment;
    segment.kind = FoundSegment::Kind::kEntries;
    for (std::uint32_t i = piece.begin; i < piece.end; ++i) {
      const Directory::Entry& entry = piece.directory->entries()[i];
      ++found.counts.files_searched;
      if (!entry.wanted) continue;
      path_.assign(piece.directory->path(), search_.filter_.searched);
      path_ += piece.directory->name(entry);
      take(*piece.directory, entry, segment, found.counts);
      if (segment.bytes.size() < kSegment) continue;
      add(std::exchange(segment, FoundSegment()), found);
      segment.kind = FoundSegment::Kind::kEntries;
    }
    if (segment.matches > 0) add(std::move(segment), found);
    return true;
  }

 private:
  static void add(FoundSegment&& segment, Found& found) {
    found.counts.files_matched += segment.matches;
    found.segments.push_back(std::move(segment));
  }

  void take(const Directory& directory, const Directory::Entry& entry, FoundSegment& segment,
            SearchSummary& counts) {
    std::optional<FileInfo> facts;
    if (needs_facts_) {
      facts = facts_of(directory, entry, counts);
      if (!facts || !search_.accepts(*facts)) return;
    }
    if (search_.newest_) {
      search_.newest_->add(path_, *facts);
      return;
    }
    const bool send_facts = search_.query_.facts && facts;
    wire::pack_entry(segment.bytes, path_, file_type(entry.type), send_facts ? &*facts : nullptr);
    ++segment.matches;
    if (search_.query_.limit) {
      segment.cuts.push_back(static_cast<std::uint32_t>(segment.bytes.size()));
    }
  }

  std::optional<FileInfo> facts_of(const Directory& directory, const Directory::Entry& entry,
                                   SearchSummary& counts) const {
    const SharedFd fd = directory.descriptor();
    const std::string name(directory.name(entry));
    struct stat facts{};
    if (!fd) return std::nullopt;
    if (::fstatat(**fd, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) add_problem(counts, path_, base::system_error(errno, "look at it"));
      return std::nullopt;
    }
    FileInfo info = search_.query_.facts ? info_of(facts, "") : bare_info_of(facts, "");
    if (info.type == FileType::kSymlink && search_.query_.facts) {
      info.link_target = link_target(**fd, name).value_or("");
    }
    return info;
  }

  FindSearch& search_;
  bool needs_facts_;
  std::string path_;
};

FindSearch::FindSearch(SearchGround& ground, GuestPath path, FindQuery query, SearchEvents events)
    : Search(ground, std::move(path), {.limit = query.limit, .longest_run = 256},
             std::move(events)),
      query_(std::move(query)) {}

bool FindSearch::Filter::wants(std::string_view path, std::string_view name,
                               unsigned char entry_type) const {
  if (type && *type != file_type(entry_type)) return false;
  return !glob || glob->matches(path, name, entry_type == DT_DIR);
}

Result<void> FindSearch::prepare() {
  COVE_TRY_VOID(check(query_));
  COVE_TRY(filter_.exclude, GlobList::parse(query_.exclude));
  if (!query_.glob.empty()) {
    COVE_TRY(GlobList glob, GlobList::parse({query_.glob}));
    filter_.glob.emplace(std::move(glob));
  }
  filter_.type = query_.is_sized() ? FileType::kRegular : query_.type;
  filter_.use_ignore_files = query_.use_ignore_files;
  filter_.hidden = query_.hidden;
  if (query_.newest_first) newest_.emplace(static_cast<std::size_t>(query_.limit.value_or(0)));
  return ok();
}

bool FindSearch::needs_facts() const {
  return query_.facts || query_.newest_first || query_.is_sized() || query_.modified_from ||
         query_.modified_until;
}

bool FindSearch::accepts(const FileInfo& info) const {
  return (!query_.min_size || info.size >= *query_.min_size) &&
         (!query_.max_size || info.size <= *query_.max_size) &&
         (!query_.modified_from || info.modified >= *query_.modified_from) &&
         (!query_.modified_until || info.modified < *query_.modified_until);
}

std::unique_ptr<SearchWorker> FindSearch::make_worker() { return std::make_unique<Worker>(*this); }

Found FindSearch::last() { return newest_ ? newest_->take(query_.facts) : Found(); }

}  // namespace cove::agent
