#include "client/file_calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/async/byte_sources.hpp"
#include "base/text/display_text.hpp"

namespace cove::client {
namespace {

Task<Result<FileContent>> read_from(Guest& guest, const GuestPath& path, const ReadRange& range,
                                    const CallContext& call) {
  COVE_CO_TRY(GuestFile file, co_await guest.read_file(path, range, call));
  FileContent content;
  content.info = std::move(file.info);
  content.content_type = std::move(file.content_type);
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await file.content->next(call));
    if (piece.empty()) co_return content;
    if (content.bytes.size() + piece.size() > kMostReadAtOnce) {
      co_return Error(ErrorCode::kTooLarge,
                      base::quoted(path.path) +
                          " is larger than the 64 MiB that read_file gives at once; "
                          "read a range of it, or use download");
    }
    content.bytes.insert(content.bytes.end(), piece.begin(), piece.end());
  }
}

Task<Result<FileInfo>> write_from(Guest& guest, const GuestPath& path, ByteView content,
                                  const WriteOptions& options, const CallContext& call) {
  base::ViewSource source(content);
  co_return co_await guest.write_file(path, source, options, call);
}

/// The entries of a batch that name the same file as far as their paths tell, by their places in
/// it.
using Group = std::vector<std::size_t>;

/// The same text for the spellings of a path that mean the same whatever is there: `.`, doubled
/// slashes, and the session's directory written out. Not `..`: what it leaves may be a link.
std::string spelling_of(const std::string& session, const std::string& path) {
  std::string whole = path;
  if (!path.starts_with('/')) whole = "/workspace/" + session + "/" + path;
  std::string plain;
  std::string_view rest(whole);
  bool is_directory = false;  // as written: a file may not be named so
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    is_directory = name.empty() || name == ".";
    if (is_directory) continue;
    is_directory = rest.empty() && whole.ends_with('/');
    plain += '/';
    plain += name;
  }
  return is_directory ? plain + '/' : plain;
}

std::vector<Group> groups_of(const std::string& session, const std::vector<FileEdit>& edits) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> by_path;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const auto [found, is_new] =
        by_path.try_emplace(spelling_of(session, edits[i].path), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

/// One change of one file out of all entries of a group.
Result<EditCall> call_of(const std::string& session, const std::vector<FileEdit>& edits,
                         const Group& group) {
  EditCall whole;
  whole.path = {session, edits[group.front()].path};
  for (const std::size_t index : group) {
    const FileEdit& entry = edits[index];
    whole.edits.insert(whole.edits.end(), entry.edits.begin(), entry.edits.end());
    whole.options.durable = whole.options.durable || entry.options.durable;
    if (!entry.options.if_unchanged_since) continue;
    auto& etag = whole.options.if_unchanged_since;
    if (etag && *etag != *entry.options.if_unchanged_since) {
      return Error(ErrorCode::kInvalidArgument,
                   "two entries for " + base::quoted(entry.path) +
                       " name different etags; entries of one file are one change");
    }
    etag = entry.options.if_unchanged_since;
  }
  return whole;
}

/// Which of the group's edits failed, counted from 1; 0 = it was not one of them.
std::size_t failed_edit(const Error& error) {
  for (const auto& [key, value] : error.context()) {
    if (key == "edit") return std::strtoull(value.c_str(), nullptr, 10);
  }
  return 0;
}

void share_result(const std::vector<FileEdit>& edits, const Group& group, const EditResult& whole,
                  std::vector<Result<EditResult>>& results) {
  auto next = whole.edits.begin();
  for (const std::size_t index : group) {
    const auto count = static_cast<std::ptrdiff_t>(edits[index].edits.size());
    results[index] = EditResult{whole.info, {next, next + count}};
    next += count;
  }
}

/// The entry that failed gets the error with its own number; the others hear that it failed.
void share_error(const std::vector<FileEdit>& edits, const Group& group, const Error& error,
                 std::vector<Result<EditResult>>& results) {
  const std::size_t failed = failed_edit(error);
  std::size_t before = 0;
  std::size_t guilty = edits.size();
  for (const std::size_t index : group) {
    const std::size_t count = edits[index].edits.size();
    if (failed > before && failed <= before + count) {
      guilty = index;
      results[index] = Error(error.code(), error.message())
                           .with_context("edit", std::to_string(failed - before));
    }
    before += count;
  }
  for (const std::size_t index : group) {
    if (index == guilty) continue;
    results[index] = guilty == edits.size()
                         ? error
                         : Error(ErrorCode::kFailedPrecondition, "nothing was changed: entry " +
                                                                     std::to_string(guilty + 1) +
                                                                     " for the same file failed");
  }
}

}  // namespace

Task<Result<FileContent>> ReadCall::operator()(Guest& guest, const CallContext& call) const {
  return read_from(guest, path, range, call);
}

Task<Result<FileInfo>> WriteCall::operator()(Guest& guest, const CallContext& call) const {
  return write_from(guest, path, content, options, call);
}

Task<Result<FileInfo>> WriteOwnCall::operator()(Guest& guest, const CallContext& call) const {
  return write_from(guest, path, content, options, call);
}

Task<Result<std::vector<Result<EditResult>>>> edit_many(GuestLink& link, std::string session,
                                                        std::vector<FileEdit> edits,
                                                        const CallContext& call) {
  const Error untried(ErrorCode::kInternal, "the edit was not tried");
  std::vector<Result<EditResult>> results(edits.size(), Result<EditResult>(untried));
  for (const Group& group : groups_of(session, edits)) {
    Result<EditCall> whole = call_of(session, edits, group);
    if (!whole) {
      for (const std::size_t index : group) results[index] = whole.error();
      continue;
    }
    Result<EditResult> edited = co_await ask_call(link, *std::move(whole), call);
    if (edited) share_result(edits, group, *edited, results);
    if (!edited) share_error(edits, group, edited.error(), results);
  }
  co_return results;
}

}  // namespace cove::client
