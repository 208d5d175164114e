/// Searches of a workspace: each once collecting, once given to callbacks as it goes.
#include "followed.hpp"
#include "search_results.hpp"

using namespace cove;

namespace cove::capi {
namespace {

using SummaryReply = std::shared_ptr<Reply<cove_search_summary>>;

Result<std::vector<std::string>> read_globs(const char* const* globs, std::size_t count,
                                            const char* name) {
  std::vector<std::string> read;
  if (count > 0) COVE_TRY_VOID(require(globs, name));
  for (std::size_t i = 0; i < count; ++i) {
    if (globs[i] == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   std::string(name) + "[" + std::to_string(i) + "] is NULL");
    }
    read.emplace_back(globs[i]);
  }
  return read;
}

Result<std::string> read_text(const char* text, const char* name) {
  COVE_TRY_VOID(require(text, name));
  return std::string(text);
}

/// A limit of the host: 0 = the query's own, COVE_NO_LIMIT = none.
void read_limit(std::uint64_t limit, std::optional<std::uint64_t>& read) {
  if (limit == COVE_NO_LIMIT) {
    read.reset();
  } else if (limit != 0) {
    read = limit;
  }
}

struct GrepCall {
  std::string path;
  GrepQuery query;
  CallContext call;
};

Result<GrepCall> read_grep(const char* path, const char* pattern,
                           const cove_grep_options* options) {
  GrepCall grep;
  COVE_TRY(grep.path, read_text(path, "path"));
  COVE_TRY(grep.query.pattern, read_text(pattern, "pattern"));
  COVE_TRY(const auto read, read_options(options));
  constexpr std::uint32_t kFlags = COVE_GREP_LITERAL | COVE_GREP_IGNORE_CASE |
                                   COVE_GREP_WHOLE_WORD | COVE_GREP_HIDDEN |
                                   COVE_GREP_NO_IGNORE_FILES;
  COVE_TRY_VOID(check_flags(read.flags, kFlags, "cove_grep_options.flags"));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_grep_options.reserved0"));
  GrepQuery& query = grep.query;
  query.literal = (read.flags & COVE_GREP_LITERAL) != 0;
  query.ignore_case = (read.flags & COVE_GREP_IGNORE_CASE) != 0;
  query.whole_word = (read.flags & COVE_GREP_WHOLE_WORD) != 0;
  query.hidden = (read.flags & COVE_GREP_HIDDEN) != 0;
  query.use_ignore_files = (read.flags & COVE_GREP_NO_IGNORE_FILES) == 0;
  query.context_before = read.context_before;
  query.context_after = read.context_after;
  COVE_TRY(query.include, read_globs(read.include, read.include_count, "include"));
  COVE_TRY(query.exclude, read_globs(read.exclude, read.exclude_count, "exclude"));
  if (read.max_file_bytes != 0) query.max_file_bytes = read.max_file_bytes;
  read_limit(read.limit, query.limit);
  if (read.max_line_bytes != 0) query.max_line_bytes = read.max_line_bytes;
  grep.call = call_of(read.timeout_ms, read.cancel);
  return grep;
}

struct FindCall {
  std::string path;
  FindQuery query;
  CallContext call;
};

std::optional<std::chrono::sys_time<std::chrono::nanoseconds>> read_time(std::int64_t ns) {
  if (ns == 0) return std::nullopt;
  return std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(ns));
}

Result<void> read_filters(const cove_find_options& read, FindQuery& query) {
  if (read.type > COVE_FILE_OTHER) {
    return Error(ErrorCode::kInvalidArgument,
                 "type is " + std::to_string(read.type) + ", not a COVE_FILE_*");
  }
  if (read.type != 0) query.type = static_cast<FileType>(read.type);
  if (read.max_depth != 0) query.max_depth = read.max_depth;
  if (read.min_bytes != 0) query.min_size = read.min_bytes;
  if (read.max_bytes != 0) query.max_size = read.max_bytes == COVE_BYTES_NONE ? 0 : read.max_bytes;
  query.modified_from = read_time(read.modified_from_ns);
  query.modified_until = read_time(read.modified_until_ns);
  return ok();
}

Result<FindCall> read_find(const char* path, const cove_find_options* options) {
  FindCall find;
  COVE_TRY(find.path, read_text(path, "path"));
  COVE_TRY(const auto read, read_options(options));
  constexpr std::uint32_t kFlags =
      COVE_FIND_HIDDEN | COVE_FIND_NO_IGNORE_FILES | COVE_FIND_NEWEST_FIRST | COVE_FIND_FACTS;
  COVE_TRY_VOID(check_flags(read.flags, kFlags, "cove_find_options.flags"));
  FindQuery& query = find.query;
  if (read.glob != nullptr) query.glob = read.glob;
  query.hidden = (read.flags & COVE_FIND_HIDDEN) != 0;
  query.use_ignore_files = (read.flags & COVE_FIND_NO_IGNORE_FILES) == 0;
  query.newest_first = (read.flags & COVE_FIND_NEWEST_FIRST) != 0;
  query.facts = (read.flags & COVE_FIND_FACTS) != 0;
  COVE_TRY_VOID(read_filters(read, query));
  COVE_TRY(query.exclude, read_globs(read.exclude, read.exclude_count, "exclude"));
  read_limit(read.limit, query.limit);
  find.call = call_of(read.timeout_ms, read.cancel);
  return find;
}

/// What the facade calls as results come and at the end; `Batch` is how the host sees them.
template <class Batch, class Found, class OnFound>
SearchCallbacks<Found> callbacks_for(const SummaryReply& reply, OnFound on_found) {
  SearchCallbacks<Found> callbacks;
  callbacks.on_done =
      answer<SearchSummary>(reply, [](SearchSummary summary) -> Result<cove_search_summary*> {
        return new cove_search_summary{std::move(summary)};
      });
  if (on_found == nullptr) return callbacks;
  callbacks.on_found = [reply, on_found](std::span<const Found> found) {
    const Batch batch(found);
    const CallbackScope scope;
    return on_found(reply->user_data(), &batch) == COVE_PAUSE ? Flow::kPause : Flow::kContinue;
  };
  return callbacks;
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

void cove_search_resume(cove_search* search) { steer(search, &SearchHandle::resume); }

void cove_search_cancel(cove_search* search) { steer(search, &SearchHandle::cancel); }

void cove_search_free(cove_search* search) { free_handle(search); }

cove_status cove_workspace_grep(cove_workspace* workspace, const char* path, const char* pattern,
                                const cove_grep_options* options, cove_grep_result** out_result,
                                cove_error** out_error) {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY_VOID(clear(out_result, "out_result"));
                        COVE_TRY(const auto grep, read_grep(path, pattern, options));
                        COVE_TRY(auto found, handle.client.grep(grep.path, grep.query, grep.call));
                        *out_result = new cove_grep_result(std::move(found));
                        return ok();
                      });
}

cove_status cove_workspace_grep_start(cove_workspace* workspace, const char* path,
                                      const char* pattern, const cove_grep_options* options,
                                      const cove_grep_callbacks* callbacks,
                                      cove_search** out_search, cove_error** out_error) {
  return followed_call<cove_search_summary>(
      workspace, callbacks, out_search, "out_search", out_error,
      [&](cove_workspace& handle, const cove_grep_callbacks& heard,
          const SummaryReply& reply) -> Result<SearchHandle> {
        COVE_TRY(auto grep, read_grep(path, pattern, options));
        return handle.client.grep_async(
            std::move(grep.path), std::move(grep.query),
            callbacks_for<cove_grep_lines, GrepLine>(reply, heard.on_lines), std::move(grep.call));
      });
}

cove_status cove_workspace_find(cove_workspace* workspace, const char* path,
                                const cove_find_options* options, cove_find_result** out_result,
                                cove_error** out_error) {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY_VOID(clear(out_result, "out_result"));
                        COVE_TRY(const auto find, read_find(path, options));
                        COVE_TRY(auto found, handle.client.find(find.path, find.query, find.call));
                        *out_result = new cove_find_result(std::move(found));
                        return ok();
                      });
}

cove_status cove_workspace_find_start(cove_workspace* workspace, const char* path,
                                      const cove_find_options* options,
                                      const cove_find_callbacks* callbacks,
                                      cove_search** out_search, cove_error** out_error) {
  return followed_call<cove_search_summary>(
      workspace, callbacks, out_search, "out_search", out_error,
      [&](cove_workspace& handle, const cove_find_callbacks& heard,
          const SummaryReply& reply) -> Result<SearchHandle> {
        COVE_TRY(auto find, read_find(path, options));
        return handle.client.find_async(
            std::move(find.path), std::move(find.query),
            callbacks_for<cove_find_entries, FindEntry>(reply, heard.on_entries),
            std::move(find.call));
      });
}

}  // extern "C"
