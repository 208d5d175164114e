// Claim: a warm exec through SandboxClient costs at most 1.5x of posix_spawn of the same static
// program outside, output captured by both, and is at least 20x faster than `docker exec`.
#include <fstream>
#include <iterator>
#include <string>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "scratch.hpp"

int main(int argc, char** argv) {
  bench::Scratch scratch;
  auto workspace = scratch.cove().acquire({"bench", "warm", "user"}).value();
  const auto client = workspace.client();
  std::ifstream program(BENCH_TRUE, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(program), {});
  client.write_file("true", std::as_bytes(std::span(bytes)), {.mode = 0755}).value();

  const cove::ExecSpec spec{.argv = {"/workspace/true"}};
  const auto docker = bench::Docker::find();
  std::vector<bench::Way> ways{
      {"cove exec",
       [&] {
         const auto result = client.exec(spec);
         return result && result->succeeded() && result->out.head == "ok\n";
       }},
      {"posix_spawn", [] { return bench::spawn_and_read({BENCH_TRUE}); }},
  };
  if (docker) {
    ways.push_back({"docker exec", [&] { return bench::spawn_and_read(docker->exec_command()); }});
  }
  const bool hold =
      bench::measure("warm exec of a static program", ways,
                     {{"posix_spawn", 1.5, {}}, {"docker exec", {}, 20.0}}, docker ? 60 : 400, 10);
  if (docker) docker->remove();
  workspace.release().value();
  return bench::exit_status(hold, argc, argv);
}
