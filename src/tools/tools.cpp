#include <memory>
#include <optional>
#include <utility>

#include <cove/tools.hpp>

#include "base/text/display_text.hpp"
#include "base/text/name_text.hpp"
#include "client/sandbox_reach.hpp"
#include "tools/arguments/arguments.hpp"
#include "tools/catalog/catalog.hpp"

namespace cove {
namespace tools {

std::string ToolCall::path() const {
  return base::name_bytes(arguments.at("path").get<std::string>());
}

namespace {

/// A call whose arguments were read, on the caller's thread.
struct Prepared {
  const Tool* tool = nullptr;
  Arguments arguments;
  std::optional<Answer> refusal;  ///< there is nothing to run
};

Error unknown_tool(std::string_view name) {
  std::string known;
  for (const Tool& tool : all_tools()) known += (known.empty() ? "" : ", ") + tool.name;
  return Error(ErrorCode::kNotFound, "there is no tool " + base::quoted(name))
      .with_context("hint", "The tools are: " + known + ".");
}

Prepared prepare(std::string_view name, std::string_view text) {
  Prepared prepared;
  prepared.tool = find_tool(name);
  if (prepared.tool == nullptr) {
    prepared.refusal = error_answer(unknown_tool(name));
    return prepared;
  }
  Result<Arguments> arguments = read_arguments(text, prepared.tool->parameters);
  if (!arguments) {
    const std::string message = std::string(name) + ": " + arguments.error().message();
    Error told(arguments.error().code(), message);
    for (const auto& [key, value] : arguments.error().context()) {
      told = told.with_context(key, value);
    }
    prepared.refusal = error_answer(told);
    return prepared;
  }
  prepared.arguments = *std::move(arguments);
  return prepared;
}

/// All references outlive the task.
Task<Result<ToolResult>> perform(const Prepared& prepared, const SandboxClient& client,
                                 const ToolOptions& options, const CallContext& call) {
  if (prepared.refusal) co_return result_of(*prepared.refusal, {});
  const SandboxFiles::Reach& reach = *client.reach();
  const ToolCall tool{*reach.link, reach.session, client, options, prepared.arguments.object};
  Result<Answer> answer = co_await prepared.tool->run(tool, call);
  if (!answer) {
    // The caller ended it: that is no answer for a model.
    COVE_CO_TRY_VOID(call.check(reach.link->clock()));
    answer = error_answer(answer.error());
  }
  co_return result_of(*std::move(answer), prepared.arguments.notes);
}

/// What a call with a callback keeps while it runs.
struct AsyncCall {
  Prepared prepared;
  SandboxClient client;
  ToolOptions options;
};

}  // namespace
}  // namespace tools

Result<ToolResult> tools_call(const SandboxClient& client, std::string_view name,
                              std::string_view arguments, const ToolOptions& options,
                              const CallContext& call) {
  tools::Prepared prepared;
  return client::run_blocking(*client.reach()->link, call, [&](const CallContext& inner) {
    prepared = tools::prepare(name, arguments);  // here: on the caller's thread
    return tools::perform(prepared, client, options, inner);
  });
}

void tools_call_async(const SandboxClient& client, std::string_view name,
                      std::string_view arguments, ToolOptions options, CallContext call,
                      std::function<void(Result<ToolResult>)> done) {
  auto kept = std::make_shared<tools::AsyncCall>(
      tools::AsyncCall{tools::prepare(name, arguments), client, std::move(options)});
  client::run_async<ToolResult>(
      client.reach()->link, call,
      [kept = std::move(kept)](const CallContext& inner) {
        return tools::perform(kept->prepared, kept->client, kept->options, inner);
      },
      std::move(done));
}

}  // namespace cove
