// Claim: find through a SandboxClient takes at most 0.8x the time of fd on the same tree with the
// same ignore rules.
#include <string>
#include <vector>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "scratch.hpp"
#include "search_tree.hpp"

namespace {

struct Case {
  const char* title;
  const char* glob;
};

constexpr Case kCases[] = {
    {"names: *.py", "*.py"},
    {"names: *", "*"},
    {"paths: **/lib/*.js", "**/lib/*.js"},
};

bool find_all(const cove::SandboxClient& client, const Case& which) {
  const cove::FindQuery query{.glob = which.glob, .limit = {}};
  std::size_t entries = 0;
  const auto summary = client.find_each("tree", query, [&](std::span<const cove::FindEntry> found) {
    entries += found.size();
    return cove::ok();
  });
  return summary && entries > 0 && summary->ended == cove::SearchEnd::kComplete;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::SearchTree tree(argc, argv);
  bench::Scratch scratch;
  auto workspace = scratch.cove().acquire({"bench", "find", "user"}).value();
  const auto client = workspace.client();
  if (!tree.copy_into(client)) return 1;
  const auto program = bench::find_program({"fd", "fdfind"});

  bench::Measured all{.figures = {}, .ran = true, .holds = true};
  for (const Case& which : kCases) {
    std::vector<bench::Way> ways{
        {"cove find", bench::timed([&] { return find_all(client, which); })}};
    if (program) {
      std::vector<std::string> command{*program, "--glob", which.glob, tree.path()};
      if (std::string(which.glob).find('/') != std::string::npos) {
        command.insert(command.begin() + 1, "--full-path");
      }
      ways.push_back({"fd", bench::timed([command] { return bench::spawn_and_read(command); })});
    }
    add(all, bench::measure(which.title, ways, {{.against = "fd", .at_most = 0.8}}, 40, 3));
  }
  workspace.release().value();
  return bench::exit_status(all, argc, argv);
}
