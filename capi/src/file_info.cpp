#include "file_info.hpp"

#include <utility>

using namespace cove;

static_assert(static_cast<int>(FileType::kRegular) == COVE_FILE_REGULAR);
static_assert(static_cast<int>(FileType::kDirectory) == COVE_FILE_DIRECTORY);
static_assert(static_cast<int>(FileType::kSymlink) == COVE_FILE_SYMLINK);
static_assert(static_cast<int>(FileType::kOther) == COVE_FILE_OTHER);

cove_file_page::cove_file_page(FilePage page) : next(std::move(page.next)) {
  entries.reserve(page.entries.size());
  for (FileInfo& entry : page.entries) entries.push_back({std::move(entry)});
}

static_assert(static_cast<int>(FileChange::kCreated) == COVE_CHANGE_CREATED);
static_assert(static_cast<int>(FileChange::kModified) == COVE_CHANGE_MODIFIED);
static_assert(static_cast<int>(FileChange::kRemoved) == COVE_CHANGE_REMOVED);
static_assert(static_cast<int>(FileChange::kMoved) == COVE_CHANGE_MOVED);
static_assert(static_cast<int>(FileChange::kAttributes) == COVE_CHANGE_ATTRIBUTES);
static_assert(static_cast<int>(FileChange::kOverflow) == COVE_CHANGE_OVERFLOW);

cove_file_events::cove_file_events(std::vector<FileEvent> events) {
  entries.reserve(events.size());
  for (FileEvent& event : events) entries.push_back({std::move(event)});
}

extern "C" {

const char* cove_file_info_path(const cove_file_info* info) {
  return info == nullptr ? "" : info->info.path.c_str();
}

int32_t cove_file_info_type(const cove_file_info* info) {
  return info == nullptr ? 0 : static_cast<int32_t>(info->info.type);
}

uint64_t cove_file_info_size(const cove_file_info* info) {
  return info == nullptr ? 0 : info->info.size;
}

uint32_t cove_file_info_mode(const cove_file_info* info) {
  return info == nullptr ? 0 : info->info.mode;
}

int64_t cove_file_info_modified_ns(const cove_file_info* info) {
  return info == nullptr ? 0 : info->info.modified.time_since_epoch().count();
}

const char* cove_file_info_link_target(const cove_file_info* info) {
  return info == nullptr ? "" : info->info.link_target.c_str();
}

const char* cove_file_info_etag(const cove_file_info* info) {
  return info == nullptr ? "" : info->info.etag.c_str();
}

int32_t cove_file_info_is_unreadable(const cove_file_info* info) {
  return info != nullptr && info->info.unreadable ? 1 : 0;
}

void cove_file_info_free(cove_file_info* info) { delete info; }

size_t cove_file_page_count(const cove_file_page* page) {
  return page == nullptr ? 0 : page->entries.size();
}

const cove_file_info* cove_file_page_entry(const cove_file_page* page, size_t index) {
  return index < cove_file_page_count(page) ? &page->entries[index] : nullptr;
}

const char* cove_file_page_next(const cove_file_page* page) {
  return page == nullptr ? "" : page->next.c_str();
}

void cove_file_page_free(cove_file_page* page) { delete page; }

uint64_t cove_tree_counts_entries(const cove_tree_counts* counts) {
  return counts == nullptr ? 0 : counts->counts.entries;
}

uint64_t cove_tree_counts_bytes(const cove_tree_counts* counts) {
  return counts == nullptr ? 0 : counts->counts.bytes;
}

uint64_t cove_tree_counts_skipped(const cove_tree_counts* counts) {
  return counts == nullptr ? 0 : counts->counts.skipped;
}

void cove_tree_counts_free(cove_tree_counts* counts) { delete counts; }

int32_t cove_file_event_change(const cove_file_event* event) {
  return event == nullptr ? 0 : static_cast<int32_t>(event->event.change);
}

const char* cove_file_event_path(const cove_file_event* event) {
  return event == nullptr ? "" : event->event.path.c_str();
}

const char* cove_file_event_old_path(const cove_file_event* event) {
  return event == nullptr ? "" : event->event.old_path.c_str();
}

int32_t cove_file_event_is_directory(const cove_file_event* event) {
  return event != nullptr && event->event.is_directory ? 1 : 0;
}

size_t cove_file_events_count(const cove_file_events* events) {
  return events == nullptr ? 0 : events->entries.size();
}

const cove_file_event* cove_file_events_entry(const cove_file_events* events, size_t index) {
  return index < cove_file_events_count(events) ? &events->entries[index] : nullptr;
}

}  // extern "C"
