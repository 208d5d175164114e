/// Tools: what a language model calls to work in a workspace.
///
///     host.give_model(cove::tools_describe(cove::ToolFormat::kOpenAi));
///     auto answer = cove::tools_call(client, "sandbox_read_file", R"({"path": "notes.md"})");
///     host.give_model(answer->text);
///
/// docs/tools.md has the tools, their parameters and what `data` holds. Arguments are checked
/// against the very schema that is described. What models commonly get wrong is taken as it was
/// meant, and the answer says so: numbers and booleans as texts, null for a parameter that is left
/// out, a comma before a closing bracket, line ends inside a text, a Markdown fence around it all.
/// Everything else is answered with what would be right.
///
/// Threads, blocking and callbacks: as of SandboxClient. One call of a tool is one call of the
/// client: it counts as activity once, and Cove::close waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/files.hpp>
#include <cove/result.hpp>
#include <cove/sandbox_client.hpp>

namespace cove {

/// Whose form the description of tools has.
enum class ToolFormat : std::uint8_t {
  kOpenAi = 1,  ///< [{"type": "function", "function": {"name", "description", "parameters"}}]
  kMcp = 2,    ///< [{"name", "title", "description", "inputSchema", "annotations"}], for tools/list
  kPlain = 3,  ///< [{"name", "description", "parameters"}]
};

/// What a tool answers.
struct ToolResult {
  /// For the model: UTF-8, at most 2,000 lines or 50 KiB of content, and notices in square brackets
  /// that say what is missing and how to get it.
  std::string text;

  /// For the host: a JSON object, of the tool's own form; `error` (code, message, retry_after_ms,
  /// hint) where there is one, `notes` where arguments were not taken as they stood.
  std::string data;

  /// The tool could not do what was asked; `text` says why and what to do. A command that ran to
  /// its end is no error, whatever its exit code.
  bool is_error = false;
};

/// A file that a link is wanted for. It was there a moment ago.
struct FileToLink {
  FileInfo info;             ///< its `path` is below /workspace: "sessions/c1/out/report.html"
  std::string content_type;  ///< as of FileContent
};

/// Makes links to files, one for each and in their order, that whoever the model talks to can
/// open. Called on Cove's I/O thread, so it must not block; `done` is called once, now or later,
/// from any thread. When `call` ends first, `done` may still come, and is ignored.
using FileLinkMaker =
    std::function<void(std::vector<FileToLink> files, CallContext call,
                       std::function<void(Result<std::vector<std::string>> urls)> done)>;

/// What the host adds to a call.
struct ToolOptions {
  FileLinkMaker link_maker;  ///< of sandbox_get_file_url; none = the tool answers kUnsupported
};

/// The tools as a JSON array.
std::string tools_describe(ToolFormat format);

/// Their names, in the order in which they are described.
std::vector<std::string_view> tool_names();

/// Calls a tool: `arguments` is the JSON that the model gave. What the model can do something about
/// is a ToolResult, also an unknown name or wrong arguments. A command or a search that the call
/// ends gives what it had by then.
/// Errors: kCancelled, kTimeout - the call ended before there was anything to give;
/// kFailedPrecondition - the client is closed, or this is one of Cove's callbacks.
Result<ToolResult> tools_call(const SandboxClient& client, std::string_view name,
                              std::string_view arguments, const ToolOptions& options = {},
                              const CallContext& call = {});

/// The same, through a callback on Cove's I/O thread, called exactly once.
void tools_call_async(const SandboxClient& client, std::string_view name,
                      std::string_view arguments, ToolOptions options, CallContext call,
                      std::function<void(Result<ToolResult>)> done);

}  // namespace cove
