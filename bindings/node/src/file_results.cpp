/// What file calls give.
#include "json.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

constexpr double kNsPerMs = 1e6;

napi_value number_or_null(napi_env env, bool is_there, double value) {
  return is_there ? number_value(env, value) : null_value(env);
}

napi_value info_value(const Environment& environment, const cove_file_info* info) {
  return facts_value(environment.env, facts_of(*environment.library, info));
}

napi_value edited_value(const Environment& environment, const cove_edit_result* result) {
  const Library& library = *environment.library;
  List edits(environment.env);
  const std::size_t count = library.cove_edit_result_count(result);
  for (std::size_t i = 0; i < count; ++i) {
    Object edit(environment.env);
    edit.number("replaced", static_cast<double>(library.cove_edit_result_replaced(result, i)))
        .number("firstLine", static_cast<double>(library.cove_edit_result_first_line(result, i)));
    edits.add(edit.value());
  }
  Object made(environment.env);
  made.set("info", info_value(environment, library.cove_edit_result_info(result)))
      .set("edits", edits.value());
  return made.value();
}

}  // namespace

const char* file_type_name(int type) noexcept {
  switch (type) {
    case COVE_FILE_REGULAR: return "file";
    case COVE_FILE_DIRECTORY: return "directory";
    case COVE_FILE_SYMLINK: return "symlink";
    default: return "other";
  }
}

FileFacts facts_of(const Library& library, const cove_file_info* info) {
  FileFacts facts;
  facts.path = library.cove_file_info_path(info);
  facts.link_target = library.cove_file_info_link_target(info);
  facts.etag = library.cove_file_info_etag(info);
  facts.type = library.cove_file_info_type(info);
  facts.size = library.cove_file_info_size(info);
  facts.mode = library.cove_file_info_mode(info);
  facts.modified_ns = library.cove_file_info_modified_ns(info);
  facts.is_unreadable = library.cove_file_info_is_unreadable(info) == 1;
  return facts;
}

napi_value facts_value(napi_env env, const FileFacts& facts) {
  Object made(env);
  made.path("path", facts.path)
      .text("type", file_type_name(facts.type))
      .number("size", static_cast<double>(facts.size))
      .number("mode", facts.mode)
      .number("modifiedMs", static_cast<double>(facts.modified_ns) / kNsPerMs)
      .path("linkTarget", facts.link_target)
      .text("etag", facts.etag)
      .truth("unreadable", facts.is_unreadable);
  return made.value();
}

std::string facts_json(const FileFacts& facts) {
  return Json()
      .path("path", facts.path)
      .text("type", file_type_name(facts.type))
      .number("size", facts.size)
      .number("mode", facts.mode)
      .raw("modifiedMs", milliseconds_json(facts.modified_ns))
      .path("linkTarget", facts.link_target)
      .text("etag", facts.etag)
      .truth("unreadable", facts.is_unreadable)
      .done();
}

napi_value Outcome<cove_file_info>::value(const Environment& environment, cove_file_info*& out) {
  return info_value(environment, out);
}

napi_value Outcome<cove_file_content>::value(const Environment& environment,
                                             cove_file_content*& out) {
  const Library& library = *environment.library;
  std::size_t size = 0;
  const char* const data = library.cove_file_content_data(out, &size);
  Object made(environment.env);
  made.bytes("data", data, size)
      .text("contentType", library.cove_file_content_type(out))
      .set("info", info_value(environment, library.cove_file_content_info(out)));
  return made.value();
}

napi_value Outcome<cove_line_slice>::value(const Environment& environment, cove_line_slice*& out) {
  const Library& library = *environment.library;
  napi_env env = environment.env;
  std::size_t size = 0;
  const char* const data = library.cove_line_slice_text(out, &size);
  const auto next = static_cast<double>(library.cove_line_slice_next(out));
  const auto total = static_cast<double>(library.cove_line_slice_total_lines(out));
  Object made(env);
  made.text("text", {data, size})
      .bytes("content", data, size)
      .number("first", static_cast<double>(library.cove_line_slice_first(out)))
      .number("count", static_cast<double>(library.cove_line_slice_count(out)))
      .set("next", number_or_null(env, next > 0, next))
      .set("totalLines", number_or_null(env, total >= 0, total))
      .number("offset", static_cast<double>(library.cove_line_slice_offset(out)))
      .truth("cut", library.cove_line_slice_is_cut(out) == 1)
      .text("contentType", library.cove_line_slice_content_type(out))
      .set("info", info_value(environment, library.cove_line_slice_info(out)));
  return made.value();
}

napi_value Outcome<cove_file_page>::value(const Environment& environment, cove_file_page*& out) {
  const Library& library = *environment.library;
  std::string entries = "[";
  const std::size_t count = library.cove_file_page_count(out);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) entries += ',';
    entries += facts_json(facts_of(library, library.cove_file_page_entry(out, i)));
  }
  entries += ']';
  const std::string next = library.cove_file_page_next(out);
  Object made(environment.env);
  made.text("entries", entries);
  // A name, so bytes: given back as they are.
  made.set("next", next.empty() ? null_value(environment.env)
                                : bytes_value(environment.env, next.data(), next.size()));
  return made.value();
}

napi_value Outcome<cove_edit_result>::value(const Environment& environment,
                                            cove_edit_result*& out) {
  return edited_value(environment, out);
}

napi_value Outcome<cove_edit_results>::value(const Environment& environment,
                                             cove_edit_results*& out) {
  const Library& library = *environment.library;
  List results(environment.env);
  const std::size_t count = library.cove_edit_results_count(out);
  for (std::size_t i = 0; i < count; ++i) {
    const cove_edit_result* const edited = library.cove_edit_results_entry(out, i);
    results.add(edited != nullptr
                    ? edited_value(environment, edited)
                    : error_value(environment, library.cove_edit_results_error(out, i)));
  }
  return results.value();
}

napi_value Outcome<cove_tree_counts>::value(const Environment& environment,
                                            cove_tree_counts*& out) {
  const Library& library = *environment.library;
  Object made(environment.env);
  made.number("entries", static_cast<double>(library.cove_tree_counts_entries(out)))
      .number("bytes", static_cast<double>(library.cove_tree_counts_bytes(out)))
      .number("skipped", static_cast<double>(library.cove_tree_counts_skipped(out)));
  return made.value();
}

}  // namespace cove_node
