// sandbox_get_file_url: links that the host makes.
#include "base/async/completion.hpp"
#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "client/file_calls.hpp"
#include "client/host_calls.hpp"
#include "tools/answers/names.hpp"
#include "tools/calls/runs.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;
using Urls = std::vector<std::string>;

Error no_links() {
  return Error(ErrorCode::kUnsupported, "this application gives out no links to files")
      .with_context("hint", "Tell the user the file's path instead, or show its content.");
}

/// Looks at a file through its first byte, so a link to it is followed as reading follows it.
Task<Result<FileToLink>> look_at(const ToolCall& tool, const std::string& path,
                                 const CallContext& call) {
  client::ReadCall ask;
  ask.path = GuestPath{tool.session, path};
  ask.range.length = 1;
  Result<FileContent> content = co_await client::ask_call(tool.link, ask, call);
  if (!content) {
    const std::string message =
        "no link to " + base::quoted(path) + ": " + content.error().message();
    co_return Error(content.error().code(), message)
        .with_context("hint",
                      "Links are made to files that are there; find them with "
                      "sandbox_find.");
  }
  if (content->info.path.starts_with('/')) {
    co_return Error(ErrorCode::kPathEscape, base::quoted(path) + " is not below /workspace")
        .with_context("hint", "Copy it into the session's directory first, with sandbox_shell.");
  }
  co_return FileToLink{content->info, content->content_type};
}

Task<Result<Urls>> ask_maker(const ToolCall& tool, const std::vector<FileToLink>& files,
                             const CallContext& call) {
  const auto completion = base::Completion<Result<Urls>>::make(tool.link.scheduler());
  const auto ask = [&] {
    tool.options.link_maker(
        files, call, [completion](Result<Urls> urls) { completion->complete(std::move(urls)); });
    return ok();
  };
  COVE_CO_TRY_VOID(client::call_host<void>("the link maker", ask));
  COVE_CO_TRY(Urls urls,
              co_await base::wait_bounded<Urls>(completion, tool.link.scheduler(), call));
  if (urls.size() != files.size()) {
    co_return Error(ErrorCode::kInternal, "the link maker gave " + std::to_string(urls.size()) +
                                              " links for " + std::to_string(files.size()) +
                                              " files");
  }
  co_return urls;
}

}  // namespace

Task<Result<Answer>> run_get_file_url(const ToolCall& tool, const CallContext& call) {
  if (!tool.options.link_maker) co_return no_links();
  std::vector<FileToLink> files;
  for (const json& path : tool.arguments.at("paths")) {
    const std::string bytes = base::name_bytes(path.get<std::string>());
    COVE_CO_TRY(FileToLink file, co_await look_at(tool, bytes, call));
    files.push_back(std::move(file));
  }
  COVE_CO_TRY(const Urls urls, co_await ask_maker(tool, files, call));
  json links = json::array();
  Answer answer;
  answer.data["files"] = json::array();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = base::name_text(last_name(files[i].info.path));
    links.push_back({{"fileUrl", urls[i]}, {"filename", name}});
    answer.data["files"].push_back({{"path", base::name_text(files[i].info.path)},
                                    {"url", urls[i]},
                                    {"filename", name},
                                    {"content_type", files[i].content_type},
                                    {"size", files[i].info.size}});
  }
  answer.text = base::dump_json(links);
  co_return answer;
}

}  // namespace cove::tools
