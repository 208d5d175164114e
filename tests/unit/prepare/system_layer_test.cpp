#include "prepare/steps/system_layer.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "base/async/worker_pool.hpp"
#include "prepare/steps/plan.hpp"
#include "support/fixtures/prepare_fixture.hpp"
#include "support/trees/scratch_directory.hpp"

using namespace cove;
using namespace cove::testing;
using Catch::Contains;

namespace {

struct Layered : PrepareFixture {
  base::InlineExecutor executor;
  std::vector<ExecSpec> ran;
  Outcome outcome = Exited{0};

  Layered() {
    guest.on_run = [this](const std::string& /*session*/,
                          const ExecSpec& spec) -> Result<ExecResult> {
      ran.push_back(spec);
      ExecResult result;
      result.outcome = outcome;
      result.err.tail = "no room";
      return result;
    };
  }

  std::shared_ptr<const prepare::Preparation> plan(bool is_writable) {
    const prepare::HostParts host{executor, scheduler, is_writable};
    return prepare::make_preparation({}, "", host).value();
  }
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The step's program with /etc and /usr in a directory of the test's own.
std::string script_in(const std::string& top) {
  std::string script(prepare::system_layer_script());
  for (const char* path : {"/etc/pip.conf", "/usr/sbin/policy-rc.d", "/var/lib/dpkg"}) {
    for (auto at = script.find(path); at != std::string::npos;
         at = script.find(path, at + top.size() + 1)) {
      script.insert(at, top);
    }
  }
  return script;
}

}  // namespace

TEST_CASE("System layer step: is there with a writable system only, and done once",
          "[unit][prepare]") {
  Layered layered;
  CHECK(layered.plan(false)->only_takes_back);
  const auto plan = layered.plan(true);
  CHECK_FALSE(plan->only_takes_back);
  const auto first = layered.prepare(*plan);
  CHECK_THAT(summary(first.report), Contains("system_layer applied"));
  REQUIRE(layered.ran.size() == 1);
  CHECK(layered.ran[0].stdin_data == prepare::system_layer_script());
  layered.prepare(*plan);
  CHECK(layered.ran.size() == 1);
}

TEST_CASE("System layer step: its failure is reported, and no acquire's", "[unit][prepare]") {
  Layered layered;
  layered.outcome = Exited{1};
  const auto outcome = layered.prepare(*layered.plan(true));
  CHECK_THAT(summary(outcome.report), Contains("system_layer failed"));
  CHECK(outcome.done);
}

TEST_CASE("System layer step: pip's settings stay, and what is set already is not set again",
          "[unit][prepare]") {
  const ScratchDirectory top;
  const std::string script = "mkdir -p '" + (top / "etc") + "' '" + (top / "usr/sbin") + "' '" +
                             (top / "var/lib/dpkg") + "'\n" + script_in(top.path());
  write(top / "script", script);
  const auto run = [&] { REQUIRE(std::system(("sh " + (top / "script")).c_str()) == 0); };
  run();
  CHECK(read(top / "etc/pip.conf") == "[global]\nbreak-system-packages = true\n");
  CHECK_THAT(read(top / "usr/sbin/policy-rc.d"), Contains("exit 101"));
  run();
  CHECK(read(top / "etc/pip.conf") == "[global]\nbreak-system-packages = true\n");
  write(top / "etc/pip.conf", "[install]\nuser = no\n[global]\ntimeout = 3\n");
  run();
  CHECK(read(top / "etc/pip.conf") ==
        "[install]\nuser = no\n[global]\nbreak-system-packages = true\ntimeout = 3\n");
  write(top / "etc/pip.conf", "[global]\nbreak-system-packages: false\n");
  run();
  CHECK(read(top / "etc/pip.conf") == "[global]\nbreak-system-packages: false\n");
}
