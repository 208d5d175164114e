#include "cli/output/texts.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "cli/commands/live_command.hpp"
#include "unit/cli/captured_output.hpp"

using cove::Error;
using cove::ErrorCode;
using cove::FileInfo;
using cove::FileType;
using nlohmann::json;
using namespace cove::cli;
using namespace std::chrono_literals;

namespace {

using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;

cove::Record archived_record() {
  cove::Record record;
  record.key = {"app", "demo", "ana\x1B[31m"};
  record.sandbox_id = cove::SandboxId("app-52b3bfdf3477b4e1a1bf8608dc581e36");
  record.state = cove::SandboxState::kArchived;
  record.provider = "local";
  record.node = cove::NodeId("node-1");
  record.epoch = cove::Epoch{3};
  record.last_active_at = Milliseconds(1'767'323'045'678ms);
  cove::SnapshotRef snapshot;
  snapshot.objects = {{cove::ObjectKey("a"), 1000, "x"}, {cove::ObjectKey("b"), 24, "y"}};
  snapshot.entries = 7;
  snapshot.content_bytes = 5000;
  record.snapshot = snapshot;
  return record;
}

}  // namespace

TEST_CASE("Command texts: an error is one object with its code, context and time to retry",
          "[unit][cli]") {
  const Error error = Error(ErrorCode::kUnavailable, "not now")
                          .with_context("node", "n1")
                          .with_retry_after(1500ms)
                          .with_cause(Error(ErrorCode::kTimeout, "too slow"));
  const std::string text = error_json(error);
  CHECK(text.find('\n') == std::string::npos);
  const json object = json::parse(text);
  CHECK(object["code"] == "unavailable");
  CHECK(object["message"] == "not now");
  CHECK(object["context"] == json{{"node", "n1"}});
  CHECK(object["retry_after_ms"] == 1500);
  CHECK(object["causes"][0]["code"] == "timeout");
  const json plain = json::parse(error_json(Error(ErrorCode::kNotFound, "no")));
  CHECK(plain["context"] == json::object());
  CHECK(plain["retry_after_ms"].is_null());
  CHECK_FALSE(plain.contains("causes"));
}

TEST_CASE("Command texts: an error is one line that cannot steer a terminal",
          "[unit][cli][security]") {
  const Error error(ErrorCode::kNotFound, "'a\\nb' \x1B[2J\nis not there");
  CHECK(error_line(error) == "'a\\nb' \\x1b[2J\\nis not there");
  CHECK(error_line(error.with_retry_after(1001ms)).ends_with("; try again in 2 s"));
  const testing::CapturedOutput captured;
  captured.output().report(error, false);
  captured.output().report(error, true);
  CHECK(captured.out().empty());
  CHECK(captured.err().starts_with("cove: 'a\\nb'"));
  CHECK(captured.err().find("\n{\"") != std::string::npos);
}

TEST_CASE("Command texts: a record has every key that machines were promised", "[unit][cli]") {
  cove::Record record = archived_record();
  json object = record_json(record);
  CHECK(object["sandbox_id"] == "app-52b3bfdf3477b4e1a1bf8608dc581e36");
  CHECK(object["state"] == "archived");
  CHECK(object["provider"] == "local");
  CHECK(object["node"] == "node-1");
  CHECK(object["generation"] == "");
  CHECK(object["epoch"] == 3);
  CHECK(object["last_active_at"] == "2026-01-02T03:04:05.678Z");
  CHECK(object["operation"].is_null());
  CHECK(object["needs_attention"].is_null());
  CHECK(object["snapshot"]["size"] == 1024);
  CHECK(object["snapshot"]["entries"] == 7);
  CHECK(object["snapshot"]["content_bytes"] == 5000);
  CHECK(object["user_id"] == "ana\x1B[31m");

  record.snapshot.reset();
  record.needs_attention = "look here";
  record.operation.emplace();
  record.operation->kind = cove::OperationKind::kRestore;
  record.operation->phase = cove::Phase::kVolumeCreated;
  object = record_json(record);
  CHECK(object["snapshot"].is_null());
  CHECK(object["needs_attention"] == "look here");
  CHECK(object["operation"]["kind"] == "restore");
  CHECK(object["operation"]["phase"] == "volume_created");
}

TEST_CASE("Command texts: people see a record in a few lines", "[unit][cli]") {
  cove::Record record = archived_record();
  record.needs_attention = "look here";
  const std::string text = record_text(record);
  CHECK(text.find("state         archived\n") != std::string::npos);
  CHECK(text.find("owner         app/demo ana\\x1b[31m\n") != std::string::npos);
  CHECK(text.find("archive       1.0 KiB for 4.9 KiB in 7 entries\n") != std::string::npos);
  CHECK(text.find("ATTENTION     look here\n") != std::string::npos);
  CHECK(record_row(record).find("archived") == record_heading().find("STATE"));
  CHECK(record_row(record).ends_with("app/demo ana\\x1b[31m  needs attention\n"));
}

TEST_CASE("Command texts: files are shown escaped to people, and whole to machines",
          "[unit][cli][security]") {
  FileInfo file;
  file.path = "a\nb\xFF";
  file.type = FileType::kSymlink;
  file.size = 12;
  file.mode = 04751;
  file.modified = std::chrono::sys_time<std::chrono::nanoseconds>(1'767'323'045'678ms);
  file.link_target = "\x1B/etc";
  CHECK(file_text(file) == "a\\nb\\xff\n");
  CHECK(file_long_text(file) ==
        "lrwsr-x--x           12 2026-01-02T03:04:05.678Z a\\nb\\xff -> \\x1b/etc\n");
  const json object = json::parse(cove::base::dump_json(file_json(file)));
  CHECK(object["name"] == "a\nb\xEF\xBF\xBD");
  CHECK(object["name_hex"] == "610a62ff");
  CHECK(object["type"] == "symlink");
  CHECK(object["mode"] == "4751");
  CHECK(object["size"] == 12);
  CHECK(object["modified"] == "2026-01-02T03:04:05.678Z");
  CHECK(object["link_target"] == "\x1B/etc");
  CHECK_FALSE(object.contains("link_target_hex"));
  file.type = FileType::kRegular;
  CHECK_FALSE(file_json(file).contains("link_target"));
}

TEST_CASE("Command texts: a command's end is told with its output", "[unit][cli]") {
  cove::ExecResult result;
  result.outcome = cove::Signaled{9};
  result.out.head = "hel";
  result.out.tail = "lo";
  result.out.total_bytes = 100;
  result.out.dropped_bytes = 95;
  result.duration = 1500us;
  json object = exec_json(result);
  CHECK(object["outcome"] == "signaled");
  CHECK(object["signal"] == 9);
  CHECK(object["exit_code"] == 137);
  CHECK(object["stdout"] == result.out.text());
  CHECK(object["stdout_dropped_bytes"] == 95);
  CHECK(object["stderr"] == "");
  CHECK(object["duration_ms"] == 1.5);
  result.outcome = cove::Exited{7};
  CHECK(exec_json(result)["exit_code"] == 7);
  CHECK(exec_json(result)["signal"].is_null());
  result.outcome = cove::TimedOut{};
  CHECK(exec_json(result)["outcome"] == "timed_out");
  CHECK(exec_json(result)["exit_code"] == 124);
  result.outcome = cove::Cancelled{};
  CHECK(exec_json(result)["exit_code"] == 130);
}

TEST_CASE("Command texts: output that is no UTF-8 is told as logs tells it", "[unit][cli]") {
  cove::ExecResult result;
  result.out.head = "a\\xff \xff";
  const json object = json::parse(cove::base::dump_json(exec_json(result)));
  CHECK(object["stdout"] == "a\\xff \xEF\xBF\xBD");
  CHECK(object["stdout_hex"] == "615c78666620ff");
  CHECK_FALSE(object.contains("stderr_hex"));
}

TEST_CASE("Command texts: attach says that its command was ended", "[unit][cli]") {
  CHECK(std::string(attached_note(cove::Cancelled{})) == "cove: the command was ended\n");
  CHECK(std::string(attached_note(cove::Exited{1})).empty());
}

TEST_CASE("Command texts: processes say what they are and how they ended", "[unit][cli]") {
  cove::ProcessInfo info;
  info.id = cove::ProcessId("0123456789abcdef0123456789abcdef");
  info.name = "web\n";
  info.command = "serve " + std::string(60, 'x');
  info.cwd = "/workspace";
  info.started_at = Milliseconds(1'767'323'045'678ms);
  info.out_bytes = 5;
  CHECK(processes_text({}).empty());
  CHECK(processes_text({info}).ends_with(
      "0123456789ab  running       2026-01-02T03:04:05.678Z  web\\n           serve " +
      std::string(54, 'x') + "...\n"));
  CHECK(process_json(info)["running"] == true);
  CHECK(process_json(info)["exit_code"].is_null());
  CHECK(process_json(info)["stdout_bytes"] == 5);
  info.end.emplace();
  info.end->outcome = cove::Signaled{9};
  CHECK(processes_text({info}).find("signaled 9 ") != std::string::npos);
  CHECK(process_json(info)["running"] == false);
  CHECK(process_json(info)["signal"] == 9);
  CHECK(process_json(info)["exit_code"] == 137);
  info.end->outcome = cove::Exited{3};
  CHECK(processes_text({info}).find("exited 3 ") != std::string::npos);
  const json logs = logs_json(info.id, {"a\xff", 7}, {"", 0});
  CHECK(logs["stdout_hex"] == "61ff");
  CHECK(logs["stdout_gone_bytes"] == 7);
  CHECK(logs["stderr"] == "");
}

TEST_CASE("Command texts: doctor, sweep and orphans", "[unit][cli]") {
  const std::vector<cove::Finding> findings{
      {cove::Finding::Level::kGood, "bubblewrap", "0.8.0", ""},
      {cove::Finding::Level::kBroken, "user namespaces", "refused", "sysctl x=1"}};
  CHECK(findings_text(findings) ==
        "good     bubblewrap: 0.8.0\n"
        "broken   user namespaces: refused\n"
        "         -> sysctl x=1\n");
  CHECK(findings_json(findings)["findings"][1]["level"] == "broken");
  CHECK(orphans_text({}) == "no orphans\n");
  CHECK(orphans_json({})["volumes"] == json::array());
  const ::cove::VolumeRef volume{::cove::DeploymentId("d1"), ::cove::SandboxId("s1"),
                                 ::cove::Generation("g1")};
  const ::cove::OrphanReport orphans{
      .volumes = {},
      .instances = {::cove::InstanceRef{volume, ::cove::Epoch(3)}},
      .foreign_volumes = {volume},
      .foreign_instances = {::cove::InstanceRef{volume, ::cove::Epoch(4)}},
      .providers = {{volume, "tree"}}};
  CHECK(orphans_text(orphans) ==
        "instance  s1  generation g1  epoch 3  at tree\n"
        "foreign volume    s1  generation g1  at tree  of deployment d1\n"
        "foreign instance  s1  generation g1  epoch 4  at tree  of deployment d1\n");
  CHECK(orphans_json(orphans)["foreign_instances"][0]["epoch"] == 4);
  CHECK(orphans_json(orphans)["foreign_volumes"][0]["deployment"] == "d1");
  CHECK(orphans_json(orphans)["foreign_volumes"][0]["provider"] == "tree");
  CHECK(orphans_json(orphans)["instances"][0]["provider"] == "tree");
  cove::SweepReport report;
  report.stopped = 2;
  report.errors = {"x"};
  CHECK(sweep_json(report)["stopped"] == 2);
  CHECK(sweep_json(report)["errors"] == json{"x"});
}

TEST_CASE("Command texts: sizes are short", "[unit][cli]") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(5ULL << 40U) == "5.0 TiB");
}

TEST_CASE("Command texts: what stop, archive and destroy did, and what was so before",
          "[unit][cli]") {
  const cove::SandboxId id("app-1");
  const Settled stopped{id, cove::SandboxState::kStopped, Settled::By::kThisCall};
  CHECK(settled_text(stopped) == "stopped app-1\n");
  CHECK(settled_json(stopped) ==
        json{{"sandbox_id", "app-1"}, {"done", "stopped"}, {"state", "stopped"}});
  const Settled archived{id, cove::SandboxState::kArchived, Settled::By::kOthers};
  CHECK(settled_text(archived) == "app-1 is archived already; nothing was done\n");
  CHECK(settled_json(archived) ==
        json{{"sandbox_id", "app-1"}, {"done", nullptr}, {"state", "archived"}});
  const Settled gone{id, cove::SandboxState::kAbsent, Settled::By::kThisCall};
  CHECK(settled_text(gone) == "destroyed app-1\n");
  CHECK(settled_json(gone) ==
        json{{"sandbox_id", "app-1"}, {"done", "destroyed"}, {"state", "absent"}});
}

TEST_CASE("Texts: a found line is one line, whatever is in it", "[unit][cli][search]") {
  cove::GrepLine line;
  line.path = "a\nb";
  line.line = 3;
  line.column = 2;
  line.text = "\tx\x1b[31m\xff\\n";
  line.submatches = {{1, 1}};
  CHECK(cove::cli::line_text(line) == "a\\nb:3:\tx\\x1b[31m\\xff\\n\n");
  const auto object = cove::cli::line_json(line);
  CHECK(object["path"] == "a\nb");
  CHECK(object["column"] == 2);
  CHECK(object["submatches"] == nlohmann::json::parse("[[1, 1]]"));
  CHECK(object["text_hex"] == "09781b5b33316dff5c6e");
  line.is_context = true;
  CHECK(cove::cli::line_text(line).starts_with("a\\nb-3-"));
  CHECK(cove::cli::line_json(line)["context"] == true);
  CHECK_FALSE(cove::cli::line_json(line).contains("column"));
}

TEST_CASE("Texts: what was found has facts where they were asked for", "[unit][cli][search]") {
  cove::FindEntry entry{.path = "d/x", .type = cove::FileType::kRegular, .facts = {}};
  CHECK(cove::cli::found_text(entry) == "d/x\n");
  CHECK(cove::cli::found_json(entry) == nlohmann::json{{"path", "d/x"}, {"type", "file"}});
  entry.facts.emplace();
  entry.facts->size = 12;
  entry.facts->mode = 0640;
  CHECK(cove::cli::found_text(entry).starts_with("-rw-r-----"));
  CHECK(cove::cli::found_json(entry)["size"] == 12);
  CHECK(cove::cli::found_json(entry)["path"] == "d/x");
}

TEST_CASE("Texts: a search says what it could not read and that it stopped",
          "[unit][cli][search]") {
  cove::SearchSummary summary{.ended = cove::SearchEnd::kLimit, .matches = 5};
  summary.problem_count = 3;
  summary.problems = {{"dir", cove::ErrorCode::kPermissionDenied, "not allowed"}};
  CHECK(cove::cli::summary_text(summary) ==
        "cove: dir: not allowed\ncove: and 2 more that could not be read\n"
        "cove: stopped at the limit of 5; there may be more\n");
  const auto object = cove::cli::summary_json(summary);
  CHECK(object["ended"] == "limit");
  CHECK(object["problems"][0]["code"] == "permission_denied");
}

TEST_CASE("Command texts: lines that were read say how to go on", "[unit][cli]") {
  cove::LineSlice slice;
  slice.count = 1;
  slice.text = "xx";
  CHECK(more_lines_text(slice).empty());
  slice.next = 2;
  CHECK(more_lines_text(slice) == "cove: there is more; go on with --offset 2\n");
  slice.cut = true;
  CHECK(more_lines_text(slice) ==
        "cove: line 1 goes on behind byte 2 of the file; cove get has all of it; more lines "
        "follow: go on with --offset 2\n");
}

TEST_CASE("Command texts: what read cannot show is an error", "[unit][cli]") {
  cove::LineSlice slice;
  slice.info.size = 6;
  slice.first = 100;
  slice.total_lines = 3;
  slice.content_type = "text/plain; charset=utf-8";
  const auto past = check_lines(slice, "a", false);
  REQUIRE_FALSE(past);
  CHECK(past.error().code() == ErrorCode::kInvalidArgument);
  CHECK(past.error().message() == "offset 100 is beyond the end of 'a', which has 3 lines");
  slice.count = 1;
  CHECK(check_lines(slice, "a", true));
  for (const char* type : {"image/png", "text/plain; charset=utf-16le"}) {
    slice.content_type = type;
    CHECK(check_lines(slice, "a", false));
    CHECK(check_lines(slice, "a", true).error().message().ends_with("to save it: cove get"));
  }
  slice = cove::LineSlice();
  CHECK(check_lines(slice, "empty", true));
}

TEST_CASE("Command texts: an edit's error has the words of the command", "[unit][cli]") {
  const Error error = edit_error(
      Error(ErrorCode::kInvalidArgument,
            "old_text is in 'a' 2 times; give more of the text around it, or set replace_all")
          .with_context("edit", "1"));
  CHECK(error.message() == "OLD is in 'a' 2 times; give more of the text around it, or give --all");
  CHECK(error.context().size() == 1);
}

TEST_CASE("Command texts: found paths can be given back", "[unit][cli]") {
  CHECK(SearchedPath{"src/", false}.path_of("a") == "src/a");
  CHECK(SearchedPath{"", false}.path_of("a") == "a");
  CHECK(SearchedPath{"l.py", true}.path_of("1.py") == "l.py");
}
