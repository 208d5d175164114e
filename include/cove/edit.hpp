/// Edits: exact replacement of text in files.
///
///     client.edit_file("a.py", {{.old_text = "x = 1", .new_text = "x = 2"}});
///
/// `old_text` must be found exactly once, unless `replace_all`. Line ends match whatever the file
/// has: an LF in `old_text` matches a CRLF, and `new_text` is written with the file's own line
/// ends. A byte order mark and a missing LF at the end stay as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cove/files.hpp>

namespace cove {

/// Replaces a text that is there once, or each place of it with `replace_all`.
struct Edit {
  std::string old_text;  ///< not empty
  std::string new_text;
  bool replace_all = false;
};

/// How the edits of one file are made.
struct EditOptions {
  std::optional<std::string> if_unchanged_since;  ///< as of WriteOptions
  bool durable = false;                           ///< as of WriteOptions
};

/// What one edit replaced.
struct EditOutcome {
  std::uint64_t replaced = 0;    ///< how many places
  std::uint64_t first_line = 0;  ///< where the first one begins, in the file as this edit found it
};

/// What became of the edits of one file.
struct EditResult {
  FileInfo info;
  std::vector<EditOutcome> edits;  ///< one for each, in order
};

/// The edits of one file within a batch.
struct FileEdit {
  std::string path;
  std::vector<Edit> edits;
  EditOptions options;
};

}  // namespace cove
