/// The help of the tools that a model calls.
#pragma once

#include <string_view>

namespace cove::cli {

inline constexpr std::string_view kToolHelp = R"(Call a tool as a language model does.

Usage: cove tool --app ID --user U [--chat C] [OPTIONS] NAME [JSON]

JSON has the tool's arguments; without it, or where it is -, they come from stdin. The answer is the
text that a model would get. `cove tools` describes the tools.

Options:
  --json              the whole answer: text, data, is_error
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Exit code: 0; 1 where the tool could not do what was asked; 125 Cove's own.

Example:
  cove tool --app demo --user ana --chat c1 sandbox_read_file '{"path": "note.txt"}'
)";

inline constexpr std::string_view kToolsHelp =
    R"(Describe the tools that a language model calls, as a JSON array.

Usage: cove tools [--format FORMAT]

Options:
  --format FORMAT     openai (function calling, the default), mcp (of tools/list), or plain

Example:
  cove tools --format mcp
)";

}  // namespace cove::cli
