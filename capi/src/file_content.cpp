/// What was read of a file: bytes, or lines.
#include <utility>

#include "file_info.hpp"

using namespace cove;

cove_file_content::cove_file_content(FileContent read)
    : info{std::move(read.info)},
      content_type(std::move(read.content_type)),
      bytes(std::move(read.bytes)) {}

cove_line_slice::cove_line_slice(LineSlice read)
    : slice(std::move(read)), info{std::move(slice.info)} {}

extern "C" {

const char* cove_file_content_data(const cove_file_content* content, size_t* out_size) {
  const bool empty = content == nullptr || content->bytes.empty();
  if (out_size != nullptr) *out_size = empty ? 0 : content->bytes.size();
  // SAFETY: bytes seen as characters.
  return empty ? "" : reinterpret_cast<const char*>(content->bytes.data());
}

const char* cove_file_content_type(const cove_file_content* content) {
  return content == nullptr ? "" : content->content_type.c_str();
}

const cove_file_info* cove_file_content_info(const cove_file_content* content) {
  return content == nullptr ? nullptr : &content->info;
}

void cove_file_content_free(cove_file_content* content) { delete content; }

const char* cove_line_slice_text(const cove_line_slice* slice, size_t* out_size) {
  if (out_size != nullptr) *out_size = slice == nullptr ? 0 : slice->slice.text.size();
  return slice == nullptr ? "" : slice->slice.text.c_str();
}

uint64_t cove_line_slice_first(const cove_line_slice* slice) {
  return slice == nullptr ? 0 : slice->slice.first;
}

uint64_t cove_line_slice_count(const cove_line_slice* slice) {
  return slice == nullptr ? 0 : slice->slice.count;
}

uint64_t cove_line_slice_next(const cove_line_slice* slice) {
  return slice == nullptr ? 0 : slice->slice.next.value_or(0);
}

int64_t cove_line_slice_total_lines(const cove_line_slice* slice) {
  if (slice == nullptr || !slice->slice.total_lines) return -1;
  return static_cast<int64_t>(*slice->slice.total_lines);
}

uint64_t cove_line_slice_offset(const cove_line_slice* slice) {
  return slice == nullptr ? 0 : slice->slice.offset;
}

int32_t cove_line_slice_is_cut(const cove_line_slice* slice) {
  return slice != nullptr && slice->slice.cut ? 1 : 0;
}

const char* cove_line_slice_content_type(const cove_line_slice* slice) {
  return slice == nullptr ? "" : slice->slice.content_type.c_str();
}

const cove_file_info* cove_line_slice_info(const cove_line_slice* slice) {
  return slice == nullptr ? nullptr : &slice->info;
}

void cove_line_slice_free(cove_line_slice* slice) { delete slice; }

}  // extern "C"
