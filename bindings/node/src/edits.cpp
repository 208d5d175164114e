/// Exact replacements, in one file or in several.
#include <deque>
#include <vector>

#include "functions.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// Edits as C takes them: [{oldText, newText, replaceAll}], the texts as Buffers.
struct Edits {
  Edits(Arguments& in, napi_value list) {
    std::uint32_t count = 0;
    if (napi_get_array_length(in.env(), list, &count) != napi_ok) {
      in.fail("edits are no list");
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      napi_value item = nullptr;
      napi_get_element(in.env(), list, i, &item);
      add(Fields(in.env(), item));
    }
  }

  void add(const Fields& fields) {
    const BytesView before = fields.bytes("oldText");
    const BytesView after = fields.bytes("newText");
    cove_edit edit = COVE_EDIT_INIT;
    edit.flags = fields.flag("replaceAll", COVE_EDIT_REPLACE_ALL);
    edit.old_text = before.data;
    edit.old_size = before.size;
    edit.new_text = after.data;
    edit.new_size = after.size;
    raw.push_back(edit);
  }

  std::vector<cove_edit> raw;
};

/// What one element of a list of cove_file_edit leads to.
struct FileEdit {
  FileEdit(Arguments& in, const Fields& fields)
      : path(fields.text("path").value_or("")),
        etag(fields.text("ifUnchangedSince")),
        edits(in, fields.at("edits")) {}

  std::string path;
  std::optional<std::string> etag;
  Edits edits;
};

}  // namespace

napi_value edit_file(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  const Edits edits(in, in.at(2));
  const Fields fields = in.fields(3);
  const auto etag = fields.text("ifUnchangedSince");
  cove_edit_options options = COVE_EDIT_OPTIONS_INIT;
  options.flags = fields.flag("durable", COVE_EDIT_DURABLE);
  options.if_unchanged_since = etag ? etag->c_str() : nullptr;
  in.limits(fields, options);
  return start_call<cove_edit_result>(
      in, workspace, [&](auto done, void* data, cove_error** error) {
        return in.library().cove_workspace_edit_file_start(workspace->raw, path.c_str(),
                                                           edits.raw.data(), edits.raw.size(),
                                                           &options, done, data, nullptr, error);
      });
}

napi_value edit_files(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  std::deque<FileEdit> kept;  // its elements stay where they are
  std::vector<cove_file_edit> files;
  std::uint32_t count = 0;
  if (napi_get_array_length(in.env(), in.at(1), &count) != napi_ok) in.fail("files are no list");
  for (std::uint32_t i = 0; i < count; ++i) {
    napi_value item = nullptr;
    napi_get_element(in.env(), in.at(1), i, &item);
    const Fields fields(in.env(), item);
    const FileEdit& file = kept.emplace_back(in, fields);
    cove_file_edit edit = COVE_FILE_EDIT_INIT;
    edit.flags = fields.flag("durable", COVE_EDIT_DURABLE);
    edit.path = file.path.c_str();
    edit.edits = file.edits.raw.data();
    edit.edit_count = file.edits.raw.size();
    edit.if_unchanged_since = file.etag ? file.etag->c_str() : nullptr;
    files.push_back(edit);
  }
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return start_call<cove_edit_results>(
      in, workspace, [&](auto done, void* data, cove_error** error) {
        return in.library().cove_workspace_edit_files_start(
            workspace->raw, files.data(), files.size(), &options, done, data, nullptr, error);
      });
}

}  // namespace cove_node
