// Several processes, and processes that die: the record says what is, whoever asks next.
#include <csignal>
#include <filesystem>
#include <future>
#include <optional>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/fakes/fake_guest.hpp"
#include "support/fixtures/live_cove.hpp"
#include "support/skip.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;
using cove::test::ChildProcess;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

void say(int output, const std::string& text) {
  if (::write(output, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(1);
}

}  // namespace

TEST_CASE("Cove: a sandbox survives the process that started it, however that ends [pain-13]",
          "[integration][runtime]") {
  LiveCove live;
  ChildProcess starter([&](int output) {
    auto cove = live.open();
    const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
    shell(workspace.client(), "echo hello > note.txt; echo here > /tmp/alive");
    say(output, instance_name(workspace.client()));
    for (;;) ::pause();
  });
  const std::string instance = starter.read(std::string("pid:[4026531836]").size());
  starter.kill();
  auto cove = live.open();
  const auto workspace = cove.acquire(kAna, {.chat_id = "c2"}).value();
  CHECK(workspace.work() == AcquireWork::kNone);
  CHECK(instance_name(workspace.client()) == instance);
  CHECK(shell(workspace.client(), "cat ../c1/note.txt /tmp/alive") == "hello\nhere");
}

TEST_CASE("Cove: the lease of a host that was killed forbids nothing", "[integration][runtime]") {
  LiveCove live;
  ChildProcess host([&](int output) {
    auto cove = live.open();
    const auto workspace = cove.acquire(kAna).value();
    say(output, "!");
    for (;;) ::pause();
  });
  REQUIRE(host.read(1) == "!");
  auto cove = live.open();
  const SandboxId sandbox = sandbox_id_of(kAna);
  const auto refused = cove.stop(sandbox);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(refused.error().retry_after().has_value());
  host.kill();
  CHECK(cove.stop(sandbox));
  CHECK(cove.status(sandbox)->state == SandboxState::kStopped);
}

TEST_CASE("Cove: what a host with its metadata in memory left behind is shown as foreign",
          "[integration][runtime]") {
  LiveCove live;
  ChildProcess host([&](int output) {
    Config config = live.config();
    config.metadata.type = "memory";
    auto cove = live.open(config);
    say(output, instance_name(cove.acquire(kAna).value().client()));
    for (;;) ::pause();
  });
  const std::string instance = host.read(std::string("pid:[4026531836]").size());
  host.kill();
  auto cove = live.open();
  CHECK(shell(cove.acquire(kAna).value().client(), "ls") == "");
  const OrphanReport report = cove.orphans().value();
  CHECK(report.volumes.empty());
  CHECK(report.instances.empty());
  REQUIRE(report.foreign_volumes.size() == 1);
  CHECK(report.foreign_volumes.front().sandbox == sandbox_id_of(kAna));
  CHECK(report.provider_of(report.foreign_volumes.front()) == "local");
  REQUIRE(report.foreign_instances.size() == 1);
  CHECK(report.foreign_instances.front().volume == report.foreign_volumes.front());
  for (const int process : processes_in(instance)) ::kill(process, SIGKILL);
}

TEST_CASE("Cove: twenty processes that acquire one absent sandbox get one instance [pain-28]",
          "[integration][runtime]") {
  LiveCove live;
  const auto acquire_and_tell = [&](int output) {
    auto cove = live.open();
    const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
    say(output, instance_name(workspace.client()));
    cove.close().value();
  };
  std::vector<std::unique_ptr<ChildProcess>> processes;
  for (int i = 0; i < 20; ++i)
    processes.push_back(std::make_unique<ChildProcess>(acquire_and_tell));
  std::set<std::string> instances;
  for (const auto& process : processes) instances.insert(process->wait());
  CHECK(instances.size() == 1);
  auto cove = live.open();
  const auto record = cove.status(sandbox_id_of(kAna)).value();
  CHECK(record.state == SandboxState::kRunning);
  CHECK(record.garbage.empty());
  CHECK(cove.orphans().value().volumes.empty());
  CHECK(cove.orphans().value().instances.empty());
}

TEST_CASE("Cove: two hundred acquires of one process pass with two blocking threads",
          "[integration][runtime][threads]") {
  LiveCove live;
  auto config = live.config();
  config.blocking_threads = 2;
  auto cove = live.open(config);
  std::promise<void> all;
  std::atomic<int> left{200};
  std::atomic<int> good{0};
  for (int i = 0; i < 200; ++i) {
    const WorkspaceKey key{"app", "demo", "user" + std::to_string(i % 4)};
    cove.acquire_async(key, {.chat_id = std::to_string(i)}, {}, [&](Result<Workspace> got) {
      if (!got) WARN(got.error().describe());
      good += got ? 1 : 0;
      if (--left == 0) all.set_value();
    });
  }
  all.get_future().get();
  CHECK(good == 200);
  CHECK(cove.list().value().records.size() == 4);
}

TEST_CASE("Cove: two hundred commands at once all end with their own output [pain-84]",
          "[integration][runtime][threads]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  std::promise<void> all;
  std::atomic<int> left{200};
  std::atomic<int> good{0};
  for (int i = 0; i < 200; ++i) {
    const std::string text = std::to_string(i);
    client.exec_async({.argv = {"echo", text}},
                      {.on_output = {}, .on_done = [&, text](Result<ExecResult> result) {
                         good += result && result->out.head == text + "\n" ? 1 : 0;
                         if (--left == 0) all.set_value();
                       }});
  }
  all.get_future().get();
  CHECK(good == 200);
}

TEST_CASE("Cove: after everything inside was killed the next call works [pain-12]",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  shell(workspace.client(), "echo kept > f; sync");
  const std::string instance = instance_name(workspace.client());
  const Epoch epoch = cove.status(workspace.sandbox_id()).value().epoch;
  for (const int pid : processes_in(instance)) ::kill(pid, SIGKILL);
  while (!processes_in(instance).empty()) ::usleep(1000);
  CHECK(shell(workspace.client(), "cat f") == "kept");
  CHECK(cove.status(workspace.sandbox_id()).value().epoch == next(epoch));
}

TEST_CASE("Cove: a volume that was moved away is kIntegrity, and nothing is made or deleted",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  REQUIRE(cove.acquire(kAna).value().release());
  const SandboxId id = sandbox_id_of(kAna);
  REQUIRE(cove.stop(id));
  const Record before = cove.status(id).value();
  const std::string volume = live.volume_path(before.generation);
  const std::string aside = live.state_directory() + "/aside";
  std::filesystem::rename(volume, aside);

  CHECK(cove.acquire(kAna).error().code() == ErrorCode::kIntegrity);
  CHECK(cove.archive(id).error().code() == ErrorCode::kIntegrity);
  const Record after = cove.status(id).value();
  CHECK(after.state == SandboxState::kStopped);
  CHECK(after.generation == before.generation);
  CHECK_FALSE(after.needs_attention.empty());
  CHECK(live.volume_path(before.generation).empty());

  std::filesystem::rename(aside, volume);
  CHECK(cove.acquire(kAna));
}

TEST_CASE("Cove: a broken snapshot is refused, and the record still says archived",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  auto workspace = cove.acquire(kAna).value();
  shell(workspace.client(), "head -c 100000 /dev/urandom > f");
  REQUIRE(workspace.release());
  const SandboxId id = sandbox_id_of(kAna);
  REQUIRE(cove.archive(id));
  std::string largest;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(live.state_directory() + "/objects")) {
    if (!entry.is_regular_file()) continue;
    if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)) {
      largest = entry.path().string();
    }
  }
  std::filesystem::resize_file(largest, std::filesystem::file_size(largest) - 1);
  const auto refused = cove.acquire(kAna);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kIntegrity);
  CHECK(cove.status(id).value().state == SandboxState::kArchived);
}

TEST_CASE("Cove: an ordinary user has the whole path too", "[integration][runtime]") {
  if (::geteuid() != 0) {
    return cove::test::skip("this test makes itself an ordinary user, which needs root");
  }
  ChildProcess user([](int output) {
    if (::setresgid(65533, 65533, 65533) != 0 || ::setresuid(65533, 65533, 65533) != 0) ::_exit(2);
    LiveCove live;
    auto cove = live.open();
    auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
    shell(workspace.client(), "echo hello > note.txt");
    workspace.release().value();
    cove.archive(sandbox_id_of(kAna)).value();
    const auto again = cove.acquire(kAna, {.chat_id = "c2"}).value();
    say(output, shell(again.client(), "id -u; cat ../c1/note.txt"));
  });
  CHECK(user.wait() == "1000\nhello");
}
