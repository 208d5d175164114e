// A C++ host that does calls as each line of its stdin says, and how many milliseconds one of them
// took. A line names a call, and how many of them follow one another: of several the median counts.
// Usage: bench-bindings-worker STATE_DIR PROGRAM
#include <cstdio>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cove/cove.hpp>

#include "measure.hpp"

namespace {

const cove::WorkspaceKey kKey{"bench", "bindings", "cpp"};
const cove::ExecSpec kCommand{.argv = {"/workspace/true"}};

cove::ByteView bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

bool exec_back(const cove::SandboxClient& client) {
  std::promise<bool> done;
  client.exec_async(kCommand,
                    {.on_output = {}, .on_done = [&](cove::Result<cove::ExecResult> result) {
                       done.set_value(result.has_value());
                     }});
  return done.get_future().get();
}

bool read_back(const cove::SandboxClient& client) {
  std::promise<bool> done;
  client.read_file_async(
      "page", {}, {}, [&](cove::Result<cove::Bytes> bytes) { done.set_value(bytes.has_value()); });
  return done.get_future().get();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  cove::Config config;
  config.state_dir = argv[1];
  cove::Cove cove = cove::Cove::open(config).value();
  cove::Workspace workspace = cove.acquire(kKey).value();
  const cove::SandboxClient client = workspace.client();
  std::ifstream program(argv[2], std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(program), {});
  client.write_file(kCommand.argv.front(), bytes_of(bytes), {.mode = 0755}).value();
  client.write_file("page", bytes_of(std::string(4096, 'x'))).value();
  const std::map<std::string, std::function<std::optional<double>()>> calls{
      {"exec", bench::timed([&] { return client.exec(kCommand).has_value(); })},
      {"read", bench::timed([&] { return client.read_file("page").has_value(); })},
      {"exec-callback", bench::timed([&] { return exec_back(client); })},
      {"read-callback", bench::timed([&] { return read_back(client); })},
  };
  std::string name;
  for (int times = 0; std::cin >> name >> times;) {
    std::vector<double> figures;
    for (int i = 0; i < times; ++i) {
      const auto took = calls.at(name)();
      if (!took) return 1;
      figures.push_back(*took);
    }
    std::printf("%f\n", bench::median(figures));
    std::fflush(stdout);
  }
  workspace.release().value();
  cove.destroy(cove::sandbox_id_of(kKey)).value();
}
