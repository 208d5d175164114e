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
  const bench::Way ours{"cove acquire + exec", bench::timed(cold)};
  auto measured = bench::measure(
      "cold acquire to the first output",
      {ours, {"bare bwrap", bench::timed([&] { return bench::spawn_and_read(bare); })}},
      {{.against = "bare bwrap", .at_most = 2.5}}, 60, 3);
  // Apart: what comes after a `docker run` finds the processor's caches and the disk as that left
  // them, and in a round of three that would always be the same way.
  std::vector<bench::Way> ways{ours};
  if (docker) {
    const auto run = [&] { return bench::spawn_and_read(docker->run_command()); };
    ways.push_back({"docker run", bench::timed(run), true});
  }
  bench::add(measured, bench::measure("the same beside Docker", ways,
                                      {{.against = "docker run", .at_least = 20}}, 20, 3));
  if (docker) docker->remove();
  return bench::exit_status(measured, argc, argv);
}
