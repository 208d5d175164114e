/// Who owns a workspace, and the names that follow from it.
#pragma once

#include <string>
#include <string_view>

#include <cove/ids.hpp>
#include <cove/result.hpp>

namespace cove {

/// The owner of one workspace. A chat is not part of it: all chats of a user share it.
struct WorkspaceKey {
  std::string source_type;  ///< `[A-Za-z][A-Za-z0-9]{0,23}`, e.g. "app"
  std::string source_id;    ///< 1 to 512 bytes of UTF-8: which app or skill
  std::string user_id;      ///< 1 to 512 bytes of UTF-8: whose

  friend bool operator==(const WorkspaceKey&, const WorkspaceKey&) = default;
};

/// Checks the three parts; kInvalidArgument names the part and its rule.
Result<void> validate(const WorkspaceKey& key);

/// The sandbox id of a key, for ever: `lower(source_type) + "-" +` the first 32 hex digits of
/// sha256 over (length as u32 big-endian, bytes) of each of the three parts as given.
/// REQUIRES: validate(key).
///
/// Test vectors (also in docs/formats.md):
///     "app", "demo", "ana"              app-52b3bfdf3477b4e1a1bf8608dc581e36
///     "skillEdit", "5f0c", "skillEdit"  skilledit-04638474245df89556d682d842955af3
///     "app", "数据", "a-b"              app-437a76ef03ccf4f4718c84565ce373a4
SandboxId sandbox_id_of(const WorkspaceKey& key);

/// The directory name of a chat below /workspace/sessions: encodeURIComponent(chat id) where that
/// is 1 to 200 bytes, not "." or "..", and not of the form `chat-` + 40 hex; else `chat-` + the
/// first 40 hex of the chat id's sha256. kInvalidArgument: the chat id is empty.
Result<std::string> session_segment(std::string_view chat_id);

}  // namespace cove
