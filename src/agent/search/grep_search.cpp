#include "agent/search/grep_search.hpp"

#include <cerrno>
#include <utility>

#include <dirent.h>
#include <sys/stat.h>

#include "agent/search/line_search.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kMostHeld = 256U * 1024;  // found by one thread before it waits for its turn

/// What is gone or was swapped meanwhile.
bool is_no_matter(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP ||
         error_number == EXDEV || error_number == EISDIR || error_number == ENXIO ||
         error_number == EAGAIN;
}

}  // namespace

class GrepSearch::Worker final : public SearchWorker, private LineSink {
 public:
  explicit Worker(GrepSearch& search)
      : search_(search),
        lines_(search.query_, *search.pattern_, search.order_.stopped(), search.on_local_disk()) {}

  bool look(WalkOrder::Place place, Found& found) override {
    place_ = place;
    found_ = &found;
    const WalkPiece& piece = place->piece;
    if (piece.is_directory()) return true;
    for (std::uint32_t i = piece.begin; i < piece.end; ++i) {
      if (search_.order_.stopped().load(std::memory_order_relaxed)) return false;
      look_into(*piece.directory, piece.directory->entries()[i]);
    }
    return true;
  }

 private:
  void look_into(const Directory& directory, const Directory::Entry& entry) {
    path_.assign(directory.path(), search_.filter_.searched);
    path_ += directory.name(entry);
    const base::UniqueFd fd = directory.open_file(entry);
    if (!fd) return note(errno);
    if (search_.query_.max_file_bytes) {
      struct stat facts{};
      if (::fstat(*fd, &facts) != 0) return note(errno);
      if (static_cast<std::uint64_t>(facts.st_size) > *search_.query_.max_file_bytes) {
        ++found_->counts.files_too_large;
        return;
      }
    }
    note(lines_.search(*fd, path_, *this, found_->counts));
  }

  void note(int error_number) {
    if (error_number == 0 || is_no_matter(error_number)) return;
    add_problem(found_->counts, path_, base::system_error(error_number, "read the file"));
  }

  bool take(FoundSegment&& segment) override {
    held_ = (found_->segments.empty() ? 0 : held_) + segment.bytes.size();
    found_->segments.push_back(std::move(segment));
    if (held_ < kMostHeld) return true;
    Found full;
    full.segments = std::exchange(found_->segments, {});
    full.counts = std::exchange(found_->counts, {});
    return search_.order_.give(place_, std::move(full));
  }

  GrepSearch& search_;
  LineSearch lines_;
  std::string path_;
  WalkOrder::Place place_;
  Found* found_ = nullptr;
  std::size_t held_ = 0;
};

GrepSearch::GrepSearch(SearchGround& ground, GuestPath path, GrepQuery query, SearchEvents events)
    : Search(ground, std::move(path), {.limit = query.limit, .longest_run = 16}, std::move(events)),
      query_(std::move(query)) {}

bool GrepSearch::Filter::wants(std::string_view path, std::string_view name,
                               unsigned char type) const {
  return type == DT_REG && (include.empty() || include.matches(path, name, false));
}

Result<void> GrepSearch::prepare() {
  COVE_TRY_VOID(check(query_));
  COVE_TRY(filter_.include, GlobList::parse(query_.include));
  COVE_TRY(filter_.exclude, GlobList::parse(query_.exclude));
  filter_.use_ignore_files = query_.use_ignore_files;
  filter_.hidden = query_.hidden;
  COVE_TRY(Pattern pattern, Pattern::compile(query_));
  pattern_.emplace(std::move(pattern));
  return ok();
}

std::unique_ptr<SearchWorker> GrepSearch::make_worker() { return std::make_unique<Worker>(*this); }

}  // namespace cove::agent
