/// Tools: their description, and calling one, once waiting, once starting.
#include <cove/tools.hpp>

#include "buffer.hpp"
#include "handles.hpp"
#include "link_request.hpp"
#include "options.hpp"

using namespace cove;

static_assert(static_cast<int>(ToolFormat::kOpenAi) == COVE_TOOLS_OPENAI);
static_assert(static_cast<int>(ToolFormat::kMcp) == COVE_TOOLS_MCP);
static_assert(static_cast<int>(ToolFormat::kPlain) == COVE_TOOLS_PLAIN);

struct cove_tool_result {
  ToolResult result;
};

namespace cove::capi {
namespace {

/// The host's link maker; its user_data ends with the last copy that the facade keeps.
class HostLinks {
 public:
  HostLinks(cove_link_fn make_links, UserData user) noexcept
      : make_links_(make_links), user_(std::move(user)) {}

  void ask(std::unique_ptr<cove_link_request> request) const {
    const CallbackScope scope;
    make_links_(user_.get(), request.release());
  }

 private:
  const cove_link_fn make_links_;
  const UserData user_;
};

FileLinkMaker link_maker_of(std::shared_ptr<const HostLinks> links,
                            std::weak_ptr<Library> library) {
  return [links = std::move(links), library = std::move(library)](
             std::vector<FileToLink> files, CallContext call, LinksDone done) {
    links->ask(std::make_unique<cove_link_request>(library, std::move(files), std::move(call),
                                                   std::move(done)));
  };
}

struct ToolCall {
  ToolOptions options;
  CallContext call;
};

/// `links` was made of the options before anything could fail, so that link_drop comes whatever
/// does.
Result<ToolCall> read_tool(const cove_tool_options* options, UserData links,
                           const cove_workspace& workspace) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_tool_options.reserved0"));
  ToolCall tool;
  if (read.make_links != nullptr) {
    tool.options.link_maker = link_maker_of(
        std::make_shared<const HostLinks>(read.make_links, std::move(links)), workspace.library);
  }
  tool.call = call_of(read.timeout_ms, read.cancel);
  return tool;
}

/// From the moment that the options can be read, link_drop is ours to call.
UserData link_user_of(const cove_tool_options* options) noexcept {
  if (options == nullptr || !is_readable(rule_of<cove_tool_options>(), options)) {
    return UserData(nullptr, nullptr);
  }
  return UserData(options->link_user_data, options->link_drop);
}

Result<cove_tool_result*> tool_result_made(ToolResult result) {
  return new cove_tool_result{std::move(result)};
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

cove_status cove_tools_describe_json(int32_t format, cove_buffer** out_json,
                                     cove_error** out_error) {
  return guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(clear(out_json, "out_json"));
    if (format < COVE_TOOLS_OPENAI || format > COVE_TOOLS_PLAIN) {
      return Error(ErrorCode::kInvalidArgument,
                   "format is " + std::to_string(format) + ", not a COVE_TOOLS_*");
    }
    *out_json = make_buffer(tools_describe(static_cast<ToolFormat>(format)));
    return ok();
  });
}

const char* cove_tool_result_text(const cove_tool_result* result, size_t* out_size) {
  if (out_size != nullptr) *out_size = result == nullptr ? 0 : result->result.text.size();
  return result == nullptr ? "" : result->result.text.c_str();
}

const char* cove_tool_result_data_json(const cove_tool_result* result) {
  return result == nullptr ? "" : result->result.data.c_str();
}

int32_t cove_tool_result_is_error(const cove_tool_result* result) {
  return result != nullptr && result->result.is_error ? 1 : 0;
}

void cove_tool_result_free(cove_tool_result* result) { delete result; }

cove_status cove_workspace_tool_call(cove_workspace* workspace, const char* name,
                                     const char* arguments_json, const cove_tool_options* options,
                                     cove_tool_result** out_result, cove_error** out_error) {
  UserData links = link_user_of(options);
  return waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(clear(out_result, "out_result"));
        COVE_TRY_VOID(require(name, "name"));
        COVE_TRY_VOID(require(arguments_json, "arguments_json"));
        COVE_TRY(const auto tool, read_tool(options, std::move(links), handle));
        COVE_TRY(auto result,
                 tools_call(handle.client, name, arguments_json, tool.options, tool.call));
        *out_result = new cove_tool_result{std::move(result)};
        return ok();
      });
}

cove_status cove_workspace_tool_call_start(cove_workspace* workspace, const char* name,
                                           const char* arguments_json,
                                           const cove_tool_options* options,
                                           cove_tool_result_fn done, void* user_data,
                                           cove_drop_fn drop, cove_error** out_error) {
  UserData links = link_user_of(options);
  return starting_call<cove_tool_result>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY_VOID(require(name, "name"));
        COVE_TRY_VOID(require(arguments_json, "arguments_json"));
        COVE_TRY(auto tool, read_tool(options, std::move(links), handle));
        tools_call_async(handle.client, name, arguments_json, std::move(tool.options),
                         std::move(tool.call), answer<ToolResult>(reply, tool_result_made));
        return ok();
      });
}

}  // extern "C"
