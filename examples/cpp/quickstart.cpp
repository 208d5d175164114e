// The main job on real input: a scripted agent works as an analyst for ana, in two chats.
//   quickstart STATE_DIR DATA_DIR OUTPUT_DIR
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <cove/cove.hpp>

#include "story.hpp"

namespace fs = std::filesystem;

namespace {

cove::Result<std::string> read_local(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return cove::Error(cove::ErrorCode::kNotFound, "no file " + path.string());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string text_of(const cove::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

cove::ByteView view_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A command that must succeed; its output.
cove::Result<std::string> run(const cove::SandboxClient& client, std::vector<std::string> argv) {
  COVE_TRY(const auto result, client.exec({.argv = std::move(argv)}));
  if (!result.succeeded()) {
    return cove::Error(cove::ErrorCode::kInternal, "the command failed: " + result.err.text());
  }
  return result.out.text();
}

/// Processes of this machine in the PID namespace `name` ("pid:[4026532001]").
std::size_t processes_in(const std::string& name) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code gone;
    if (fs::read_symlink(entry.path() / "ns/pid", gone).string() == name && !gone) ++count;
  }
  return count;
}

/// Anything below the state directory that has the volume's name.
bool volume_exists(const fs::path& state_dir, const cove::Generation& generation) {
  for (const auto& entry : fs::recursive_directory_iterator(
           state_dir / "volumes", fs::directory_options::skip_permission_denied)) {
    if (entry.path().filename() == generation.str()) return true;
  }
  return false;
}

cove::Result<void> save(const fs::path& path, const cove::Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) return cove::Error(cove::ErrorCode::kInternal, "write " + path.string());
  return {};
}

const cove::WorkspaceKey kAna{"app", "analyst", "ana"};
const cove::WorkspaceKey kBob{"app", "analyst", "bob"};

/// Yesterday: ana's first chat. Returns the PID namespace that the work was done in.
std::string first_chat(Story& story, const cove::Cove& cove, const fs::path& data,
                       const fs::path& output) {
  story.chapter("Chat 1: ana asks for a summary of penguins.csv");
  auto workspace = story.step("acquire: a workspace is made",
                              [&] { return cove.acquire(kAna, {.chat_id = "monday"}); });
  const auto client = workspace.client();
  story.say("works in " + workspace.directory());
  const auto table =
      story.step("read the local file", [&] { return read_local(data / "penguins.csv"); });
  story.step("put penguins.csv (" + std::to_string(table.size()) + " bytes)",
             [&] { return client.write_file("penguins.csv", view_of(table)); });
  const auto script =
      story.step("the agent writes report.py", [&] { return read_local(data / "report.py"); });
  story.step("put report.py", [&] { return client.write_file("report.py", view_of(script)); });
  story.show(
      story.step("run python3 report.py", [&] { return run(client, {"python3", "report.py"}); }));
  const auto chart = story.step("get chart.svg", [&] { return client.read_file("chart.svg"); });
  story.step("keep it as " + (output / "chart-monday.svg").string(),
             [&] { return save(output / "chart-monday.svg", chart); });
  const auto space = story.step("ask for the PID namespace inside",
                                [&] { return run(client, {"readlink", "/proc/self/ns/pid"}); });
  story.step("release", [&] { return workspace.release(); });
  return space.substr(0, space.find('\n'));
}

/// Overnight: nobody uses the workspace, and it goes step by step until it costs nothing.
void night(Story& story, const cove::Cove& cove, const fs::path& state_dir,
           const std::string& pid_namespace) {
  const auto id = cove::sandbox_id_of(kAna);
  story.chapter("Night: nobody is there");
  const auto running = story.step("status", [&] { return cove.status(id); });
  story.expect(processes_in(pid_namespace) > 0, "its processes run on this machine");
  story.step("stop (by itself after 60 idle minutes)", [&] { return cove.stop(id); });
  story.expect(processes_in(pid_namespace) == 0, "no process is left of it");
  story.expect(volume_exists(state_dir, running.generation), "its disk is still there");
  story.step("archive (by itself after 7 idle days)", [&] { return cove.archive(id); });
  story.expect(!volume_exists(state_dir, running.generation), "its disk is gone from this machine");
  const auto archived = story.step("status", [&] { return cove.status(id); });
  story.expect(archived.state == cove::SandboxState::kArchived && archived.snapshot.has_value(),
               "the record says archived: " + std::to_string(archived.snapshot->objects[0].size) +
                   " bytes in the object store");
}

/// Today: another chat of the same user goes on with yesterday's script.
void second_chat(Story& story, const cove::Cove& cove, const fs::path& output) {
  story.chapter("Chat 2: ana is back, and wants it by island too");
  auto workspace = story.step("acquire: the workspace wakes by itself",
                              [&] { return cove.acquire(kAna, {.chat_id = "tuesday"}); });
  const auto client = workspace.client();
  story.expect(workspace.work() == cove::AcquireWork::kRestored, "it came back from the archive");
  auto script = text_of(story.step("get yesterday's report.py",
                                   [&] { return client.read_file("../monday/report.py"); }));
  const std::string before = R"(GROUP_BY = ["species"])";
  const auto at = script.find(before);
  if (at == std::string::npos) Story::fail("report.py is not what chat 1 wrote");
  script.replace(at, before.size(), R"(GROUP_BY = ["species", "island"])");
  story.step("put the script, extended by a dimension",
             [&] { return client.write_file("../monday/report.py", view_of(script)); });
  story.show(story.step("run it where yesterday's data is", [&] {
    return run(client, {"sh", "-c", "cd ../monday && python3 report.py"});
  }));
  const auto chart =
      story.step("get chart.svg", [&] { return client.read_file("../monday/chart.svg"); });
  story.step("keep it as " + (output / "chart-tuesday.svg").string(),
             [&] { return save(output / "chart-tuesday.svg", chart); });
  story.step("release", [&] { return workspace.release(); });
}

/// Meanwhile: somebody else of the same application.
void another_user(Story& story, const cove::Cove& cove) {
  story.chapter("Bob uses the same application");
  auto workspace = story.step("acquire: bob has a workspace of his own",
                              [&] { return cove.acquire(kBob, {.chat_id = "monday"}); });
  const auto client = workspace.client();
  const auto files = story.step("list everything in it",
                                [&] { return run(client, {"find", "/workspace", "-type", "f"}); });
  story.expect(files.empty(), "nothing of ana's is there");
  const auto peek = client.read_file("../../../../etc/shadow");
  story.expect(!peek && peek.error().code() == cove::ErrorCode::kPathEscape,
               "a path out of it is refused: " + (peek ? "" : peek.error().message()));
  story.step("release", [&] { return workspace.release(); });
}

}  // namespace

int main(int argc, char** argv) {
  Story story;
  if (argc != 4) Story::fail("usage: quickstart STATE_DIR DATA_DIR OUTPUT_DIR");
  const fs::path state_dir(argv[1]);
  const fs::path output(argv[3]);
  cove::Config config;
  config.state_dir = state_dir.string();
  auto cove =
      story.step("open Cove in " + state_dir.string(), [&] { return cove::Cove::open(config); });

  const auto pid_namespace = first_chat(story, cove, argv[2], output);
  night(story, cove, state_dir, pid_namespace);
  second_chat(story, cove, output);
  another_user(story, cove);

  story.chapter("Leave nothing behind");
  story.step("destroy ana's workspace", [&] { return cove.destroy(cove::sandbox_id_of(kAna)); });
  story.step("destroy bob's workspace", [&] { return cove.destroy(cove::sandbox_id_of(kBob)); });
  story.step("close", [&] { return cove.close(); });
  std::printf("\n  The charts are %s and %s\n", (output / "chart-monday.svg").c_str(),
              (output / "chart-tuesday.svg").c_str());
  return 0;
}
