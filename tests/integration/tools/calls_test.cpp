// The calls of tests/tools/calls.json against a real sandbox.
#include <future>
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cove/tools.hpp>

#include "support/fakes/fake_guest.hpp"
#include "support/fixtures/json_cases.hpp"
#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/project_files.hpp"

using namespace cove;
using namespace cove::testing;
using cases::has_members;
using cases::replaced;
using nlohmann::json;

namespace {

json read_cases() { return json::parse(project_file("tests/tools/calls.json")).at("cases"); }

ToolOptions with_links() {
  ToolOptions options;
  options.link_maker = [](const std::vector<FileToLink>& files, const CallContext&,
                          const std::function<void(Result<std::vector<std::string>>)>& done) {
    std::vector<std::string> urls;
    for (const FileToLink& file : files) urls.push_back("https://files.example/" + file.info.path);
    done(urls);
  };
  return options;
}

ToolResult call_tool(const SandboxClient& client, const json& step, bool with_callback) {
  const json& given = step.at("arguments");
  const std::string arguments = given.is_string() ? given.get<std::string>() : given.dump();
  const std::string name = step.at("tool");
  if (!with_callback) return tools_call(client, name, arguments, with_links()).value();
  std::promise<Result<ToolResult>> done;
  tools_call_async(client, name, arguments, with_links(), {},
                   [&](Result<ToolResult> result) { done.set_value(std::move(result)); });
  return done.get_future().get().value();
}

/// What earlier answers gave, by the names that calls gave it.
using Kept = std::map<std::string, std::string>;

json filled(const json& step, const Kept& kept) {
  std::string text = step.dump();
  for (const auto& [name, value] : kept) text = replaced(text, "${" + name + "}", value);
  return json::parse(text);
}

void keep(Kept& kept, const json& step, const ToolResult& answer) {
  const json names = step.value("keep", json::object());
  for (const auto& [name, path] : names.items()) {
    const std::string pointer = "/" + replaced(path.get<std::string>(), ".", "/");
    kept[name] = json::parse(answer.data).at(json::json_pointer(pointer));
  }
}

/// The answer of a call; of one that waits for a text, the first that has it.
ToolResult answer_of(const SandboxClient& client, const json& step, bool with_callback) {
  const std::string until = step.value("until", "");
  for (int tries = 1;; ++tries) {
    ToolResult answer = call_tool(client, step, with_callback);
    if (answer.text.find(until) != std::string::npos) return answer;
    INFO("text: " << answer.text);
    REQUIRE(tries < 100);
  }
}

void check_answer(const ToolResult& answer, const json& expect) {
  INFO("text: " << answer.text);
  INFO("data: " << answer.data);
  CHECK(answer.is_error == expect.at("is_error").get<bool>());
  if (expect.contains("text")) CHECK(answer.text == expect.at("text").get<std::string>());
  if (expect.contains("text_starts")) {
    CHECK(answer.text.starts_with(expect.at("text_starts").get<std::string>()));
  }
  for (const json& part : expect.value("text_has", json::array())) {
    CHECK_THAT(answer.text, Catch::Contains(part.get<std::string>()));
  }
  for (const json& part : expect.value("text_lacks", json::array())) {
    CHECK_THAT(answer.text, !Catch::Contains(part.get<std::string>()));
  }
  const json data = json::parse(answer.data);
  if (expect.contains("data")) CHECK(has_members(data, expect.at("data")));
}

void run_case(const SandboxClient& client, const json& test, bool with_callback) {
  INFO("case: " << test.at("name").get<std::string>());
  const json files = test.value("files", json::object());
  for (const auto& [path, content] : files.items()) {
    REQUIRE(client.write_file(path, bytes_of(content.get<std::string>())));
  }
  if (test.contains("shell")) (void)shell(client, test.at("shell"));
  Kept kept;
  for (const json& each : test.at("calls")) {
    const json step = filled(each, kept);
    INFO("call: " << step.at("tool") << " " << step.at("arguments").dump());
    const ToolResult answer = answer_of(client, step, with_callback);
    check_answer(answer, step.at("expect"));
    keep(kept, step, answer);
  }
  const json then = test.value("then", json::object());
  for (const auto& [path, content] : then.items()) {
    INFO("file: " << path);
    CHECK(text_of(client.read_file(path).value()) == content.get<std::string>());
  }
}

}  // namespace

TEST_CASE("Tools: every call of tests/tools/calls.json gets its answer [pain-36] [pain-58]",
          "[integration][tools][pain-36][pain-58]") {
  LiveCove live;
  auto cove = live.open();
  std::size_t calls = 0;
  std::size_t number = 0;
  for (const json& original : read_cases()) {
    const std::string chat = "case" + std::to_string(++number);
    const json test = json::parse(replaced(original.dump(), "${session}", chat));
    auto workspace = cove.acquire({"app", "tools", "ana"}, {.chat_id = chat}).value();
    run_case(workspace.client(), test, number % 2 == 0);
    REQUIRE(workspace.release());
    calls += test.at("calls").size();
  }
  CHECK(calls >= 150);
}
