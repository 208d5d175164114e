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
  const auto docker = bench::Docker::find();
  std::vector<bench::Way> ways{
      {"cove exec", bench::timed(exec)},
      {"posix_spawn", bench::timed([] { return bench::spawn_and_read({BENCH_TRUE}); })},
  };
  if (docker) {
    const auto command = [&] { return bench::spawn_and_read(docker->exec_command()); };
    ways.push_back({"docker exec", bench::timed(command)});
    ways.push_back({"Docker Engine API exec", bench::timed([&] { return docker->exec_by_api(); })});
  }
  const auto measured = bench::measure("warm exec of a static program", ways,
                                       {{.against = "posix_spawn", .at_most = 1.2},
                                        {.against = "docker exec", .at_least = 20},
                                        {.against = "Docker Engine API exec", .at_least = {}}},
                                       docker ? 60 : 400, 10);
  if (docker) docker->remove();
  return bench::exit_status(measured, argc, argv);
}
