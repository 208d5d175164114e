/// Edits of files: each call once waiting, once starting.
#include <optional>
#include <vector>

#include <cove/edit.hpp>

#include "file_calls.hpp"

using namespace cove;

struct cove_edit_result {
  explicit cove_edit_result(EditResult made)
      : info{std::move(made.info)}, edits(std::move(made.edits)) {}

  cove_file_info info;
  std::vector<EditOutcome> edits;
};

struct cove_edit_results {
  explicit cove_edit_results(std::vector<Result<EditResult>> made);

  /// One of the two is there.
  struct Entry {
    std::optional<cove_edit_result> result;
    std::optional<cove_error> error;
  };
  std::vector<Entry> entries;
};

cove_edit_results::cove_edit_results(std::vector<Result<EditResult>> made) {
  entries.resize(made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i]) {
      entries[i].result.emplace(*std::move(made[i]));
    } else {
      entries[i].error.emplace(made[i].error());
    }
  }
}

namespace cove::capi {
namespace {

std::string text_of(ByteView bytes) {
  // SAFETY: bytes seen as characters.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::vector<Edit>> read_edits(const cove_edit* edits, std::size_t count) {
  COVE_TRY(const auto read, read_array(edits, count, "edits"));
  std::vector<Edit> result;
  result.reserve(read.size());
  for (const cove_edit& edit : read) {
    COVE_TRY_VOID(check_flags(edit.flags, COVE_EDIT_REPLACE_ALL, "cove_edit.flags"));
    COVE_TRY(const auto old_text, read_data(edit.old_text, edit.old_size));
    COVE_TRY(const auto new_text, read_data(edit.new_text, edit.new_size));
    result.push_back(
        {text_of(old_text), text_of(new_text), (edit.flags & COVE_EDIT_REPLACE_ALL) != 0});
  }
  return result;
}

Result<EditOptions> read_edit_options(std::uint32_t flags, const char* if_unchanged_since,
                                      const char* field) {
  COVE_TRY_VOID(check_flags(flags, COVE_EDIT_DURABLE, field));
  EditOptions options;
  options.durable = (flags & COVE_EDIT_DURABLE) != 0;
  if (if_unchanged_since != nullptr) options.if_unchanged_since = if_unchanged_since;
  return options;
}

struct EditCall {
  std::string path;
  std::vector<Edit> edits;
  EditOptions options;
  CallContext call;
};

Result<EditCall> read_edit(const char* path, const cove_edit* edits, std::size_t count,
                           const cove_edit_options* options) {
  EditCall edit;
  COVE_TRY(edit.path, read_path(path));
  COVE_TRY(edit.edits, read_edits(edits, count));
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY(edit.options,
           read_edit_options(read.flags, read.if_unchanged_since, "cove_edit_options.flags"));
  edit.call = call_of(read.timeout_ms, read.cancel);
  return edit;
}

Result<std::vector<FileEdit>> read_file_edits(const cove_file_edit* files, std::size_t count) {
  COVE_TRY(const auto read, read_array(files, count, "files"));
  std::vector<FileEdit> result;
  result.reserve(read.size());
  for (const cove_file_edit& file : read) {
    FileEdit edit;
    COVE_TRY(edit.path, read_path(file.path, "cove_file_edit.path"));
    COVE_TRY(edit.edits, read_edits(file.edits, file.edit_count));
    COVE_TRY(edit.options,
             read_edit_options(file.flags, file.if_unchanged_since, "cove_file_edit.flags"));
    result.push_back(std::move(edit));
  }
  return result;
}

Result<cove_edit_result*> result_made(EditResult result) {
  return new cove_edit_result(std::move(result));
}

Result<cove_edit_results*> results_made(std::vector<Result<EditResult>> results) {
  return new cove_edit_results(std::move(results));
}

EditOutcome outcome_of(const cove_edit_result* result, std::size_t index) {
  return index < cove_edit_result_count(result) ? result->edits[index] : EditOutcome{};
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

const cove_file_info* cove_edit_result_info(const cove_edit_result* result) {
  return result == nullptr ? nullptr : &result->info;
}

size_t cove_edit_result_count(const cove_edit_result* result) {
  return result == nullptr ? 0 : result->edits.size();
}

uint64_t cove_edit_result_replaced(const cove_edit_result* result, size_t index) {
  return outcome_of(result, index).replaced;
}

uint64_t cove_edit_result_first_line(const cove_edit_result* result, size_t index) {
  return outcome_of(result, index).first_line;
}

void cove_edit_result_free(cove_edit_result* result) { delete result; }

size_t cove_edit_results_count(const cove_edit_results* results) {
  return results == nullptr ? 0 : results->entries.size();
}

const cove_edit_result* cove_edit_results_entry(const cove_edit_results* results, size_t index) {
  if (index >= cove_edit_results_count(results)) return nullptr;
  const auto& result = results->entries[index].result;
  return result ? &*result : nullptr;
}

const cove_error* cove_edit_results_error(const cove_edit_results* results, size_t index) {
  if (index >= cove_edit_results_count(results)) return nullptr;
  const auto& error = results->entries[index].error;
  return error ? &*error : nullptr;
}

void cove_edit_results_free(cove_edit_results* results) { delete results; }

cove_status cove_workspace_edit_file(cove_workspace* workspace, const char* path,
                                     const cove_edit* edits, size_t edit_count,
                                     const cove_edit_options* options,
                                     cove_edit_result** out_result, cove_error** out_error) {
  return waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(clear(out_result, "out_result"));
        COVE_TRY(const auto edit, read_edit(path, edits, edit_count, options));
        COVE_TRY(auto result,
                 handle.client.edit_file(edit.path, edit.edits, edit.options, edit.call));
        *out_result = new cove_edit_result(std::move(result));
        return ok();
      });
}

cove_status cove_workspace_edit_file_start(cove_workspace* workspace, const char* path,
                                           const cove_edit* edits, size_t edit_count,
                                           const cove_edit_options* options,
                                           cove_edit_result_fn done, void* user_data,
                                           cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_edit_result>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto edit, read_edit(path, edits, edit_count, options));
        handle.client.edit_file_async(std::move(edit.path), std::move(edit.edits),
                                      std::move(edit.options), std::move(edit.call),
                                      answer<EditResult>(reply, result_made));
        return ok();
      });
}

cove_status cove_workspace_edit_files(cove_workspace* workspace, const cove_file_edit* files,
                                      size_t file_count, const cove_call_options* options,
                                      cove_edit_results** out_results, cove_error** out_error) {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY_VOID(clear(out_results, "out_results"));
                        COVE_TRY(const auto edits, read_file_edits(files, file_count));
                        COVE_TRY(const auto call, read_call(options));
                        COVE_TRY(auto results, handle.client.edit_files(edits, call));
                        *out_results = new cove_edit_results(std::move(results));
                        return ok();
                      });
}

cove_status cove_workspace_edit_files_start(cove_workspace* workspace, const cove_file_edit* files,
                                            size_t file_count, const cove_call_options* options,
                                            cove_edit_results_fn done, void* user_data,
                                            cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_edit_results>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto edits, read_file_edits(files, file_count));
        COVE_TRY(auto call, read_call(options));
        handle.client.edit_files_async(
            std::move(edits), std::move(call),
            answer<std::vector<Result<EditResult>>>(reply, results_made));
        return ok();
      });
}

}  // extern "C"
