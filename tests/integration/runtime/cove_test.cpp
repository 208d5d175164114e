// The whole path on this machine: SQLite, a directory of objects, bubblewrap.
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>

#include "support/fakes/fake_guest.hpp"
#include "support/fixtures/live_cove.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};
const WorkspaceKey kBob{"app", "demo", "bob"};

}  // namespace

TEST_CASE("Cove: a workspace lives, sleeps, is archived and wakes [pain-1]",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  auto first = cove.acquire(kAna, {.chat_id = "c1"}).value();
  CHECK(first.work() == AcquireWork::kProvisioned);
  CHECK(shell(first.client(), "echo hello > note.txt; pwd") == "/workspace/sessions/c1");
  const std::string instance = instance_name(first.client());
  REQUIRE(first.release());

  const SandboxId id = sandbox_id_of(kAna);
  REQUIRE(cove.stop(id));
  CHECK(processes_in(instance) == std::set<int>{});
  const Record stopped = cove.status(id).value();
  CHECK(stopped.state == SandboxState::kStopped);
  CHECK(live.has_volume(stopped.generation));
  CHECK(cove.acquire(kAna, {.chat_id = "c1"}).value().work() == AcquireWork::kResumed);

  REQUIRE(cove.archive(id));
  const Record archived = cove.status(id).value();
  CHECK(archived.state == SandboxState::kArchived);
  CHECK(archived.snapshot.has_value());
  CHECK_FALSE(live.has_volume(stopped.generation));

  const auto second = cove.acquire(kAna, {.chat_id = "c2"}).value();
  CHECK(second.work() == AcquireWork::kRestored);
  CHECK(second.directory() == "/workspace/sessions/c2");
  CHECK(shell(second.client(), "cat ../c1/note.txt") == "hello");
  CHECK(shell(second.client(), "echo more >> ../c1/note.txt; cat ../c1/note.txt") == "hello\nmore");
}

TEST_CASE("Cove: HOME comes back from the archive where the configuration says so",
          "[integration][runtime]") {
  LiveCove live;
  Config config = live.config();
  config.snapshot.include_home = GENERATE(false, true);
  auto cove = live.open(config);
  {
    const auto workspace = cove.acquire(kAna).value();
    shell(workspace.client(),
          "mkdir -p ~/.local/bin; printf '#!/bin/sh\necho mine\n' > ~/.local/bin/tool; "
          "chmod 700 ~/.local/bin/tool; echo kept > /workspace/note");
    CHECK(shell(workspace.client(), "tool") == "mine");
  }
  REQUIRE(cove.archive(sandbox_id_of(kAna)));
  CHECK(cove.status(sandbox_id_of(kAna))->snapshot->format ==
        (config.snapshot.include_home ? 2U : 1U));
  // It comes back also to a host that would not keep it.
  REQUIRE(cove.close());
  auto other = live.open();
  const auto woken = other.acquire(kAna).value();
  CHECK(woken.work() == AcquireWork::kRestored);
  CHECK(shell(woken.client(), "cat /workspace/note") == "kept");
  CHECK(shell(woken.client(), "tool 2>/dev/null || echo none") ==
        (config.snapshot.include_home ? "mine" : "none"));
}

TEST_CASE("Cove: a command finds the base environment, and nothing of the host's",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto workspace = cove.acquire(kAna).value();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread of this test reads it
  REQUIRE(::setenv("COVE_TEST_OF_THE_HOST", "1", 1) == 0);
  CHECK(
      shell(workspace.client(), "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD= | sort") ==
      "COVE_SANDBOX=1\nHOME=/home/sandbox\nLANG=C.UTF-8\nLOGNAME=sandbox\n"
      "PATH=/home/sandbox/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
      "SHELL=/bin/sh\nTERM=dumb\nTMPDIR=/tmp\nUSER=sandbox");
  ::unsetenv("COVE_TEST_OF_THE_HOST");
  ExecSpec on_terminal;
  on_terminal.argv = {"sh", "-c", "echo $TERM"};
  on_terminal.terminal = TerminalSize{24, 80};
  CHECK(workspace.client().exec(on_terminal)->out.text() == "xterm-256color\r\n");
  on_terminal.env = {{"TERM", "vt100"}};
  CHECK(workspace.client().exec(on_terminal)->out.text() == "vt100\r\n");
}

TEST_CASE("Cove: two users see nothing of each other", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto ana = cove.acquire(kAna, {.chat_id = "c1"}).value();
  const auto bob = cove.acquire(kBob, {.chat_id = "c1"}).value();
  REQUIRE(ana.client().write_file("secret", bytes_of("ana's")));
  CHECK(shell(bob.client(), "ls -A /workspace /workspace/sessions/c1") ==
        "/workspace:\nsessions\n\n/workspace/sessions/c1:");
  CHECK(bob.client().stat("secret").error().code() == ErrorCode::kNotFound);
  CHECK(instance_name(ana.client()) != instance_name(bob.client()));
}

TEST_CASE("Cove: keys that share their text are two workspaces", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto one = cove.acquire({"app", "a-b", "c"}).value();
  const auto two = cove.acquire({"app", "a", "b-c"}).value();
  REQUIRE(one.client().write_file("mine", bytes_of("x")));
  CHECK(two.client().stat("mine").error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Cove: odd chat ids get directories of their own", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  std::set<std::string> directories;
  for (const std::string& chat : {std::string(".."), std::string("a/b"), std::string(300, 'x'),
                                  std::string("\xE6\x95\xB0 \xF0\x9F\x98\x80")}) {
    const auto workspace = cove.acquire(kAna, {.chat_id = chat}).value();
    CHECK(shell(workspace.client(), "pwd") == workspace.directory());
    CHECK(shell(workspace.client(), "dirname \"$PWD\"") == "/workspace/sessions");
    directories.insert(workspace.directory());
  }
  CHECK(directories.size() == 4);
}

TEST_CASE("Cove: a command's end is told as it was", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  CHECK(client.exec({.argv = {"sh", "-c", "exit 7"}}).value().shell_code() == 7);
  CHECK(client.exec({.argv = {"sh", "-c", "kill -TERM $$"}}).value().shell_code() == 143);
  CHECK(output_of(client, {"printf", "<%s>", "", "[a,b]", "--", "%%"}) == "<><[a,b]><--><%%>");
  const auto missing = client.exec({.argv = {"no-such-program"}});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == ErrorCode::kNotFound);
  CHECK(missing.error().message().find("no-such-program") != std::string::npos);
  const auto late = client.exec({.argv = {"sh", "-c", "echo begun; sleep 1000"}, .timeout = 300ms});
  REQUIRE(late);
  CHECK(std::holds_alternative<TimedOut>(late->outcome));
  CHECK(late->out.head == "begun\n");
  CHECK(client.exec({.argv = {}}).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Cove: no path of the file calls leads out of the workspace [pain-65]",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna, {.chat_id = "c1"}).value().client();
  shell(client,
        "ln -s /etc/passwd link; ln -s / root; ln -s /workspace/sessions/c1/in in-link; "
        "echo inside > in");
  for (const char* path : {"../../../etc/passwd", "/etc/passwd", "link", "root/etc/passwd"}) {
    INFO(path);
    CHECK(client.read_file(path).error().code() == ErrorCode::kPathEscape);
    CHECK(client.write_file(path, bytes_of("x")).error().code() == ErrorCode::kPathEscape);
  }
  CHECK(text_of(client.read_file("in-link").value()) == "inside\n");
  CHECK(text_of(client.read_file("../c1/in").value()) == "inside\n");
}

TEST_CASE("Cove: files of any size and name come back as they were [pain-63]",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna, {.chat_id = "c1"}).value().client();
  const std::string name = "d\xFF/\xE6\x95\xB0\xE6\x8D\xAE.csv";
  std::size_t given = 0;
  const auto source = [&]() -> Result<Bytes> {
    if (given == 20'000'000) return Bytes{};
    Bytes piece(100'000);
    for (std::byte& b : piece) b = std::byte(given++ % 251);
    return piece;
  };
  CHECK(client.upload(name, source).value().size == 20'000'000);
  std::size_t got = 0;
  bool same = true;
  const auto sink = [&](ByteView piece) {
    for (const std::byte b : piece) same = same && b == std::byte(got++ % 251);
    return ok();
  };
  REQUIRE(client.download(name, sink));
  CHECK(same);
  CHECK(got == 20'000'000);
  CHECK(client.list("").value().entries.front().path == "d\xFF");
  REQUIRE(client.remove("d\xFF", true));
  CHECK(client.list("").value().entries.empty());
}

TEST_CASE("Cove: adopts an old record by its id and keeps it for its key",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const SandboxId old("0123456789abcdef");
  const auto adopted = cove.acquire(kAna, {.sandbox = old}).value();
  REQUIRE(adopted.client().write_file("f", bytes_of("old")));
  CHECK(cove.acquire(kAna).value().client().stat("f").error().code() == ErrorCode::kNotFound);
  CHECK(cove.acquire(kBob, {.sandbox = old}).error().code() == ErrorCode::kConflict);
  CHECK(cove.list("app/demo").value().records.size() == 2);
}

TEST_CASE("Cove: a workspace that nobody uses goes idle though it was leaked, and wakes",
          "[integration][runtime]") {
  LiveCove live;
  auto config = live.config();
  config.lifecycle.stop_after = 0ms;
  config.lifecycle.activity_idle = 50ms;
  config.lifecycle.activity_lease = 200ms;
  auto cove = live.open(config);
  const auto leaked = cove.acquire(kAna, {.chat_id = "c1"}).value();
  shell(leaked.client(), "echo kept > f");
  std::uint32_t stopped = 0;
  while (stopped == 0) stopped = cove.sweep().value().stopped;
  CHECK(cove.status(sandbox_id_of(kAna)).value().state == SandboxState::kStopped);
  CHECK(shell(leaked.client(), "cat f") == "kept");
}

TEST_CASE("Cove: a command that runs keeps its sandbox from going idle [pain-20]",
          "[integration][runtime]") {
  LiveCove live;
  auto config = live.config();
  config.lifecycle.stop_after = 0ms;
  config.lifecycle.activity_idle = 100ms;
  config.lifecycle.activity_lease = 300ms;
  auto cove = live.open(config);
  const auto client = cove.acquire(kAna).value().client();
  std::atomic<bool> done{false};
  client.exec_async({.argv = {"sleep", "2"}},
                    {.on_output = {}, .on_done = [&](Result<ExecResult> result) {
                       done = result && result->succeeded();
                       done.notify_all();
                     }});
  std::uint32_t stopped = 0;
  while (!done) stopped += cove.sweep().value().stopped;
  CHECK(stopped == 0);
}

TEST_CASE("Cove: what cannot be isolated is said with its remedy [pain-85]",
          "[integration][runtime]") {
  LiveCove live;
  auto config = live.config();
  config.provider.bubblewrap = "/nonexistent/bwrap";
  auto cove = live.open(config);
  const auto refused = cove.acquire(kAna);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kProvider);
  CHECK(refused.error().describe().find("/nonexistent/bwrap") != std::string::npos);
  const auto findings = cove.doctor();
  const bool told = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == Finding::Level::kBroken && !finding.remedy.empty();
  });
  CHECK(told);
}

TEST_CASE("Cove: doctor finds nothing broken where sandboxes run", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  for (const Finding& finding : cove.doctor()) {
    INFO(finding.subject + ": " + finding.detail + "; " + finding.remedy);
    CHECK(finding.level != Finding::Level::kBroken);
  }
}

TEST_CASE("Cove: destroy leaves no process, volume or object", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  auto workspace = cove.acquire(kAna).value();
  const std::string instance = instance_name(workspace.client());
  REQUIRE(workspace.release());
  REQUIRE(cove.archive(sandbox_id_of(kAna)));
  REQUIRE(cove.acquire(kAna).value().release());
  const Record record = cove.status(sandbox_id_of(kAna)).value();
  REQUIRE(cove.destroy(sandbox_id_of(kAna)));
  CHECK(processes_in(instance) == std::set<int>{});
  CHECK_FALSE(live.has_volume(record.generation));
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(live.state_directory() + "/objects")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  CHECK(files == 0);
  CHECK(cove.status(sandbox_id_of(kAna)).error().code() == ErrorCode::kNotFound);
}
