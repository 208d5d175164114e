/// The cases of tests/tools/behaviour.json through libcove.so: what every API does alike. It uses
/// cove.h and nothing else of Cove's. Usage: behaviour_run STATE_DIRECTORY BEHAVIOUR_JSON
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "run_support.hpp"

using namespace cases;

namespace {

std::string text_of(const Json& step, const char* name) { return step.value(name, std::string()); }
std::uint64_t number_of(const Json& step, const char* name) {
  return step.value(name, std::uint64_t{0});
}

/// A text that C takes as NULL where the step has none.
const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

Json file_of(const cove_file_info* info) {
  static const char* const kTypes[] = {"", "file", "directory", "symlink", "other"};
  return {{"type", kTypes[cove_file_info_type(info)]},
          {"size", cove_file_info_size(info)},
          {"mode", cove_file_info_mode(info)},
          {"link_target", cove_file_info_link_target(info)}};
}

Json taken_file(cove_file_info* info) {
  const Owned<cove_file_info, cove_file_info_free> owned(info);
  return file_of(info);
}

/// A command that was started and not waited for.
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_up = false;
  bool has_ended = false;
  cove_process* process = nullptr;

  void wait(bool Running::* flag) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return this->*flag; });
  }
  void set(bool Running::* flag) {
    const std::lock_guard lock(mutex);
    this->*flag = true;
    changed.notify_all();
  }
};

std::int32_t on_output(void* user_data, std::int32_t, const void*, std::size_t) {
  static_cast<Running*>(user_data)->set(&Running::is_up);
  return COVE_CONTINUE;
}

void on_ended(void* user_data, cove_exec_result* result, cove_error* error) {
  cove_exec_result_free(result);
  cove_error_free(error);
  static_cast<Running*>(user_data)->set(&Running::has_ended);
}

/// Does the steps of one case.
class Player {
 public:
  Player(cove* app, std::string user, std::string chat)
      : app_(app), user_(std::move(user)), chat_(std::move(chat)) {
    acquire({});
  }
  ~Player() {
    cove_workspace_free(workspace_);
    for (const auto& running : running_) {
      running->wait(&Running::has_ended);
      cove_process_free(running->process);
    }
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  Json play(const Json& step) {
    try {
      return (this->*kDoes.at(step.at("do")))(step);
    } catch (const Failed& failed) {
      return failed.value;
    }
  }

 private:
  using Does = Json (Player::*)(const Json&);
  static const std::map<std::string, Does> kDoes;

  Json acquire(const Json& /*step*/) {
    static const char* const kWorks[] = {"none", "provisioned", "resumed", "restored"};
    cove_workspace_key key = COVE_WORKSPACE_KEY_INIT;
    key.source_type = "app";
    key.source_id = "behaviour";
    key.user_id = user_.c_str();
    cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
    options.chat_id = chat_.c_str();
    cove_workspace* workspace = nullptr;
    cove_error* error = nullptr;
    const cove_status status = cove_acquire(app_, &key, &options, &workspace, &error);
    check(status, error);
    cove_workspace_free(workspace_);
    workspace_ = workspace;
    return {{"work", kWorks[cove_workspace_work(workspace)]}};
  }

  Json exec(const Json& step) {
    const auto argv = step.value("argv", std::vector<std::string>());
    std::vector<const char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(argument.c_str());
    std::vector<std::string> variables;
    for (const auto& [name, value] : step.value("env", std::map<std::string, std::string>())) {
      variables.push_back(name + "=" + value);
    }
    std::vector<const char*> environment;
    for (const std::string& variable : variables) environment.push_back(variable.c_str());
    const std::string shell = text_of(step, "shell");
    const std::string cwd = text_of(step, "cwd");
    const std::string input = text_of(step, "stdin");
    cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
    options.shell_line = or_null(shell);
    options.cwd = or_null(cwd);
    options.env = environment.data();
    options.env_count = environment.size();
    options.stdin_data = input.data();
    options.stdin_size = input.size();
    options.command_timeout_ms = number_of(step, "command_timeout_ms");
    options.head_bytes = number_of(step, "head_bytes");
    options.tail_bytes = number_of(step, "tail_bytes");
    options.max_total_bytes = number_of(step, "max_total_bytes");
    cove_exec_result* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_exec(workspace_, arguments.data(), arguments.size(), &options, &raw, &error);
    check(status, error);
    return taken_result(raw);
  }

  static Json taken_result(cove_exec_result* raw) {
    static const char* const kOutcomes[] = {
        "",          "exited",       "signaled",      "timed_out",
        "cancelled", "output_limit", "out_of_memory", "cpu_limit"};
    const Owned<cove_exec_result, cove_exec_result_free> result(raw);
    return {{"outcome", kOutcomes[cove_exec_result_outcome(raw)]},
            {"code", cove_exec_result_code(raw)},
            {"shell_code", cove_exec_result_shell_code(raw)},
            {"out", cove_exec_result_text(raw, COVE_STDOUT, nullptr)},
            {"err", cove_exec_result_text(raw, COVE_STDERR, nullptr)},
            {"total_bytes", cove_exec_result_total_bytes(raw, COVE_STDOUT)},
            {"dropped_bytes", cove_exec_result_dropped_bytes(raw, COVE_STDOUT)}};
  }

  Json start(const Json& step) {
    const std::string shell = "echo up; " + text_of(step, "shell");
    running_.push_back(std::make_unique<Running>());
    Running& running = *running_.back();
    cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
    options.shell_line = shell.c_str();
    cove_exec_callbacks callbacks = COVE_EXEC_CALLBACKS_INIT;
    callbacks.on_output = on_output;
    callbacks.on_done = on_ended;
    callbacks.user_data = &running;
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_exec_start(workspace_, nullptr, 0, &options,
                                                         &callbacks, &running.process, &error);
    check(status, error);
    running.wait(&Running::is_up);
    return Json::object();
  }

  Json write(const Json& step) {
    const std::string path = step.at("path");
    const std::string text = step.at("text");
    const std::string etag = text_of(step, "if_unchanged_since");
    cove_write_options options = COVE_WRITE_OPTIONS_INIT;
    if (step.value("append", false)) options.flags |= COVE_WRITE_APPEND;
    if (step.value("if_absent", false)) options.flags |= COVE_WRITE_IF_ABSENT;
    if (step.value("existing_parents", false)) options.flags |= COVE_WRITE_EXISTING_PARENTS;
    options.if_unchanged_since = or_null(etag);
    cove_file_info* info = nullptr;
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_write_file(workspace_, path.c_str(), text.data(),
                                                         text.size(), &options, &info, &error);
    check(status, error);
    return taken_file(info);
  }

  Json read(const Json& step) {
    const std::string path = step.at("path");
    cove_read_options options = COVE_READ_OPTIONS_INIT;
    options.offset = number_of(step, "offset");
    options.max_bytes = number_of(step, "length");
    cove_buffer* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_read_file(workspace_, path.c_str(), &options, &raw, &error);
    check(status, error);
    const Owned<cove_buffer, cove_buffer_free> content(raw);
    return {{"text", std::string(cove_buffer_data(raw), cove_buffer_size(raw))}};
  }

  Json read_lines(const Json& step) {
    const std::string path = step.at("path");
    cove_read_lines_options options = COVE_READ_LINES_OPTIONS_INIT;
    options.first = number_of(step, "first");
    options.count = number_of(step, "count");
    cove_line_slice* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_read_lines(workspace_, path.c_str(), &options, &raw, &error);
    check(status, error);
    const Owned<cove_line_slice, cove_line_slice_free> slice(raw);
    std::size_t size = 0;
    const char* const text = cove_line_slice_text(raw, &size);
    const std::uint64_t next = cove_line_slice_next(raw);
    return {{"text", std::string(text, size)},
            {"first", cove_line_slice_first(raw)},
            {"next", next == 0 ? Json() : Json(next)}};
  }

  Json stat(const Json& step) {
    const std::string path = step.at("path");
    cove_file_info* info = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_stat(workspace_, path.c_str(), nullptr, &info, &error);
    check(status, error);
    return taken_file(info);
  }

  Json list(const Json& step) {
    const std::string path = step.at("path");
    cove_file_list_options options = COVE_FILE_LIST_OPTIONS_INIT;
    if (step.contains("depth")) options.depth = step.at("depth") == 0 ? COVE_DEPTH_ALL : 1;
    cove_file_page* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_list(workspace_, path.c_str(), &options, &raw, &error);
    check(status, error);
    const Owned<cove_file_page, cove_file_page_free> page(raw);
    Json names = Json::array();
    for (std::size_t i = 0; i < cove_file_page_count(raw); ++i) {
      names.push_back(cove_file_info_path(cove_file_page_entry(raw, i)));
    }
    return {{"names", names}};
  }

  Json mkdir(const Json& step) {
    const std::string path = step.at("path");
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_make_directory(workspace_, path.c_str(), nullptr, &error);
    check(status, error);
    return Json::object();
  }

  Json remove(const Json& step) {
    const std::string path = step.at("path");
    cove_remove_options options = COVE_REMOVE_OPTIONS_INIT;
    if (step.value("recursive", false)) options.flags = COVE_REMOVE_RECURSIVE;
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_remove(workspace_, path.c_str(), &options, &error);
    check(status, error);
    return Json::object();
  }

  Json move(const Json& step) {
    const std::string from = step.at("from");
    const std::string to = step.at("to");
    cove_move_options options = COVE_MOVE_OPTIONS_INIT;
    if (step.value("overwrite", false)) options.flags = COVE_MOVE_OVERWRITE;
    cove_file_info* info = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_move(workspace_, from.c_str(), to.c_str(), &options, &info, &error);
    check(status, error);
    return taken_file(info);
  }

  Json copy(const Json& step) {
    const std::string from = step.at("from");
    const std::string to = step.at("to");
    cove_tree_counts* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_copy(workspace_, from.c_str(), to.c_str(), nullptr, &raw, &error);
    check(status, error);
    const Owned<cove_tree_counts, cove_tree_counts_free> counts(raw);
    return {{"entries", cove_tree_counts_entries(raw)}, {"bytes", cove_tree_counts_bytes(raw)}};
  }

  Json chmod(const Json& step) {
    const std::string path = step.at("path");
    cove_file_info* info = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_set_mode(workspace_, path.c_str(), step.at("mode"), nullptr, &info, &error);
    check(status, error);
    return taken_file(info);
  }

  Json symlink(const Json& step) {
    const std::string path = step.at("path");
    const std::string target = step.at("target");
    cove_file_info* info = nullptr;
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_make_symlink(workspace_, path.c_str(), target.c_str(),
                                                           nullptr, &info, &error);
    check(status, error);
    return taken_file(info);
  }

  Json edit(const Json& step) {
    const std::string path = step.at("path");
    const Json& given = step.at("edits");
    std::vector<std::string> texts;
    for (const Json& one : given) {
      texts.push_back(one.at("old"));
      texts.push_back(one.at("new"));
    }
    std::vector<cove_edit> edits(given.size(), cove_edit COVE_EDIT_INIT);
    for (std::size_t i = 0; i < edits.size(); ++i) {
      edits[i].old_text = texts[2 * i].data();
      edits[i].old_size = texts[2 * i].size();
      edits[i].new_text = texts[2 * i + 1].data();
      edits[i].new_size = texts[2 * i + 1].size();
      if (given[i].value("all", false)) edits[i].flags = COVE_EDIT_REPLACE_ALL;
    }
    cove_edit_result* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_edit_file(workspace_, path.c_str(), edits.data(),
                                                        edits.size(), nullptr, &raw, &error);
    check(status, error);
    const Owned<cove_edit_result, cove_edit_result_free> result(raw);
    Json replaced = Json::array();
    for (std::size_t i = 0; i < cove_edit_result_count(raw); ++i) {
      replaced.push_back(cove_edit_result_replaced(raw, i));
    }
    return {{"replaced", replaced}};
  }

  Json grep(const Json& step) {
    static const char* const kEnds[] = {"", "complete", "limit", "deadline", "cancelled"};
    const std::string path = step.at("path");
    const std::string pattern = step.at("pattern");
    cove_grep_options options = COVE_GREP_OPTIONS_INIT;
    if (step.value("literal", false)) options.flags = COVE_GREP_LITERAL;
    options.limit = number_of(step, "limit");
    cove_grep_result* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_grep(workspace_, path.c_str(), pattern.c_str(), &options, &raw, &error);
    check(status, error);
    const Owned<cove_grep_result, cove_grep_result_free> result(raw);
    const cove_grep_lines* const found = cove_grep_result_lines(raw);
    Json lines = Json::array();
    for (std::size_t i = 0; i < cove_grep_lines_count(found); ++i) {
      const cove_grep_line* const line = cove_grep_lines_entry(found, i);
      std::size_t size = 0;
      const char* const text = cove_grep_line_text(line, &size);
      lines.push_back(
          {cove_grep_line_path(line), cove_grep_line_number(line), std::string(text, size)});
    }
    const int ended = cove_search_summary_ended(cove_grep_result_summary(raw));
    return {{"lines", lines}, {"ended", kEnds[ended]}};
  }

  Json find(const Json& step) {
    const std::string path = step.at("path");
    const std::string glob = text_of(step, "glob");
    cove_find_options options = COVE_FIND_OPTIONS_INIT;
    options.glob = or_null(glob);
    options.min_bytes = number_of(step, "min_bytes");
    cove_find_result* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status =
        cove_workspace_find(workspace_, path.c_str(), &options, &raw, &error);
    check(status, error);
    const Owned<cove_find_result, cove_find_result_free> result(raw);
    const cove_find_entries* const found = cove_find_result_entries(raw);
    Json names = Json::array();
    for (std::size_t i = 0; i < cove_find_entries_count(found); ++i) {
      names.push_back(cove_find_entry_path(cove_find_entries_entry(found, i)));
    }
    return {{"names", names}};
  }

  Json release(const Json& /*step*/) {
    cove_error* error = nullptr;
    const cove_status status = cove_workspace_release(workspace_, nullptr, &error);
    check(status, error);
    return Json::object();
  }

  Json stop(const Json& step) {
    cove_stop_options options = COVE_STOP_OPTIONS_INIT;
    if (text_of(step, "drain") == "cancel") options.drain = COVE_DRAIN_CANCEL;
    cove_error* error = nullptr;
    const cove_status status = cove_stop(app_, sandbox(), &options, &error);
    check(status, error);
    return Json::object();
  }

  Json archive(const Json& /*step*/) {
    cove_error* error = nullptr;
    const cove_status status = cove_archive(app_, sandbox(), nullptr, &error);
    check(status, error);
    return Json::object();
  }

  Json destroy(const Json& /*step*/) {
    cove_error* error = nullptr;
    const cove_status status = cove_destroy(app_, sandbox(), nullptr, &error);
    check(status, error);
    return Json::object();
  }

  Json status(const Json& /*step*/) {
    cove_buffer* raw = nullptr;
    cove_error* error = nullptr;
    const cove_status status = cove_status_json(app_, sandbox(), nullptr, &raw, &error);
    check(status, error);
    return {{"state", taken_json(raw).at("state")}};
  }

  const char* sandbox() const { return cove_workspace_sandbox_id(workspace_); }

  cove* app_;
  const std::string user_;
  const std::string chat_;
  cove_workspace* workspace_ = nullptr;
  std::vector<std::unique_ptr<Running>> running_;
};

const std::map<std::string, Player::Does> Player::kDoes{
    {"acquire", &Player::acquire}, {"archive", &Player::archive},
    {"chmod", &Player::chmod},     {"copy", &Player::copy},
    {"destroy", &Player::destroy}, {"edit", &Player::edit},
    {"exec", &Player::exec},       {"find", &Player::find},
    {"grep", &Player::grep},       {"list", &Player::list},
    {"mkdir", &Player::mkdir},     {"move", &Player::move},
    {"read", &Player::read},       {"read_lines", &Player::read_lines},
    {"release", &Player::release}, {"remove", &Player::remove},
    {"start", &Player::start},     {"stat", &Player::stat},
    {"status", &Player::status},   {"stop", &Player::stop},
    {"symlink", &Player::symlink}, {"write", &Player::write},
};

/// Whether what a step gave is as it says.
bool is_as_it_says(const Json& got, const Json& expect) {
  if (got.contains("error") != expect.contains("error")) return false;
  for (const auto& [name, value] : expect.items()) {
    if (got.value(name, Json()) != value) return false;
  }
  return true;
}

/// How many steps of the cases are not as they say.
int play_all(cove* app, const Json& cases) {
  int wrong = 0;
  int number = 0;
  for (const Json& given : cases) {
    const std::string chat = "case-" + std::to_string(++number);
    Player player(app, given.value("own", false) ? chat : "all", chat);
    for (const Json& step : given.at("steps")) {
      const Json got = player.play(step);
      if (is_as_it_says(got, step.at("expect"))) continue;
      ++wrong;
      std::fprintf(stderr, "%s\n  %s\n  gave %s\n", given.at("name").get<std::string>().c_str(),
                   step.dump().c_str(), got.dump().c_str());
    }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, play_all, 40); }
