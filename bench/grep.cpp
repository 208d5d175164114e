// Claim: grep through a SandboxClient takes at most 0.8x the time of ripgrep on the same tree with
// the same ignore rules where a pattern has a literal in it, at most 1.3x where it has none; and
// the first 100 lines of a common word come as fast as from `rg | head`.
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
  const char* pattern;
  bool ignore_case;
  double at_most;
};

constexpr Case kCases[] = {
    {"rare literal", "cove_bench_rare_7f3a", false, 0.8},
    {"common literal", "import", false, 0.8},
    {"literal in either case", "cancelled", true, 0.8},
    {"a literal inside: def [a-z_]+\\(self", "def [a-z_]+\\(self", false, 0.8},
    {"no literal: \\w+\\s+[A-Z][a-z]+", "\\w+\\s+[A-Z][a-z]+", false, 1.3},
    {"no literal: [a-z]+_[0-9]{3}", "[a-z]+_[0-9]{3}", false, 1.3},
};

bool grep_all(const cove::SandboxClient& client, const Case& which) {
  const cove::GrepQuery query{
      .pattern = which.pattern, .ignore_case = which.ignore_case, .limit = {}};
  std::size_t lines = 0;
  const auto summary = client.grep_each("tree", query, [&](std::span<const cove::GrepLine> found) {
    lines += found.size();
    return cove::ok();
  });
  return summary && lines > 0 && summary->ended == cove::SearchEnd::kComplete;
}

bool grep_first(const cove::SandboxClient& client) {
  const auto found = client.grep("tree", {.pattern = "import", .limit = 100});
  return found && found->lines.size() == 100;
}

std::vector<std::string> ripgrep(const std::string& program, const Case& which,
                                 const std::string& tree) {
  std::vector<std::string> argv{program, "-n", "--no-heading", "--no-messages", "--no-require-git"};
  if (which.ignore_case) argv.emplace_back("-i");
  argv.insert(argv.end(), {"-e", which.pattern, tree});
  return argv;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kRounds = 15;
  const bench::SearchTree tree(argc, argv);
  bench::Scratch scratch;
  auto workspace = scratch.cove().acquire({"bench", "grep", "user"}).value();
  const auto client = workspace.client();
  if (!tree.copy_into(client)) return 1;
  const auto program = bench::find_program({"rg"});

  bench::Measured all{.figures = {}, .ran = true, .holds = true};
  for (const Case& which : kCases) {
    std::vector<bench::Way> ways{
        {"cove grep", bench::timed([&] { return grep_all(client, which); })}};
    if (program) {
      const auto command = ripgrep(*program, which, tree.path());
      ways.push_back(
          {"ripgrep", bench::timed([command] { return bench::spawn_and_read(command); })});
    }
    add(all, bench::measure(which.title, ways, {{.against = "ripgrep", .at_most = which.at_most}},
                            kRounds, 1));
  }

  std::vector<bench::Way> ways{
      {"cove grep, limit 100", bench::timed([&] { return grep_first(client); })}};
  if (program) {
    const std::string line =
        *program + " -n --no-require-git -e import '" + tree.path() + "' | head -n 100";
    ways.push_back({"rg | head", bench::timed([line] {
                      return bench::spawn_and_read({"/bin/sh", "-c", line});
                    })});
  }
  add(all, bench::measure("first 100 lines of a common word", ways,
                          {{.against = "rg | head", .at_most = 1.0}}, 4 * kRounds, 2));
  workspace.release().value();
  return bench::exit_status(all, argc, argv);
}
