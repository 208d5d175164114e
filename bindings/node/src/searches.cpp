/// Searches: lines that match a pattern, and names that match a glob.
#include <utility>

#include "followed.hpp"
#include "functions.hpp"
#include "json.hpp"
#include "results.hpp"

namespace cove_node {

/// The last of it ends the search.
struct SearchRun {
  SearchRun(LibraryPtr its_library, std::shared_ptr<Pipe<std::string>> its_pipe)
      : library(std::move(its_library)), pipe(std::move(its_pipe)) {}
  SearchRun(const SearchRun&) = delete;
  SearchRun& operator=(const SearchRun&) = delete;
  ~SearchRun() {
    if (raw == nullptr) return;
    leave();
    library->cove_search_free(raw);
  }

  void cancel() const {
    library->cove_search_cancel(raw);
    // Where it waits for its reader, it is to hear of this now.
    library->cove_search_resume(raw);
  }

  void leave() const {
    pipe->discard();
    cancel();
  }

  LibraryPtr library;
  std::shared_ptr<Pipe<std::string>> pipe;
  cove_search* raw = nullptr;
};

namespace {

using SearchFollower = Follower<std::string, cove_search_summary>;

const char* encoding_name(int encoding) noexcept {
  if (encoding == COVE_TEXT_UTF16LE) return "utf16le";
  return encoding == COVE_TEXT_UTF16BE ? "utf16be" : "bytes";
}

std::string spans_json(const Library& library, const cove_grep_line* line) {
  std::string spans;
  const std::size_t count = library.cove_grep_line_span_count(line);
  for (std::size_t i = 0; i < count; ++i) {
    (spans += spans.empty() ? '[' : ',') +=
        Json()
            .number("offset", library.cove_grep_line_span_offset(line, i))
            .number("length", library.cove_grep_line_span_length(line, i))
            .done();
  }
  return spans.empty() ? "[]" : spans += ']';
}

std::string line_json(const Library& library, const cove_grep_line* line) {
  std::size_t size = 0;
  const char* const text = library.cove_grep_line_text(line, &size);
  return Json()
      .path("path", library.cove_grep_line_path(line))
      .number("line", library.cove_grep_line_number(line))
      .number("column", library.cove_grep_line_column(line))
      .path("text", {text, size})
      .number("textOffset", library.cove_grep_line_text_offset(line))
      .raw("spans", spans_json(library, line))
      .truth("isContext", library.cove_grep_line_is_context(line) == 1)
      .truth("cut", library.cove_grep_line_is_cut(line) == 1)
      .text("encoding", encoding_name(library.cove_grep_line_encoding(line)))
      .done();
}

std::string entry_json(const Library& library, const cove_find_entry* entry) {
  const cove_file_info* const facts = library.cove_find_entry_facts(entry);
  return Json()
      .path("path", library.cove_find_entry_path(entry))
      .text("type", file_type_name(library.cove_find_entry_type(entry)))
      .raw("facts", facts == nullptr ? "null" : facts_json(facts_of(library, facts)))
      .done();
}

std::int32_t on_lines(void* user_data, const cove_grep_lines* lines) {
  const SearchFollower& follower = *SearchFollower::of(user_data);
  const Library& library = *follower.library;
  bool pauses = false;
  const std::size_t count = library.cove_grep_lines_count(lines);
  for (std::size_t i = 0; i < count; ++i) {
    std::string json = line_json(library, library.cove_grep_lines_entry(lines, i));
    const std::size_t size = json.size();
    pauses = follower.pipe->push(std::move(json), size);
  }
  return pauses ? COVE_PAUSE : COVE_CONTINUE;
}

std::int32_t on_entries(void* user_data, const cove_find_entries* entries) {
  const SearchFollower& follower = *SearchFollower::of(user_data);
  const Library& library = *follower.library;
  bool pauses = false;
  const std::size_t count = library.cove_find_entries_count(entries);
  for (std::size_t i = 0; i < count; ++i) {
    std::string json = entry_json(library, library.cove_find_entries_entry(entries, i));
    const std::size_t size = json.size();
    pauses = follower.pipe->push(std::move(json), size);
  }
  return pauses ? COVE_PAUSE : COVE_CONTINUE;
}

void on_done(void* user_data, cove_search_summary* summary, cove_error* error) {
  SearchFollower::of(user_data)->finish(summary, error);
}

/// The body of both searches: begin(callbacks, &search, &error).
template <class Callbacks, class Begin>
napi_value search_by(Arguments& in, const std::shared_ptr<WorkspaceHandle>& workspace,
                     napi_value on_wake, Callbacks callbacks, Begin begin) {
  auto pipe = make_pipe<std::string>(in.environment(), on_wake);
  if (pipe == nullptr) in.fail("the last argument is no function");
  if (in.has_failed()) return nullptr;
  const auto run = std::make_shared<SearchRun>(in.environment().library, std::move(pipe));
  callbacks.on_done = &on_done;
  return follow<std::string, cove_search_summary>(in, std::make_shared<Keep>(Keep{workspace, {}}),
                                                  run, callbacks, begin);
}

}  // namespace

napi_value grep(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  const std::string pattern = in.text(2);
  const Fields fields = in.fields(3);
  Texts include = fields.texts("include");
  Texts exclude = fields.texts("exclude");
  cove_grep_options options = COVE_GREP_OPTIONS_INIT;
  options.flags =
      fields.flag("literal", COVE_GREP_LITERAL) | fields.flag("ignoreCase", COVE_GREP_IGNORE_CASE) |
      fields.flag("wholeWord", COVE_GREP_WHOLE_WORD) | fields.flag("hidden", COVE_GREP_HIDDEN) |
      fields.flag("noIgnoreFiles", COVE_GREP_NO_IGNORE_FILES);
  options.context_before = fields.u32("contextBefore");
  options.context_after = fields.u32("contextAfter");
  options.include = include.data();
  options.include_count = include.size();
  options.exclude = exclude.data();
  options.exclude_count = exclude.size();
  options.max_file_bytes = fields.u64("maxFileBytes");
  options.limit = fields.u64("limit");
  options.max_line_bytes = fields.u32("maxLineBytes");
  in.limits(fields, options);
  cove_grep_callbacks callbacks = COVE_GREP_CALLBACKS_INIT;
  callbacks.on_lines = &on_lines;
  return search_by(in, workspace, in.at(4), callbacks,
                   [&](const cove_grep_callbacks* given, cove_search** out, cove_error** error) {
                     return in.library().cove_workspace_grep_start(workspace->raw, path.c_str(),
                                                                   pattern.c_str(), &options, given,
                                                                   out, error);
                   });
}

napi_value find(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  const Fields fields = in.fields(2);
  const auto glob = fields.text("glob");
  Texts exclude = fields.texts("exclude");
  cove_find_options options = COVE_FIND_OPTIONS_INIT;
  options.flags = fields.flag("hidden", COVE_FIND_HIDDEN) |
                  fields.flag("noIgnoreFiles", COVE_FIND_NO_IGNORE_FILES) |
                  fields.flag("newestFirst", COVE_FIND_NEWEST_FIRST) |
                  fields.flag("facts", COVE_FIND_FACTS);
  options.glob = glob ? glob->c_str() : nullptr;
  options.type = fields.u32("type");
  options.max_depth = fields.u32("maxDepth");
  options.exclude = exclude.data();
  options.exclude_count = exclude.size();
  options.min_bytes = fields.u64("minBytes");
  options.max_bytes = fields.u64("maxBytes");
  options.modified_from_ns = fields.nanoseconds("modifiedFromMs");
  options.modified_until_ns = fields.nanoseconds("modifiedUntilMs");
  options.limit = fields.u64("limit");
  in.limits(fields, options);
  cove_find_callbacks callbacks = COVE_FIND_CALLBACKS_INIT;
  callbacks.on_entries = &on_entries;
  return search_by(in, workspace, in.at(3), callbacks,
                   [&](const cove_find_callbacks* given, cove_search** out, cove_error** error) {
                     return in.library().cove_workspace_find_start(workspace->raw, path.c_str(),
                                                                   &options, given, out, error);
                   });
}

napi_value take_found(Arguments& in) {
  const auto run = in.handle<SearchRun>(0);
  const std::uint64_t most = whole_number(in.number(1));
  if (in.has_failed()) return nullptr;
  const auto taken = run->pipe->take(most);
  if (taken.resumes) run->library->cove_search_resume(run->raw);
  return taken_json(in.env(), taken);
}

napi_value cancel_search(Arguments& in) {
  const auto run = in.handle<SearchRun>(0);
  if (run != nullptr && run->raw != nullptr) run->cancel();
  return nullptr;
}

napi_value discard_found(Arguments& in) {
  const auto run = in.handle<SearchRun>(0);
  if (run != nullptr && run->raw != nullptr) run->leave();
  return nullptr;
}

}  // namespace cove_node
