/// Searches: lines that match a pattern, and names that match a glob.
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "followed.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {

struct GrepLine {
  std::string path;
  std::string text;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> spans;
  std::uint64_t number = 0;
  std::uint64_t column = 0;
  std::uint64_t text_offset = 0;
  int encoding = 0;
  bool is_context = false;
  bool is_cut = false;
};

struct FindEntry {
  std::string path;
  int type = 0;
  std::optional<FileFacts> facts;
};

using Found = std::variant<GrepLine, FindEntry>;

/// The last of it ends the search.
struct SearchRun {
  SearchRun(LibraryPtr its_library, std::shared_ptr<Pipe<Found>> its_pipe)
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
  std::shared_ptr<Pipe<Found>> pipe;
  cove_search* raw = nullptr;
};

namespace {

using SearchFollower = Follower<Found, cove_search_summary>;

/// What a result costs beside its texts, about.
constexpr std::size_t kItemBytes = 256;

const char* encoding_name(int encoding) noexcept {
  if (encoding == COVE_TEXT_UTF16LE) return "utf16le";
  return encoding == COVE_TEXT_UTF16BE ? "utf16be" : "bytes";
}

GrepLine line_of(const Library& library, const cove_grep_line* line) {
  GrepLine made;
  std::size_t size = 0;
  const char* const text = library.cove_grep_line_text(line, &size);
  made.text.assign(text, size);
  made.path = library.cove_grep_line_path(line);
  made.number = library.cove_grep_line_number(line);
  made.column = library.cove_grep_line_column(line);
  made.text_offset = library.cove_grep_line_text_offset(line);
  made.encoding = library.cove_grep_line_encoding(line);
  made.is_context = library.cove_grep_line_is_context(line) == 1;
  made.is_cut = library.cove_grep_line_is_cut(line) == 1;
  const std::size_t count = library.cove_grep_line_span_count(line);
  for (std::size_t i = 0; i < count; ++i) {
    made.spans.emplace_back(library.cove_grep_line_span_offset(line, i),
                            library.cove_grep_line_span_length(line, i));
  }
  return made;
}

FindEntry entry_of(const Library& library, const cove_find_entry* entry) {
  const cove_file_info* const facts = library.cove_find_entry_facts(entry);
  FindEntry made;
  made.path = library.cove_find_entry_path(entry);
  made.type = library.cove_find_entry_type(entry);
  if (facts != nullptr) made.facts = facts_of(library, facts);
  return made;
}

std::int32_t on_lines(void* user_data, const cove_grep_lines* lines) {
  const SearchFollower& follower = *SearchFollower::of(user_data);
  const Library& library = *follower.library;
  bool pauses = false;
  const std::size_t count = library.cove_grep_lines_count(lines);
  for (std::size_t i = 0; i < count; ++i) {
    GrepLine line = line_of(library, library.cove_grep_lines_entry(lines, i));
    const std::size_t size = kItemBytes + line.path.size() + line.text.size();
    pauses = follower.pipe->push(std::move(line), size);
  }
  return pauses ? COVE_PAUSE : COVE_CONTINUE;
}

std::int32_t on_entries(void* user_data, const cove_find_entries* entries) {
  const SearchFollower& follower = *SearchFollower::of(user_data);
  const Library& library = *follower.library;
  bool pauses = false;
  const std::size_t count = library.cove_find_entries_count(entries);
  for (std::size_t i = 0; i < count; ++i) {
    FindEntry entry = entry_of(library, library.cove_find_entries_entry(entries, i));
    const std::size_t size = kItemBytes + entry.path.size();
    pauses = follower.pipe->push(std::move(entry), size);
  }
  return pauses ? COVE_PAUSE : COVE_CONTINUE;
}

void on_done(void* user_data, cove_search_summary* summary, cove_error* error) {
  SearchFollower::of(user_data)->finish(summary, error);
}

napi_value line_value(napi_env env, const GrepLine& line) {
  List spans(env);
  for (const auto& [offset, length] : line.spans) {
    Object span(env);
    spans.add(span.number("offset", offset).number("length", length).value());
  }
  Object made(env);
  made.path("path", line.path)
      .number("line", static_cast<double>(line.number))
      .number("column", static_cast<double>(line.column))
      .text("text", line.text)
      .bytes("content", line.text.data(), line.text.size())
      .number("contentOffset", static_cast<double>(line.text_offset))
      .set("spans", spans.value())
      .truth("isContext", line.is_context)
      .truth("cut", line.is_cut)
      .text("encoding", encoding_name(line.encoding));
  return made.value();
}

napi_value entry_value(napi_env env, const FindEntry& entry) {
  Object made(env);
  made.path("path", entry.path)
      .text("type", file_type_name(entry.type))
      .set("facts", entry.facts ? facts_value(env, *entry.facts) : null_value(env));
  return made.value();
}

/// The body of both searches: begin(callbacks, &search, &error).
template <class Callbacks, class Begin>
napi_value search_by(Arguments& in, const std::shared_ptr<WorkspaceHandle>& workspace,
                     napi_value on_wake, Callbacks callbacks, Begin begin) {
  auto pipe = make_pipe<Found>(in.environment(), on_wake);
  if (pipe == nullptr) in.fail("the last argument is no function");
  if (in.has_failed()) return nullptr;
  const auto run = std::make_shared<SearchRun>(in.environment().library, std::move(pipe));
  callbacks.on_done = &on_done;
  return follow<Found, cove_search_summary>(in, std::make_shared<Keep>(Keep{workspace, {}}), run,
                                            callbacks, begin);
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
  return taken_value(in.env(), taken, [&in](List& list, const Found& found) {
    const auto* const line = std::get_if<GrepLine>(&found);
    list.add(line != nullptr ? line_value(in.env(), *line)
                             : entry_value(in.env(), std::get<FindEntry>(found)));
  });
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
