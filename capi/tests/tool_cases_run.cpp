/// The calls of tests/tools/calls.json through libcove.so, as every other API answers them.
/// Usage: tool_cases_run STATE_DIRECTORY CALLS_JSON
#include <map>
#include <string>
#include <vector>

#include "run_support.hpp"
#include "support/fixtures/json_cases.hpp"

using namespace cases;

namespace {

constexpr int kTries = 100;  // of a call that waits for a text

void make_links(void* /*user_data*/, cove_link_request* request) {
  const Owned<cove_link_request, cove_link_request_free> owned(request);
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < cove_link_request_count(request); ++i) {
    const cove_file_info* const file = cove_link_request_file(request, i);
    urls.push_back(std::string("https://files.example/") + cove_file_info_path(file));
  }
  std::vector<const char*> given;
  for (const std::string& url : urls) given.push_back(url.c_str());
  cove_link_request_answer(request, given.data(), given.size(), nullptr);
}

struct Answer {
  std::string text;
  Json data;
  bool is_error = false;
};

/// One case in a chat of its own.
class Player {
 public:
  Player(cove* app, const std::string& chat) {
    cove_workspace_key key = COVE_WORKSPACE_KEY_INIT;
    key.source_type = "app";
    key.source_id = "tools";
    key.user_id = "ana";
    cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
    options.chat_id = chat.c_str();
    cove_error* error = nullptr;
    const cove_status status = cove_acquire(app, &key, &options, &workspace_, &error);
    check(status, error);
  }
  ~Player() { cove_workspace_free(workspace_); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// How many calls and files are not as they say.
  int play(const Json& test) {
    const Json files = test.value("files", Json::object());
    for (const auto& [path, content] : files.items()) write(path, content);
    if (test.contains("shell")) run_shell(test.at("shell"));
    int wrong = 0;
    std::map<std::string, std::string> kept;
    for (const Json& each : test.at("calls")) {
      const Json step = filled(each, kept);
      const Answer answer = answer_of(step);
      if (!is_as_it_says(answer, step)) {
        ++wrong;
        std::fprintf(stderr, "%s\n  gave %s\n  %s\n", step.dump().c_str(), answer.text.c_str(),
                     answer.data.dump().c_str());
      }
      keep(kept, step, answer);
    }
    const Json then = test.value("then", Json::object());
    for (const auto& [path, content] : then.items()) {
      if (read(path) == content.get<std::string>()) continue;
      ++wrong;
      std::fprintf(stderr, "%s has another content than %s\n", path.c_str(),
                   content.dump().c_str());
    }
    return wrong;
  }

 private:
  using Kept = std::map<std::string, std::string>;

  static Json filled(const Json& step, const Kept& kept) {
    std::string text = step.dump();
    for (const auto& [name, value] : kept) text = replaced(text, "${" + name + "}", value);
    return Json::parse(text);
  }

  static void keep(Kept& kept, const Json& step, const Answer& answer) {
    const Json names = step.value("keep", Json::object());
    for (const auto& [name, path] : names.items()) {
      const std::string pointer = "/" + replaced(path.get<std::string>(), ".", "/");
      kept[name] = answer.data.at(Json::json_pointer(pointer));
    }
  }

  static bool is_as_it_says(const Answer& answer, const Json& step) {
    const Json& expect = step.at("expect");
    if (answer.is_error != expect.at("is_error").get<bool>()) return false;
    if (answer.text.find(step.value("until", "")) == std::string::npos) return false;
    if (expect.contains("text") && answer.text != expect.at("text").get<std::string>())
      return false;
    if (answer.text.rfind(expect.value("text_starts", ""), 0) != 0) return false;
    for (const Json& part : expect.value("text_has", Json::array())) {
      if (answer.text.find(part.get<std::string>()) == std::string::npos) return false;
    }
    for (const Json& part : expect.value("text_lacks", Json::array())) {
      if (answer.text.find(part.get<std::string>()) != std::string::npos) return false;
    }
    return !expect.contains("data") || has_members(answer.data, expect.at("data"));
  }

  void write(const std::string& path, const std::string& content) {
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_write_file(workspace_, path.c_str(), content.data(),
                                                         content.size(), nullptr, nullptr, &error);
    check(status, error);
  }

  std::string read(const std::string& path) {
    cove_buffer* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_read_file(workspace_, path.c_str(), nullptr, &raw, &error);
    check(status, error);
    const Owned<cove_buffer, cove_buffer_free> content(raw);
    return {static_cast<const char*>(cove_buffer_data(raw)), cove_buffer_size(raw)};
  }

  void run_shell(const std::string& line) {
    cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
    options.shell_line = line.c_str();
    cove_exec_result* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_exec(workspace_, nullptr, 0, &options, &raw, &error);
    check(status, error);
    cove_exec_result_free(raw);
  }

  /// The answer of a call; of one that waits for a text, the first that has it.
  Answer answer_of(const Json& step) {
    const std::string until = step.value("until", "");
    for (int tries = 1;; ++tries) {
      Answer answer = call(step);
      if (answer.text.find(until) != std::string::npos || tries == kTries) return answer;
    }
  }

  Answer call(const Json& step) {
    const Json& given = step.at("arguments");
    const std::string arguments = given.is_string() ? given.get<std::string>() : given.dump();
    const std::string name = step.at("tool");
    cove_tool_options options = COVE_TOOL_OPTIONS_INIT;
    options.make_links = make_links;
    cove_tool_result* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_tool_call(workspace_, name.c_str(), arguments.c_str(),
                                                        &options, &raw, &error);
    check(status, error);
    const Owned<cove_tool_result, cove_tool_result_free> result(raw);
    std::size_t size = 0;
    const char* const text = cove_tool_result_text(raw, &size);
    return {std::string(text, size), Json::parse(cove_tool_result_data_json(raw)),
            cove_tool_result_is_error(raw) == 1};
  }

  cove_workspace* workspace_ = nullptr;
};

int play_all(cove* app, const Json& cases) {
  int wrong = 0;
  int number = 0;
  for (const Json& given : cases) {
    const std::string chat = "case" + std::to_string(++number);
    const Json test = Json::parse(replaced(given.dump(), "${session}", chat));
    try {
      wrong += Player(app, chat).play(test);
    } catch (const Failed& failed) {
      ++wrong;
      std::fprintf(stderr, "%s: %s\n", test.at("name").dump().c_str(), failed.value.dump().c_str());
    }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, play_all, 40); }
