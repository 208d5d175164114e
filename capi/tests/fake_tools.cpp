/// The puppet's tools: what they were given is kept, and they ask for links where the test says so.
#include "fake_answers.hpp"

namespace fake {

void World::ask_links(const cove::ToolOptions& options, const cove::CallContext& asked_in) {
  if (linkless.empty() || !options.link_maker) return;
  options.link_maker(linkless, asked_in, [](cove::Result<std::vector<std::string>> urls) {
    world().links.push_back(std::move(urls));
  });
}

}  // namespace fake

namespace cove {

using fake::world;

namespace {

void note(std::string_view name, std::string_view arguments, const CallContext& call) {
  world().tool_name = name;
  world().tool_arguments = arguments;
  world().call = call;
}

}  // namespace

std::string tools_describe(ToolFormat format) {
  if (world().throws) throw std::runtime_error("the facade broke");
  return "[" + std::to_string(static_cast<int>(format)) + "]";
}

Result<ToolResult> tools_call(const SandboxClient&, std::string_view name,
                              std::string_view arguments, const ToolOptions& options,
                              const CallContext& call) {
  note(name, arguments, call);
  world().ask_links(options, call);
  return fake::reply(world().tool_result);
}

void tools_call_async(const SandboxClient&, std::string_view name, std::string_view arguments,
                      ToolOptions options, CallContext call,
                      std::function<void(Result<ToolResult>)> done) {
  note(name, arguments, call);
  world().tool_options = std::move(options);
  fake::later(std::move(done), world().tool_result);
}

}  // namespace cove
