#include <future>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cove/tools.hpp>

#include "support/fakes/fake_link.hpp"

using namespace cove;
using namespace std::chrono_literals;
using cove::testing::FakeLink;
using nlohmann::json;

namespace {

struct Client {
  std::shared_ptr<FakeLink> link = std::make_shared<FakeLink>();
  SandboxClient client = client::make_client(link, "sessions/c1");

  ToolResult call(const char* name, const json& arguments, const ToolOptions& options = {}) const {
    return tools_call(client, name, arguments.dump(), options).value();
  }
};

std::string code_of(const ToolResult& result) {
  CHECK(result.is_error);
  return json::parse(result.data).at("error").at("code");
}

ToolOptions with_maker(FileLinkMaker maker) {
  ToolOptions options;
  options.link_maker = std::move(maker);
  return options;
}

const char* const kUrl = "sandbox_get_file_url";
using Done = std::function<void(Result<std::vector<std::string>>)>;

}  // namespace

TEST_CASE("Tools: each form describes the same tools and schemas", "[unit][tools]") {
  const json openai = json::parse(tools_describe(ToolFormat::kOpenAi));
  const json mcp = json::parse(tools_describe(ToolFormat::kMcp));
  const json plain = json::parse(tools_describe(ToolFormat::kPlain));
  const auto names = tool_names();
  REQUIRE(plain.size() == names.size());
  CHECK(names.size() >= 8);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(plain[i].at("name") == names[i]);
    CHECK(openai[i] == json{{"type", "function"}, {"function", plain[i]}});
    CHECK(mcp[i].at("name") == names[i]);
    CHECK(mcp[i].at("inputSchema") == plain[i].at("parameters"));
    CHECK(mcp[i].at("annotations").contains("readOnlyHint"));
    CHECK(plain[i].at("parameters").at("additionalProperties") == false);
  }
}

TEST_CASE("Tools: the output of a process costs no more looks at it than it must",
          "[unit][tools]") {
  const Client client;
  auto& guest = *client.link->fake;
  guest.command.output = {{OutputStream::kOut, cove::testing::bytes_of("one\ntwo\n")}};
  ProcessInfo info;
  info.id = ProcessId("0123456789abcdef0123456789abcdef");
  info.out_bytes = 8;
  json arguments{{"id", info.id.str()}};
  std::vector<std::string> calls;
  SECTION("one that runs, without an offset: where its end is, then what is there") {
    calls = {"find_process", "process_output"};
  }
  SECTION("one that has ended: the same") {
    info.end.emplace();
    calls = {"find_process", "process_output"};
  }
  SECTION("with an offset: what is there, then what it is") {
    arguments["offset"] = 4;
    calls = {"process_output", "find_process"};
  }
  SECTION("one that wrote more meanwhile is looked at again") {
    info.out_bytes = 4;
    calls = {"find_process", "process_output", "find_process"};
  }
  guest.processes = {info};
  const ToolResult result = client.call("sandbox_process_output", arguments);
  CHECK_FALSE(result.is_error);
  CHECK(guest.log.calls == calls);
  CHECK(json::parse(result.data).at("next_offset") == 8);
}

TEST_CASE("Tools: without a link maker there are no links, and the answer says so",
          "[unit][tools]") {
  const Client c;
  const ToolResult result = c.call(kUrl, {{"paths", {"a"}}});
  CHECK(code_of(result) == "unsupported");
  CHECK(c.link->fake->log.calls.empty());
}

TEST_CASE("Tools: the link maker may answer later, from another thread", "[unit][tools]") {
  const Client c;
  c.link->fake->files["sessions/c1/a.html"] = "<p/>";
  std::thread later;
  const auto maker = [&](const std::vector<FileToLink>& files, const CallContext&, Done done) {
    CHECK(files.front().content_type == "text/plain; charset=utf-8");
    later =
        std::thread([done = std::move(done)] { done(std::vector<std::string>{"https://x/1"}); });
  };
  const ToolResult result = c.call(kUrl, {{"paths", {"a.html"}}}, with_maker(maker));
  later.join();
  CHECK(result.text == R"([{"fileUrl":"https://x/1","filename":"a.html"}])");
}

TEST_CASE("Tools: a link maker that fails, throws or miscounts is an error", "[unit][tools]") {
  const Client c;
  c.link->fake->files["sessions/c1/a"] = "a";
  const json arguments{{"paths", {"a"}}};
  const auto refuses = [](const auto&, const auto&, const Done& done) {
    done(Error(ErrorCode::kQuotaExceeded, "too many links"));
  };
  CHECK(code_of(c.call(kUrl, arguments, with_maker(refuses))) == "quota_exceeded");
  const auto throws = [](const auto&, const auto&, const Done&) { throw std::runtime_error("x"); };
  CHECK(code_of(c.call(kUrl, arguments, with_maker(throws))) == "internal");
  const auto miscounts = [](const auto&, const auto&, const Done& done) {
    done(std::vector<std::string>{});
  };
  CHECK(code_of(c.call(kUrl, arguments, with_maker(miscounts))) == "internal");
}

TEST_CASE("Tools: a call that ends while the link maker thinks is a timeout", "[unit][tools]") {
  const Client c;
  c.link->fake->files["sessions/c1/a"] = "a";
  const auto silent = [](const auto&, const auto&, const Done&) {};
  const CallContext call{.deadline = c.link->system_clock.now() + 50ms, .stop = {}};
  const auto ended = tools_call(c.client, kUrl, R"({"paths":["a"]})", with_maker(silent), call);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code() == ErrorCode::kTimeout);
}

TEST_CASE("Tools: a search whose time is over gives what it has found, and says so [pain-66]",
          "[unit][tools][pain-66]") {
  const Client c;
  GrepLine line;
  line.path = "a";
  line.line = 3;
  line.column = 1;
  line.text = "x";
  c.link->fake->lines.batches = {{line}};
  c.link->fake->lines.ends = false;
  const CallContext call{.deadline = c.link->system_clock.now() + 50ms, .stop = {}};
  const auto result = tools_call(c.client, "sandbox_grep", R"({"pattern":"x"})", {}, call).value();
  CHECK(result.text.starts_with("a:3: x\n"));
  CHECK_THAT(result.text, Catch::Contains("[The search ended early: its time was over."));
  CHECK(json::parse(result.data).at("ended") == "deadline");
}

TEST_CASE("Tools: a sandbox that is not available is an answer with its time", "[unit][tools]") {
  const Client c;
  const Error away = Error(ErrorCode::kUnavailable, "the node is away").with_retry_after(3s);
  c.link->fake->faults = {away, away};
  const ToolResult result = c.call("sandbox_ls", json::object());
  CHECK(code_of(result) == "unavailable");
  CHECK(result.text == "Error: the node is away\nTry the same call again in 3 s.");
}

TEST_CASE("Tools: a call that was cancelled before is no answer", "[unit][tools]") {
  const Client c;
  std::stop_source stop;
  stop.request_stop();
  const CallContext call{.deadline = {}, .stop = stop.get_token()};
  const auto ended = tools_call(c.client, "sandbox_ls", "{}", {}, call);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code() == ErrorCode::kCancelled);
}

TEST_CASE("Tools: the form with a callback answers once on the scheduler, errors too",
          "[unit][tools]") {
  const Client c;
  c.link->fake->files["sessions/c1/a"] = "one\n";
  for (const char* arguments : {R"({"path":"a"})", R"({"path":1,"x":2})"}) {
    std::promise<bool> done;
    tools_call_async(c.client, "sandbox_read_file", arguments, {}, {},
                     [&](const Result<ToolResult>& result) {
                       CHECK(result.has_value());
                       done.set_value(c.link->on_scheduler());
                     });
    CHECK(done.get_future().get());
  }
}

TEST_CASE("Tools: inside a callback the blocking form refuses", "[unit][tools]") {
  const Client c;
  std::promise<Result<ToolResult>> inner;
  tools_call_async(c.client, "sandbox_ls", "{}", {}, {}, [&](const Result<ToolResult>&) {
    inner.set_value(tools_call(c.client, "sandbox_ls", "{}"));
  });
  const auto refused = inner.get_future().get();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
}

TEST_CASE("Tools: a single file that a link leads to keeps the link's name", "[unit][tools]") {
  const Client c;
  GrepLine line;
  line.path = "1.py";
  line.line = 1;
  line.text = "foo";
  c.link->fake->lines.batches = {{line}};
  const json arguments{{"pattern", "foo"}, {"path", "s/l1.py"}};
  CHECK(c.call("sandbox_grep", arguments).text == "s/l1.py:1: foo\n");
  c.link->fake->files["sessions/c1/s/l1.py/1.py"] = "foo";
  CHECK(c.call("sandbox_grep", arguments).text == "s/l1.py/1.py:1: foo\n");
}

TEST_CASE("Tools: a line feed in a pattern is told where nothing is found", "[unit][tools]") {
  const Client c;
  const auto told = [&](const json& arguments) {
    return c.call("sandbox_grep", arguments).text.find("one at a time") != std::string::npos;
  };
  CHECK(told({{"pattern", "a\nb"}}));
  CHECK(told({{"pattern", "a\\nb"}}));
  CHECK(told({{"pattern", "[]a]\\n"}}));
  CHECK_FALSE(told({{"pattern", "a\\\\nb"}}));
  CHECK_FALSE(told({{"pattern", "[^a\\n[:alpha:]\\n]"}}));
  CHECK_FALSE(told({{"pattern", "a\\nb"}, {"literal", true}}));
}

TEST_CASE("Tools: only a wrong pattern is told RE2's rules", "[unit][tools]") {
  const Client c;
  c.link->fake->faults = {Error(ErrorCode::kInvalidArgument, "the glob '[' is wrong at byte 0: x")};
  CHECK_THAT(c.call("sandbox_grep", {{"pattern", "x"}}).text, !Catch::Contains("RE2"));
  c.link->fake->faults = {Error(ErrorCode::kInvalidArgument, "the pattern '(' is wrong: x")};
  CHECK_THAT(c.call("sandbox_grep", {{"pattern", "("}}).text, Catch::Contains("RE2"));
}

TEST_CASE("Tools: a process that does not read holds up no call for long", "[unit][tools]") {
  const Client c;
  c.link->fake->command.ends = false;
  c.link->fake->command.stdin_fault =
      Error(ErrorCode::kTimeout, "the call's deadline passed").with_context("written", "5");
  const std::string id =
      json::parse(c.call("sandbox_process_start", {{"command", "sleep 9"}}).data)["process"]["id"];
  const auto before = c.link->system_clock.now();
  const ToolResult result =
      c.call("sandbox_process_write", {{"id", id}, {"input", "hello world"}, {"close", true}});
  CHECK_FALSE(result.is_error);
  CHECK(result.text.starts_with(
      "5 of 11 bytes written; the process does not read its stdin; send the rest later"));
  const json data = json::parse(result.data);
  CHECK(data["written"] == 5);
  CHECK(data["closed"] == false);
  CHECK_FALSE(c.link->fake->log.stdin_closed);
  REQUIRE(c.link->fake->log.stdin_deadline);
  CHECK(*c.link->fake->log.stdin_deadline >= before + 30s);
  CHECK(*c.link->fake->log.stdin_deadline < before + 60s);
  c.link->fake->command.stdin_fault =
      Error(ErrorCode::kFailedPrecondition, "the command ended").with_context("written", "5");
  CHECK(code_of(c.call("sandbox_process_write", {{"id", id}, {"input", "x"}})) ==
        "failed_precondition");
}

TEST_CASE("Tools: the end of a process's output says how to get the beginning", "[unit][tools]") {
  const Client c;
  const std::string text(60'000, 'x');
  c.link->fake->command.output = {{OutputStream::kOut, cove::testing::bytes_of(text)}};
  const std::string id =
      json::parse(c.call("sandbox_process_start", {{"command", "x"}}).data)["process"]["id"];
  const ToolResult end = c.call("sandbox_process_output", {{"id", id}});
  CHECK_THAT(end.text, Catch::Contains("this is the end of what it wrote."));
  CHECK_THAT(end.text, Catch::Contains("[Use offset=0 for its beginning"));
  const ToolResult begin = c.call("sandbox_process_output", {{"id", id}, {"offset", 0}});
  CHECK_THAT(begin.text, Catch::Contains("Use offset=51200 to continue."));
  CHECK_THAT(begin.text, !Catch::Contains("wait"));
}

TEST_CASE("Tools: a key that is given twice is told, wherever it is", "[unit][tools]") {
  const Client c;
  c.link->fake->files["sessions/c1/b"] = "y\n";
  const auto read = [&](const char* arguments) {
    return tools_call(c.client, "sandbox_read_file", arguments, {}).value().text;
  };
  const std::string note = "[Arguments: `path` was given twice; the last is used]";
  CHECK_THAT(read(R"({"path":"a","path":"b"})"), Catch::Contains(note));
  CHECK_THAT(read(R"({"path":"a","path":"b",})"), Catch::Contains(note));
  CHECK_THAT(read(R"({"path":"b"})"), !Catch::Contains("twice"));
}
