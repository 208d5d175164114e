// Claim: a warm exec through SandboxClient costs at most 1.2x of posix_spawn of the same static
// program outside, output captured by both, and is at least 20x faster than `docker exec`.
#include <string>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "warm.hpp"

int main(int argc, char** argv) {
  bench::WarmWorkspace warm;
  const cove::SandboxClient client = warm.client();
  const cove::ExecSpec spec{.argv = {warm.put(BENCH_TRUE, "true")}};
  const auto exec = [&] {
    const auto result = client.exec(spec);
    return result && result->succeeded() && result->out.head == "ok\n";
  };
  const bench::Way ours{"cove exec", bench::timed(exec)};
  const bench::Way bare{"posix_spawn",
                        bench::timed([] { return bench::spawn_and_read({BENCH_TRUE}); })};
  const auto docker = bench::Docker::find();
  auto measured = bench::measure("warm exec of a static program", {ours, bare},
                                 {{.against = "posix_spawn", .at_most = 1.2}}, 400, 10);
  std::vector<bench::Way> ways{ours};
  if (docker) {
    const auto command = [&] { return bench::spawn_and_read(docker->exec_command()); };
    ways.push_back({"docker exec", bench::timed(command), true});
    const auto ask = [&] { return docker->exec_by_api(); };
    ways.push_back({"Docker Engine API exec", bench::timed(ask), true});
  }
  bench::add(measured, bench::measure("the same beside Docker", ways,
                                      {{.against = "docker exec", .at_least = 20},
                                       {.against = "Docker Engine API exec", .at_least = {}}},
                                      docker ? 60 : 1, docker ? 5 : 0));
  if (docker) docker->remove();
  return bench::exit_status(measured, argc, argv);
}
