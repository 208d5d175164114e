// Claim: from a write in the sandbox to the callback in the host it takes less than 5 ms at the
// median. The writer says when it writes, by the clock that both sides share.
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "stream.hpp"
#include "warm.hpp"

namespace {

/// Takes the times that bench-tick writes, 8 bytes each, and remembers how old they are when they
/// come.
class Ages {
 public:
  void take(const void* data, std::size_t size) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t came = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    const auto* bytes = static_cast<const unsigned char*>(data);
    pending_.insert(pending_.end(), bytes, bytes + size);
    std::size_t at = 0;
    for (; at + 8 <= pending_.size(); at += 8) {
      std::int64_t sent = 0;
      std::memcpy(&sent, pending_.data() + at, sizeof sent);
      ages_.push_back(static_cast<double>(came - sent) / 1e6);
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::optional<double> middle(bool ran) const {
    if (!ran || ages_.size() != 100 || !pending_.empty()) return std::nullopt;
    return bench::median(ages_);
  }

 private:
  std::vector<unsigned char> pending_;
  std::vector<double> ages_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::WarmWorkspace warm;
  const cove::SandboxClient client = warm.client();
  const std::string tick = warm.put(BENCH_TICK, "tick");
  const auto callback = [&] {
    Ages ages;
    const auto take = [&](cove::ByteView bytes) { ages.take(bytes.data(), bytes.size()); };
    const bool ran = bench::stream(client, {tick}, take);
    return ages.middle(ran);
  };
  const auto pipe = [] {
    Ages ages;
    const auto take = [&](std::string_view bytes) { ages.take(bytes.data(), bytes.size()); };
    const bool ran = bench::spawn_and_read({BENCH_TICK}, take);
    return ages.middle(ran);
  };
  auto measured =
      bench::measure("from write to callback, each the median of 100 writes",
                     {{"cove callback", callback}, {"pipe", pipe}}, {{.against = "pipe"}}, 10, 1);
  bench::require_below(measured, "cove callback", 5);
  return bench::exit_status(measured, argc, argv);
}
