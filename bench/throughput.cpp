// Claim: 1 GiB of a command's output comes through SandboxClient's callback at half the rate or
// more of the same command's output through a plain pipe outside.
#include <cstdint>
#include <string>
#include <vector>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "stream.hpp"
#include "warm.hpp"

int main(int argc, char** argv) {
  constexpr std::uint64_t kWanted = 1ULL << 30;
  const std::vector<std::string> command{"head", "-c", "1G", "/dev/zero"};
  bench::WarmWorkspace warm;
  const cove::SandboxClient client = warm.client();
  std::uint64_t total = 0;
  const auto callback = [&] {
    total = 0;
    const auto count = [&](cove::ByteView bytes) { total += bytes.size(); };
    return bench::stream(client, command, count) && total == kWanted;
  };
  const auto pipe = [&] {
    total = 0;
    const auto count = [&](std::string_view bytes) { total += bytes.size(); };
    return bench::spawn_and_read(command, count) && total == kWanted;
  };
  const auto measured = bench::measure(
      "1 GiB of output", {{"cove callback", bench::timed(callback)}, {"pipe", bench::timed(pipe)}},
      {{.against = "pipe", .of_the_rate = 0.5}}, 7, 1);
  return bench::exit_status(measured, argc, argv);
}
