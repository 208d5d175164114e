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

}  // extern "C"
