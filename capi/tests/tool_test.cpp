/// Tools: what a call takes and gives, and links that a host gives when it likes.
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "support.hpp"

using namespace cove;

namespace {

using ToolHandle = std::unique_ptr<cove_tool_result, FreeBy<cove_tool_result_free>>;
using RequestHandle = std::unique_ptr<cove_link_request, FreeBy<cove_link_request_free>>;

/// The user_data of a link maker, which keeps what it is asked.
struct Links {
  RequestHandle request;
  int asked = 0;
  int dropped = 0;
  cove_status waiting = COVE_OK;  ///< of a call that waits, made inside the callback
  cove_workspace* workspace = nullptr;
};

void on_links(void* user_data, cove_link_request* request) {
  auto& links = *static_cast<Links*>(user_data);
  ++links.asked;
  links.request.reset(request);
  links.waiting = cove_workspace_release(links.workspace, nullptr, nullptr);
}

void on_links_drop(void* user_data) { ++static_cast<Links*>(user_data)->dropped; }

void on_tool(void* user_data, cove_tool_result* result, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = cove_tool_result_text(result, nullptr);
  cove_tool_result_free(result);
  note_error(heard, error);
}

cove_tool_options options_to(Links* links) {
  cove_tool_options options = COVE_TOOL_OPTIONS_INIT;
  options.make_links = on_links;
  options.link_user_data = links;
  options.link_drop = on_links_drop;
  return options;
}

/// Two files that a tool wants links to.
std::vector<FileToLink> two_files() {
  FileInfo report;
  report.path = "sessions/c1/report.html";
  report.size = 9;
  FileInfo chart;
  chart.path = "chart\xff.png";
  return {{report, "text/html"}, {chart, "image/png"}};
}

/// A call whose link maker keeps its request.
struct Asked {
  CoveHandle cove = open_cove();
  WorkspaceHandle workspace = acquire(cove);
  Links links;

  Asked() {
    links.workspace = workspace.get();
    fake::world().linkless = two_files();
    const cove_tool_options options = options_to(&links);
    cove_tool_result* result = nullptr;
    REQUIRE(cove_workspace_tool_call(workspace.get(), "sandbox_get_file_url", "{}", &options,
                                     &result, nullptr) == COVE_OK);
    cove_tool_result_free(result);
    REQUIRE(links.request);
  }
};

std::string message_of(cove_error* raw) {
  const ErrorHandle error(raw);
  return cove_error_message(raw);
}

}  // namespace

TEST_CASE("Tool: each form is described, others are refused", "[capi][tools]") {
  fake::reset();
  cove_buffer* raw = nullptr;
  for (const int32_t format : {COVE_TOOLS_OPENAI, COVE_TOOLS_MCP, COVE_TOOLS_PLAIN}) {
    REQUIRE(cove_tools_describe_json(format, &raw, nullptr) == COVE_OK);
    const BufferHandle json(raw);
    CHECK(cove_buffer_data(raw) == "[" + std::to_string(format) + "]");
  }
  for (const int32_t format : {0, 4, -1}) {
    cove_error* error = nullptr;
    CHECK(cove_tools_describe_json(format, &raw, &error) == COVE_INVALID_ARGUMENT);
    CHECK(raw == nullptr);
    CHECK(message_of(error) == "format is " + std::to_string(format) + ", not a COVE_TOOLS_*");
  }
  CHECK(cove_tools_describe_json(COVE_TOOLS_MCP, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  fake::world().throws = true;
  CHECK(cove_tools_describe_json(COVE_TOOLS_MCP, &raw, nullptr) == COVE_INTERNAL);
  fake::reset();
}

TEST_CASE("Tool: name, arguments and limits arrive, and the answer comes back whole",
          "[capi][tools]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().tool_result = {std::string("a\0b", 3), R"({"lines":1})", true};
  cove_cancel* cancel = nullptr;
  REQUIRE(cove_cancel_create(&cancel, nullptr) == COVE_OK);
  cove_tool_options options = COVE_TOOL_OPTIONS_INIT;
  options.timeout_ms = 60000;
  options.cancel = cancel;
  cove_tool_result* raw = nullptr;
  REQUIRE(cove_workspace_tool_call(workspace.get(), "sandbox_ls", R"({"path": "."})", &options,
                                   &raw, nullptr) == COVE_OK);
  const ToolHandle result(raw);
  CHECK(fake::world().tool_name == "sandbox_ls");
  CHECK(fake::world().tool_arguments == R"({"path": "."})");
  CHECK(fake::world().call.deadline);
  cove_cancel_trigger(cancel);
  cove_cancel_free(cancel);
  CHECK(fake::world().call.stop.stop_requested());
  size_t size = 0;
  const char* text = cove_tool_result_text(raw, &size);
  CHECK(std::string(text, size) == std::string("a\0b", 3));
  CHECK(text[size] == '\0');
  CHECK(std::string(cove_tool_result_data_json(raw)) == R"({"lines":1})");
  CHECK(cove_tool_result_is_error(raw) == 1);
}

TEST_CASE("Tool: what is wrong in a call is named, and link_drop comes all the same",
          "[capi][tools]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Links links;
  cove_tool_options options = options_to(&links);
  cove_tool_result* result = nullptr;
  cove_error* error = nullptr;
  int dropped = 1;
  SECTION("no workspace") {
    cove_workspace_tool_call(nullptr, "t", "{}", &options, &result, &error);
    CHECK(message_of(error) == "workspace is NULL");
  }
  SECTION("no name") {
    cove_workspace_tool_call(workspace.get(), nullptr, "{}", &options, &result, &error);
    CHECK(message_of(error) == "name is NULL");
  }
  SECTION("no arguments") {
    cove_workspace_tool_call(workspace.get(), "t", nullptr, &options, &result, &error);
    CHECK(message_of(error) == "arguments_json is NULL");
  }
  SECTION("no place for the answer") {
    cove_workspace_tool_call(workspace.get(), "t", "{}", &options, nullptr, &error);
    CHECK(message_of(error) == "out_result is NULL");
  }
  SECTION("a reserved field") {
    options.reserved0 = 1;
    CHECK(cove_workspace_tool_call(workspace.get(), "t", "{}", &options, &result, nullptr) ==
          COVE_UNSUPPORTED);
  }
  SECTION("the facade") {
    fake::world().fail_with = Error(ErrorCode::kTimeout, "too long");
    CHECK(cove_workspace_tool_call(workspace.get(), "t", "{}", &options, &result, nullptr) ==
          COVE_TIMEOUT);
    fake::world().fail_with.reset();
  }
  SECTION("a size of no version: nothing of it is read") {
    options.struct_size = 7;
    CHECK(cove_workspace_tool_call(workspace.get(), "t", "{}", &options, &result, nullptr) ==
          COVE_INVALID_ARGUMENT);
    dropped = 0;
  }
  SECTION("a start without a callback") {
    CHECK(cove_workspace_tool_call_start(workspace.get(), "t", "{}", &options, nullptr, nullptr,
                                         nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  }
  CHECK(result == nullptr);
  CHECK(links.dropped == dropped);
  CHECK(links.asked == 0);
}

TEST_CASE("Tool: a call that is started answers once, and lets go of the link maker",
          "[capi][tools]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().tool_result.text = "done";
  Links links;
  Heard heard;
  const cove_tool_options options = options_to(&links);
  REQUIRE(cove_workspace_tool_call_start(workspace.get(), "t", "{}", &options, on_tool, &heard,
                                         on_drop, nullptr) == COVE_OK);
  CHECK(heard.done == 0);
  CHECK(links.dropped == 0);
  fake::world().deliver();
  fake::world().tool_options = {};
  CHECK(heard.order == "dx");
  CHECK(heard.text == "done");
  CHECK(links.dropped == 1);

  Heard failed;
  CHECK(cove_workspace_tool_call_start(workspace.get(), nullptr, "{}", nullptr, on_tool, &failed,
                                       on_drop, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(failed.order == "x");
}

TEST_CASE("Tool: a request names its files, and is answered in their order", "[capi][tools]") {
  Asked asked;
  cove_link_request* const request = asked.links.request.get();
  CHECK(asked.links.waiting == COVE_FAILED_PRECONDITION);
  CHECK(asked.links.dropped == 1);
  REQUIRE(cove_link_request_count(request) == 2);
  CHECK(std::string(cove_file_info_path(cove_link_request_file(request, 0))) ==
        "sessions/c1/report.html");
  CHECK(cove_file_info_size(cove_link_request_file(request, 0)) == 9);
  CHECK(std::string(cove_file_info_path(cove_link_request_file(request, 1))) == "chart\xff.png");
  CHECK(std::string(cove_link_request_content_type(request, 1)) == "image/png");
  CHECK(cove_link_request_file(request, 2) == nullptr);
  CHECK(cove_link_request_content_type(request, 2) == nullptr);
  CHECK(cove_link_request_is_over(request) == 0);
  const char* const urls[] = {"https://a/1", "https://a/2"};
  REQUIRE(cove_link_request_answer(request, urls, 2, nullptr) == COVE_OK);
  REQUIRE(fake::world().links.size() == 1);
  REQUIRE(fake::world().links[0]);
  CHECK(*fake::world().links[0] == std::vector<std::string>{"https://a/1", "https://a/2"});
}

TEST_CASE("Tool: only the first answer to a request counts", "[capi][tools]") {
  Asked asked;
  cove_link_request* const request = asked.links.request.get();
  const char* const urls[] = {"https://a/1", "https://a/2"};
  REQUIRE(cove_link_request_refuse(request, COVE_PERMISSION_DENIED, "not these", nullptr) ==
          COVE_OK);
  CHECK(cove_link_request_answer(request, urls, 2, nullptr) == COVE_FAILED_PRECONDITION);
  CHECK(cove_link_request_refuse(request, COVE_INTERNAL, "again", nullptr) ==
        COVE_FAILED_PRECONDITION);
  asked.links.request.reset();
  REQUIRE(fake::world().links.size() == 1);
  REQUIRE_FALSE(fake::world().links[0]);
  CHECK(fake::world().links[0].error().code() == ErrorCode::kPermissionDenied);
  CHECK(fake::world().links[0].error().message() == "not these");
}

TEST_CASE("Tool: a wrong answer to a request is named, and leaves it open", "[capi][tools]") {
  Asked asked;
  cove_link_request* const request = asked.links.request.get();
  const char* const urls[] = {"https://a/1", nullptr};
  cove_error* error = nullptr;
  CHECK(cove_link_request_answer(request, urls, 1, &error) == COVE_INVALID_ARGUMENT);
  CHECK(message_of(error) == "there are 1 links for 2 files: give one for each");
  CHECK(cove_link_request_answer(request, urls, 2, &error) == COVE_INVALID_ARGUMENT);
  CHECK(message_of(error) == "urls[1] is NULL");
  CHECK(cove_link_request_answer(request, nullptr, 2, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_link_request_answer(nullptr, urls, 2, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_link_request_refuse(request, COVE_OK, "fine", nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_link_request_refuse(request, 17, "what", nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_link_request_refuse(request, COVE_INTERNAL, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(cove_link_request_refuse(nullptr, COVE_INTERNAL, "x", nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(fake::world().links.empty());
  CHECK(cove_link_request_refuse(request, COVE_INTERNAL, "now", nullptr) == COVE_OK);
  CHECK(fake::world().links.size() == 1);
}

TEST_CASE("Tool: a request that is freed unanswered is refused", "[capi][tools]") {
  Asked asked;
  asked.links.request.reset();
  REQUIRE(fake::world().links.size() == 1);
  REQUIRE_FALSE(fake::world().links[0]);
  CHECK(fake::world().links[0].error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("Tool: a request may be answered on another thread", "[capi][tools][threads]") {
  Asked asked;
  std::thread other([request = std::move(asked.links.request)] {
    const char* const urls[] = {"https://a/1", "https://a/2"};
    (void)cove_link_request_answer(request.get(), urls, 2, nullptr);
  });
  other.join();
  REQUIRE(fake::world().links.size() == 1);
  CHECK(fake::world().links[0]);
}

TEST_CASE("Tool: a request that outlives its Cove is answered into the void", "[capi][tools]") {
  Asked asked;
  asked.workspace.reset();
  asked.cove.reset();
  CHECK(fake::world().open == 0);
  const char* const urls[] = {"https://a/1", "https://a/2"};
  CHECK(cove_link_request_answer(asked.links.request.get(), urls, 2, nullptr) == COVE_OK);
  CHECK(fake::world().links.empty());
}

TEST_CASE("Tool: a request says when nobody waits any more", "[capi][tools]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Links links;
  links.workspace = workspace.get();
  fake::world().linkless = two_files();
  cove_cancel* cancel = nullptr;
  REQUIRE(cove_cancel_create(&cancel, nullptr) == COVE_OK);
  cove_tool_options options = options_to(&links);
  options.cancel = cancel;
  cove_tool_result* result = nullptr;
  REQUIRE(cove_workspace_tool_call(workspace.get(), "t", "{}", &options, &result, nullptr) ==
          COVE_OK);
  cove_tool_result_free(result);
  CHECK(cove_link_request_is_over(links.request.get()) == 0);
  cove_cancel_trigger(cancel);
  cove_cancel_free(cancel);
  CHECK(cove_link_request_is_over(links.request.get()) == 1);
}

TEST_CASE("Tool: a forked child answers no request of its parent's", "[capi][tools][fork]") {
  Asked asked;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    cove_link_request* const request = asked.links.request.get();
    const bool refused =
        cove_link_request_is_over(request) == 1 &&
        cove_link_request_refuse(request, COVE_INTERNAL, "x", nullptr) == COVE_FAILED_PRECONDITION;
    asked.links.request.reset();
    ::_exit(refused && fake::world().links.empty() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("Tool: getters of nothing give nothing", "[capi][tools]") {
  size_t size = 1;
  CHECK(std::string(cove_tool_result_text(nullptr, &size)).empty());
  CHECK(size == 0);
  CHECK(std::string(cove_tool_result_data_json(nullptr)).empty());
  CHECK(cove_tool_result_is_error(nullptr) == 0);
  cove_tool_result_free(nullptr);
  CHECK(cove_link_request_count(nullptr) == 0);
  CHECK(cove_link_request_is_over(nullptr) == 1);
  cove_link_request_free(nullptr);
}
