// Claim: an acquire whose preparation is all done (input files, an init script, ten steps) costs at
// most 2x of what it cannot do without: one swap of the record and one round trip to the guest.
#include <string>
#include <vector>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "scratch.hpp"

namespace {

/// More than a process remembers of one sandbox, so that each comes again as it would to another
/// process.
constexpr int kVariants = 80;

cove::PrepareStep step_of(const std::string& name) {
  cove::PrepareStep step;
  step.name = name;
  step.fingerprint = "1";
  step.apply = [](cove::PrepareContext& /*context*/) -> cove::Task<cove::Result<void>> {
    co_return cove::ok();
  };
  return step;
}

/// The inputs of one acquire; those of two variants differ in their last step.
cove::AcquireOptions options_of(int variant) {
  cove::AcquireOptions options;
  options.chat_id = "c1";
  options.prepare.files = {
      {.name = "data.csv", .content = cove::Bytes(4096), .fingerprint = "etag-1"}};
  options.prepare.init = cove::InitScript{.text = "true", .version = "1", .cwd = {}};
  options.prepare.environment.variables = {{"MODE", "bench"}};
  for (int i = 0; i < 10; ++i) options.prepare.steps.push_back(step_of("s" + std::to_string(i)));
  options.prepare.steps.push_back(step_of("v" + std::to_string(variant)));
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Scratch scratch;
  const cove::WorkspaceKey key{"bench", "warm", "user"};
  auto& app = scratch.cove();
  // Held all the time, so that an acquire ends no lease.
  auto held = app.acquire(key, {.chat_id = "c1"}).value();
  std::vector<cove::AcquireOptions> variants;
  for (int i = 0; i < kVariants; ++i) {
    variants.push_back(options_of(i));
    app.acquire(key, variants.back()).value();
  }
  const auto is = [&](const cove::AcquireOptions& options, cove::PreparePath path) {
    const auto workspace = app.acquire(key, options);
    return workspace && workspace->prepare_report().path == path;
  };
  const auto remembered = [&] { return is(variants.back(), cove::PreparePath::kRemembered); };
  std::size_t next = 0;
  const auto unchanged = [&] {
    next = (next + 1) % (variants.size() - 1);
    return is(variants[next], cove::PreparePath::kUnchanged);
  };
  const cove::SandboxClient client = held.client();
  const auto bare = [&] {
    const auto workspace = app.acquire(key);
    return workspace && client.stat("/workspace");
  };
  const bench::Way bare_way{"swap and round trip", bench::timed(bare)};
  auto measured = bench::measure("an acquire that this process prepared before",
                                 {{"acquire", bench::timed(remembered)}, bare_way},
                                 {{.against = "swap and round trip", .at_most = 2}}, 300, 10);
  bench::add(measured, bench::measure("an acquire that another process prepared",
                                      {{"acquire", bench::timed(unchanged)}, bare_way},
                                      {{.against = "swap and round trip", .at_most = 2}}, 300, 10));
  held.release().value();
  return bench::exit_status(measured, argc, argv);
}
