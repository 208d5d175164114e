// Claim: from an acquire of a user nobody has seen to the first output costs at most 2.5x of bare
// `bwrap --unshare-all` running the same command, and is at least 20x faster than `docker run`.
#include <string>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "scratch.hpp"

int main(int argc, char** argv) {
  bench::Scratch scratch;
  int users = 0;
  const auto cold = [&] {
    const cove::WorkspaceKey key{"bench", "cold", "user" + std::to_string(users++)};
    auto workspace = scratch.cove().acquire(key);
    if (!workspace) return false;
    const auto result = workspace->client().exec({.argv = {"/bin/echo", "ok"}});
    return result && result->succeeded();
  };
  const std::vector<std::string> bare{"bwrap",  "--unshare-all", "--ro-bind", "/",    "/",
                                      "--proc", "/proc",         "--dev",     "/dev", "--tmpfs",
                                      "/tmp",   "/bin/echo",     "ok"};
  const auto docker = bench::Docker::find();
  std::vector<bench::Way> ways{
      {"cove acquire + exec", bench::timed(cold)},
      {"bare bwrap", bench::timed([&] { return bench::spawn_and_read(bare); })},
  };
  if (docker) {
    const auto run = [&] { return bench::spawn_and_read(docker->run_command()); };
    ways.push_back({"docker run", bench::timed(run), true});
  }
  const auto measured = bench::measure(
      "cold acquire to the first output", ways,
      {{.against = "bare bwrap", .at_most = 2.5}, {.against = "docker run", .at_least = 20}},
      docker ? 20 : 60, 3);
  if (docker) docker->remove();
  return bench::exit_status(measured, argc, argv);
}
