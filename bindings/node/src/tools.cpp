/// Tools: what a language model calls, and the links that some of them want.
#include "function_reference.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// Asks the host's function for links: (request, files) on the environment's thread.
class LinkMaker {
 public:
  LinkMaker(const Environment& environment, napi_value function)
      : library_(environment.library),
        mailbox_(environment.mailbox),
        function_(FunctionReference::make(environment, function)) {}

  static void ask(void* user_data, cove_link_request* request) {
    const LinkMaker& maker = *static_cast<LinkMaker*>(user_data);
    auto handle = std::make_shared<LinkRequestHandle>(maker.library_, request);
    maker.mailbox_->post(std::make_unique<Question>(maker.function_, std::move(handle)));
  }

  static void drop(void* user_data) { delete static_cast<LinkMaker*>(user_data); }

 private:
  /// Where it is never delivered, the request is refused as it goes.
  struct Question final : Message {
    Question(std::shared_ptr<FunctionReference> its_function,
             std::shared_ptr<LinkRequestHandle> its_request)
        : function(std::move(its_function)), request(std::move(its_request)) {}

    void deliver(napi_env env) override {
      const Library& library = *request->library;
      List files(env);
      const std::size_t count = library.cove_link_request_count(request->raw);
      for (std::size_t i = 0; i < count; ++i) {
        const cove_file_info* const info = library.cove_link_request_file(request->raw, i);
        Object file(env);
        file.set("info", facts_value(env, facts_of(library, info)))
            .text("contentType", library.cove_link_request_content_type(request->raw, i));
        files.add(file.value());
      }
      const napi_value arguments[] = {wrap(env, std::move(request)), files.value()};
      function->call(env, 2, arguments);
    }

    std::shared_ptr<FunctionReference> function;
    std::shared_ptr<LinkRequestHandle> request;
  };

  LibraryPtr library_;
  MailboxPtr mailbox_;
  std::shared_ptr<FunctionReference> function_;
};

}  // namespace

napi_value describe_tools(Arguments& in) {
  cove_buffer* json = nullptr;
  cove_error* error = nullptr;
  const auto format = static_cast<std::int32_t>(in.number(0));
  if (in.has_failed()) return nullptr;
  const Library& library = in.library();
  if (library.cove_tools_describe_json(format, &json, &error) != COVE_OK) {
    return throw_error(in, error);
  }
  napi_value const text =
      text_value(in.env(), {library.cove_buffer_data(json), library.cove_buffer_size(json)});
  library.cove_buffer_free(json);
  return text;
}

napi_value call_tool(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string name = in.text(1);
  const std::string arguments = in.text(2);
  cove_tool_options options = COVE_TOOL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  if (in.has_failed()) return nullptr;
  if (is_function(in.env(), in.at(4))) {
    options.make_links = &LinkMaker::ask;
    options.link_user_data = new LinkMaker(in.environment(), in.at(4));
    options.link_drop = &LinkMaker::drop;
  }
  return start_call<cove_tool_result>(
      in, workspace, [&](auto done, void* data, cove_error** error) {
        return in.library().cove_workspace_tool_call_start(
            workspace->raw, name.c_str(), arguments.c_str(), &options, done, data, nullptr, error);
      });
}

napi_value answer_links(Arguments& in) {
  const auto request = in.handle<LinkRequestHandle>(0);
  Texts urls = in.texts(1);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  if (in.library().cove_link_request_answer(request->raw, urls.data(), urls.size(), &error) !=
      COVE_OK) {
    return throw_error(in, error);
  }
  return nullptr;
}

napi_value refuse_links(Arguments& in) {
  const auto request = in.handle<LinkRequestHandle>(0);
  const auto code = static_cast<cove_status>(in.number(1));
  const std::string message = in.text(2);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  if (in.library().cove_link_request_refuse(request->raw, code, message.c_str(), &error) !=
      COVE_OK) {
    return throw_error(in, error);
  }
  return nullptr;
}

napi_value are_links_over(Arguments& in) {
  const auto request = in.handle<LinkRequestHandle>(0);
  if (in.has_failed()) return nullptr;
  napi_value over = nullptr;
  napi_get_boolean(in.env(), in.library().cove_link_request_is_over(request->raw) == 1, &over);
  return over;
}

}  // namespace cove_node
