// What other processes do in the tests of this folder: hidden cases, run by cove::test::run_child.
#include <iostream>
#include <thread>

#include <catch2/catch.hpp>

#include "support/fixtures/local_fixture.hpp"

using namespace cove;

namespace {

/// words: state directory, deployment, sandbox, generation, epoch
struct Given {
  Given() : words(cove::test::child_words()) {}

  local::LocalOptions options() const {
    local::LocalOptions options;
    options.state_dir = words.at(0);
    return options;
  }
  InstanceRef instance() const {
    return {{DeploymentId(words.at(1)), SandboxId(words.at(2)), Generation(words.at(3))},
            Epoch{std::stoull(words.at(4))}};
  }

  std::vector<std::string> words;
};

}  // namespace

TEST_CASE("child: start an instance and end", "[.child]") {
  const Given given;
  cove::test::LocalMachine machine(given.options());
  const auto started = machine.start(given.instance());
  std::cout << "[started:" << (started ? "ok" : started.error().describe()) << "]\n";
}

TEST_CASE("child: start an instance and wait for death", "[.child]") {
  const Given given;
  cove::test::LocalMachine machine(given.options());
  const auto started = machine.start(given.instance());
  std::cout << "[started:" << (started ? "ok" : started.error().describe()) << "]" << std::endl;
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}
