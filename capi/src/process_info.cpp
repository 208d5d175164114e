#include "process_info.hpp"

#include <utility>

using namespace cove;

cove_process_info::cove_process_info(ProcessInfo known) : info(std::move(known)) {
  if (info.end) result.emplace(*info.end);
}

cove_process_list::cove_process_list(std::vector<ProcessInfo> processes) {
  entries.reserve(processes.size());
  for (ProcessInfo& process : processes) entries.emplace_back(std::move(process));
}

extern "C" {

const char* cove_process_info_id(const cove_process_info* info) {
  return info == nullptr ? "" : info->info.id.str().c_str();
}

const char* cove_process_info_name(const cove_process_info* info) {
  return info == nullptr ? "" : info->info.name.c_str();
}

const char* cove_process_info_command(const cove_process_info* info) {
  return info == nullptr ? "" : info->info.command.c_str();
}

const char* cove_process_info_cwd(const cove_process_info* info) {
  return info == nullptr ? "" : info->info.cwd.c_str();
}

int64_t cove_process_info_started_at_ms(const cove_process_info* info) {
  return info == nullptr ? 0 : info->info.started_at.time_since_epoch().count();
}

uint64_t cove_process_info_keep_alive_s(const cove_process_info* info) {
  return info == nullptr ? 0 : static_cast<uint64_t>(info->info.keep_alive.count());
}

int32_t cove_process_info_has_terminal(const cove_process_info* info) {
  return info != nullptr && info->info.has_terminal ? 1 : 0;
}

int32_t cove_process_info_stdin_open(const cove_process_info* info) {
  return info != nullptr && info->info.stdin_open ? 1 : 0;
}

uint64_t cove_process_info_total_bytes(const cove_process_info* info, int32_t stream) {
  if (info == nullptr) return 0;
  if (stream == COVE_STDOUT) return info->info.out_bytes;
  return stream == COVE_STDERR ? info->info.err_bytes : 0;
}

const cove_exec_result* cove_process_info_result(const cove_process_info* info) {
  return info != nullptr && info->result ? &*info->result : nullptr;
}

void cove_process_info_free(cove_process_info* info) { delete info; }

size_t cove_process_list_count(const cove_process_list* list) {
  return list == nullptr ? 0 : list->entries.size();
}

const cove_process_info* cove_process_list_entry(const cove_process_list* list, size_t index) {
  return index < cove_process_list_count(list) ? &list->entries[index] : nullptr;
}

void cove_process_list_free(cove_process_list* list) { delete list; }

const char* cove_output_slice_data(const cove_output_slice* slice, size_t* out_size) {
  const bool empty = slice == nullptr || slice->slice.bytes.empty();
  if (out_size != nullptr) *out_size = empty ? 0 : slice->slice.bytes.size();
  // SAFETY: bytes seen as characters.
  return empty ? "" : reinterpret_cast<const char*>(slice->slice.bytes.data());
}

uint64_t cove_output_slice_offset(const cove_output_slice* slice) {
  return slice == nullptr ? 0 : slice->slice.offset;
}

uint64_t cove_output_slice_next(const cove_output_slice* slice) {
  return slice == nullptr ? 0 : slice->slice.next;
}

uint64_t cove_output_slice_gone(const cove_output_slice* slice) {
  return slice == nullptr ? 0 : slice->slice.gone;
}

int32_t cove_output_slice_at_end(const cove_output_slice* slice) {
  return slice != nullptr && slice->slice.at_end ? 1 : 0;
}

void cove_output_slice_free(cove_output_slice* slice) { delete slice; }

}  // extern "C"
