// The cases of tests/tools/behaviour.json in C++: what every API does alike.
#include <functional>
#include <future>
#include <map>
#include <optional>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/text/byte_text.hpp"
#include "base/values/outcome_name.hpp"
#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/project_files.hpp"

using namespace cove;
using namespace cove::testing;
using nlohmann::json;

namespace {

const char* const kTypes[] = {"", "file", "directory", "symlink", "other"};
const char* const kEnds[] = {"", "complete", "limit", "deadline", "cancelled"};
const char* const kWorks[] = {"none", "provisioned", "resumed", "restored"};

json file_of(const FileInfo& info) {
  return {{"type", kTypes[static_cast<int>(info.type)]},
          {"size", info.size},
          {"mode", info.mode},
          {"link_target", info.link_target}};
}

json code_of(const ExecResult& result) {
  if (const auto* exited = std::get_if<Exited>(&result.outcome)) return exited->code;
  if (const auto* signaled = std::get_if<Signaled>(&result.outcome)) return signaled->signal;
  return nullptr;
}

ExecSpec spec_of(const json& step) {
  ExecSpec spec;
  if (step.contains("argv")) spec.argv = step.at("argv").get<std::vector<std::string>>();
  spec.shell_line = step.value("shell", "");
  spec.cwd = step.value("cwd", "");
  spec.env = step.value("env", std::map<std::string, std::string>());
  spec.stdin_data = step.value("stdin", "");
  if (step.contains("command_timeout_ms")) {
    spec.timeout = std::chrono::milliseconds(step.at("command_timeout_ms").get<int>());
  }
  spec.output.head_bytes = step.value("head_bytes", spec.output.head_bytes);
  spec.output.tail_bytes = step.value("tail_bytes", spec.output.tail_bytes);
  spec.output.max_total_bytes = step.value("max_total_bytes", spec.output.max_total_bytes);
  return spec;
}

/// Does the steps of one case.
class Player {
 public:
  Player(const Cove& cove, WorkspaceKey key, std::string chat)
      : cove_(cove), key_(std::move(key)), chat_(std::move(chat)) {
    acquire().value();
  }
  ~Player() {
    workspace_.reset();
    for (auto& running : running_) running.wait();
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  json play(const json& step) {
    const Result<json> done = (this->*kDoes.at(step.at("do")))(step);
    if (done) return *done;
    return {{"error", name_of(done.error().code())}};
  }

 private:
  using Does = Result<json> (Player::*)(const json&);
  static const std::map<std::string, Does> kDoes;

  SandboxClient client() const { return workspace_->client(); }
  static std::string path(const json& step) { return step.at("path"); }

  Result<json> acquire() {
    AcquireOptions options;
    options.chat_id = chat_;
    COVE_TRY(Workspace workspace, cove_.acquire(key_, options));
    workspace_.emplace(std::move(workspace));
    return json{{"work", kWorks[static_cast<int>(workspace_->work())]}};
  }
  Result<json> acquire(const json& /*step*/) { return acquire(); }

  Result<json> exec(const json& step) {
    COVE_TRY(const ExecResult result, client().exec(spec_of(step)));
    return json{{"outcome", base::outcome_name(result.outcome)},
                {"code", code_of(result)},
                {"shell_code", result.shell_code()},
                {"out", result.out.text()},
                {"err", result.err.text()},
                {"total_bytes", result.out.total_bytes},
                {"dropped_bytes", result.out.dropped_bytes}};
  }

  Result<json> start(const json& step) {
    ExecSpec spec;
    spec.shell_line = "echo up; " + step.at("shell").get<std::string>();
    const auto up = std::make_shared<std::promise<void>>();
    const auto ended = std::make_shared<std::promise<void>>();
    ExecCallbacks callbacks;
    callbacks.on_output = [up](OutputStream, ByteView) {
      up->set_value();
      return Flow::kContinue;
    };
    callbacks.on_done = [ended](const Result<ExecResult>&) { ended->set_value(); };
    client().exec_async(std::move(spec), std::move(callbacks));
    up->get_future().wait();
    running_.push_back(ended->get_future());
    return json::object();
  }

  Result<json> write(const json& step) {
    const std::string text = step.at("text");
    WriteOptions options;
    options.append = step.value("append", false);
    options.if_absent = step.value("if_absent", false);
    options.create_parents = !step.value("existing_parents", false);
    if (step.contains("if_unchanged_since")) {
      options.if_unchanged_since = step.at("if_unchanged_since").get<std::string>();
    }
    const ByteView bytes = std::as_bytes(std::span(text));
    COVE_TRY(const FileInfo info, client().write_file(path(step), bytes, options));
    return file_of(info);
  }

  Result<json> read(const json& step) {
    ReadRange range;
    range.offset = step.value("offset", std::uint64_t{0});
    if (step.contains("length")) range.length = step.at("length").get<std::uint64_t>();
    COVE_TRY(const Bytes bytes, client().read_file(path(step), range));
    return json{{"text", std::string(base::text_of(bytes))}};
  }

  Result<json> read_lines(const json& step) {
    LineRange range;
    range.first = step.at("first");
    range.count = step.value("count", range.count);
    COVE_TRY(const LineSlice slice, client().read_lines(path(step), range));
    return json{{"text", slice.text},
                {"first", slice.first},
                {"next", slice.next ? json(*slice.next) : json()}};
  }

  Result<json> stat(const json& step) {
    COVE_TRY(const FileInfo info, client().stat(path(step)));
    return file_of(info);
  }

  Result<json> list(const json& step) {
    ListOptions options;
    options.depth = step.value("depth", 1U);
    COVE_TRY(const FilePage page, client().list(path(step), options));
    json names = json::array();
    for (const FileInfo& entry : page.entries) names.push_back(entry.path);
    return json{{"names", names}};
  }

  Result<json> mkdir(const json& step) {
    COVE_TRY_VOID(client().make_directory(path(step)));
    return json::object();
  }

  Result<json> remove(const json& step) {
    COVE_TRY_VOID(client().remove(path(step), step.value("recursive", false)));
    return json::object();
  }

  Result<json> move(const json& step) {
    MoveOptions options;
    options.overwrite = step.value("overwrite", false);
    COVE_TRY(const FileInfo info, client().move(step.at("from"), step.at("to"), options));
    return file_of(info);
  }

  Result<json> copy(const json& step) {
    COVE_TRY(const TreeCounts counts, client().copy(step.at("from"), step.at("to")));
    return json{{"entries", counts.entries}, {"bytes", counts.bytes}};
  }

  Result<json> chmod(const json& step) {
    COVE_TRY(const FileInfo info, client().set_mode(path(step), step.at("mode")));
    return file_of(info);
  }

  Result<json> symlink(const json& step) {
    COVE_TRY(const FileInfo info, client().make_symlink(path(step), step.at("target")));
    return file_of(info);
  }

  Result<json> edit(const json& step) {
    std::vector<Edit> edits;
    for (const json& given : step.at("edits")) {
      edits.push_back({given.at("old"), given.at("new"), given.value("all", false)});
    }
    COVE_TRY(const EditResult result, client().edit_file(path(step), edits));
    json replaced = json::array();
    for (const EditOutcome& outcome : result.edits) replaced.push_back(outcome.replaced);
    return json{{"replaced", replaced}};
  }

  Result<json> grep(const json& step) {
    GrepQuery query;
    query.pattern = step.at("pattern");
    query.literal = step.value("literal", false);
    if (step.contains("limit")) query.limit = step.at("limit").get<std::uint64_t>();
    COVE_TRY(const GrepResult found, client().grep(path(step), query));
    json lines = json::array();
    for (const GrepLine& line : found.lines) lines.push_back({line.path, line.line, line.text});
    return json{{"lines", lines}, {"ended", kEnds[static_cast<int>(found.summary.ended)]}};
  }

  Result<json> find(const json& step) {
    FindQuery query;
    query.glob = step.value("glob", "");
    if (step.contains("min_bytes")) query.min_size = step.at("min_bytes").get<std::uint64_t>();
    COVE_TRY(const FindResult found, client().find(path(step), query));
    json names = json::array();
    for (const FindEntry& entry : found.entries) names.push_back(entry.path);
    return json{{"names", names}};
  }

  Result<json> release(const json& /*step*/) {
    COVE_TRY_VOID(workspace_->release());
    return json::object();
  }

  Result<json> stop(const json& step) {
    const bool cancels = step.value("drain", "refuse") == "cancel";
    COVE_TRY_VOID(
        cove_.stop(workspace_->sandbox_id(), cancels ? StopDrain::kCancel : StopDrain::kRefuse));
    return json::object();
  }

  Result<json> archive(const json& /*step*/) {
    COVE_TRY_VOID(cove_.archive(workspace_->sandbox_id()));
    return json::object();
  }

  Result<json> destroy(const json& /*step*/) {
    COVE_TRY_VOID(cove_.destroy(workspace_->sandbox_id()));
    return json::object();
  }

  Result<json> status(const json& /*step*/) {
    COVE_TRY(const Record record, cove_.status(workspace_->sandbox_id()));
    return json{{"state", name_of(record.state)}};
  }

  const Cove& cove_;
  const WorkspaceKey key_;
  const std::string chat_;
  std::optional<Workspace> workspace_;
  std::vector<std::future<void>> running_;
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

}  // namespace

TEST_CASE("Behaviour: every case that all APIs share is as it says", "[integration][runtime]") {
  const json cases = json::parse(project_file("tests/tools/behaviour.json")).at("cases");
  REQUIRE(cases.size() >= 40);
  LiveCove live;
  const Cove cove = live.open();
  int number = 0;
  for (const json& given : cases) {
    const std::string chat = "case-" + std::to_string(++number);
    Player player(cove, {"app", "behaviour", given.value("own", false) ? chat : "all"}, chat);
    for (const json& step : given.at("steps")) {
      const json got = player.play(step);
      INFO(given.at("name") << " | " << step << " | " << got);
      const json& expect = step.at("expect");
      CHECK(got.contains("error") == expect.contains("error"));
      for (const auto& [name, value] : expect.items()) CHECK(got.value(name, json()) == value);
    }
  }
}
