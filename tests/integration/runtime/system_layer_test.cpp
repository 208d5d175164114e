// Package managers that install into a writable system, through a Cove, from a local server. A
// client that this machine has not is skipped by name.
#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cove/grants/host_network.hpp>
#include <cove/grants/proxy_network.hpp>
#include <cove/grants/writable_system.hpp>

#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/mirror_server.hpp"
#include "support/skip.hpp"

using namespace cove;
using namespace cove::testing;
using Catch::Contains;

namespace {

constexpr const char* kInstall =
    "export DEBIAN_FRONTEND=noninteractive; apt-get -q -o Acquire::AllowInsecureRepositories=true "
    "update && "
    "apt-get -q install -y --allow-unauthenticated ";

const WorkspaceKey kKey{"app", "system", "ana"};

/// How the packages' server is reached.
enum class Way { kHostNetwork, kProxy };

class Packages {
 public:
  MirrorServer server;
  LiveCove live;
  bool is_there = false;

  explicit Packages(Way way = Way::kHostNetwork) : cove(live.open(writable(live.config(), way))) {
    if (::geteuid() != 0) {
      cove::test::skip("a writable system over the host's takes root");
      return;
    }
    if (std::system("command -v apt-get >/dev/null") != 0) {
      cove::test::skip("no apt-get");
      return;
    }
    const auto opened = cove.acquire(kKey, options());
    if (!opened && opened.error().code() == ErrorCode::kUnsupported) {
      cove::test::skip(opened.error().message());
      return;
    }
    if (!opened) FAIL(opened.error().describe());
    is_there = true;
  }

  AcquireOptions options() const {
    AcquireOptions options;
    options.prepare.mirrors = {
        .npm = server.url("/npm/"), .pypi = server.url("/simple"), .apt = server.url("/debian")};
    return options;
  }
  Workspace acquire() const { return cove.acquire(kKey, options()).value(); }

  static Config writable(Config config, Way way) {
    config.policy.allow(grants::WritableSystem{});
    if (way == Way::kHostNetwork) config.policy.allow(grants::HostNetwork{});
    if (way == Way::kProxy) config.policy.allow(grants::ProxyNetwork{});
    return config;
  }

  Cove cove;
};

/// Runs a line that must end well.
std::string run(const Workspace& workspace, const std::string& line) {
  const ExecResult result = workspace.client().exec({.argv = {"sh", "-c", line}}).value();
  INFO(line << "\n" << result.out.text() << "\n" << result.err.text());
  REQUIRE(result.succeeded());
  return result.out.text();
}

bool has(const Workspace& workspace, const std::string& program) {
  return workspace.client()
      .exec({.argv = {"sh", "-c", "command -v " + program}})
      .value()
      .succeeded();
}

const StepReport* step_in(const PrepareReport& report, const std::string& name) {
  const auto found = std::find_if(report.steps.begin(), report.steps.end(),
                                  [&](const StepReport& step) { return step.step == name; });
  return found == report.steps.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("Writable system: apt installs a package, and one that makes a system user",
          "[integration][runtime][system]") {
  const Packages packages;
  if (!packages.is_there) return;
  const Workspace workspace = packages.acquire();
  run(workspace, std::string(kInstall) + "cove-demo cove-service");
  CHECK_THAT(run(workspace, "dpkg -s cove-demo"), Contains("Status: install ok installed"));
  CHECK_THAT(run(workspace, "id cove-service; stat -c %U /var/lib/cove-service"),
             Contains("cove-service"));
  CHECK(run(workspace, "dpkg --audit").empty());
  CHECK_THAT(packages.server.requests(), Contains("/debian/pool/cove-demo.deb"));
}

TEST_CASE("Writable system: apt installs through the proxy with nothing else configured",
          "[integration][runtime][system][proxy]") {
  const Packages packages(Way::kProxy);
  if (!packages.is_there) return;
  const Workspace workspace = packages.acquire();
  // There is no other way out: without the proxy nothing answers.
  CHECK_THAT(run(workspace,
                 "apt-get -q -o Acquire::http::Proxy=DIRECT -o Acquire::Retries=0 "
                 "-o Acquire::AllowInsecureRepositories=true update 2>&1 || true"),
             Contains("onnect to 127.0.0.1"));
  CHECK(packages.server.requests().empty());
  run(workspace, std::string(kInstall) + "cove-demo cove-service");
  CHECK_THAT(run(workspace, "dpkg -s cove-demo; id cove-service"),
             Contains("Status: install ok installed") && Contains("cove-service"));
  CHECK(run(workspace, "dpkg --audit").empty());
  CHECK_THAT(packages.server.requests(), Contains("/debian/pool/cove-demo.deb"));
}

TEST_CASE("Writable system: tree and openssh-client are installed and run",
          "[integration][runtime][system]") {
  const Packages packages;
  if (!packages.is_there) return;
  const Workspace workspace = packages.acquire();
  const std::string index =
      "curl -fs " + packages.server.url("/debian/dists/bookworm/main/binary-all/Packages");
  if (!workspace.client()
           .exec({.argv = {"sh", "-c", index + " | grep -q '^Package: openssh-client'"}})
           .value()
           .succeeded()) {
    return cove::test::skip("tree and openssh-client were not fetched by scripts/setup");
  }
  run(workspace, std::string(kInstall) + "--reinstall tree openssh-client");
  CHECK_THAT(run(workspace, "tree --version; ssh -V 2>&1"),
             Contains("tree v") && Contains("OpenSSH"));
}

TEST_CASE("Writable system: pip and npm install into the system",
          "[integration][runtime][system]") {
  const Packages packages;
  if (!packages.is_there) return;
  const Workspace workspace = packages.acquire();
  const bool has_pip = has(workspace, "/usr/bin/pip3");
  const bool has_npm = has(workspace, "npm");
  if (!has_pip && !has_npm) return cove::test::skip("neither pip nor npm inside");
  if (!has_pip) cove::test::skip_part("no pip inside");
  if (!has_npm) cove::test::skip_part("no npm inside");
  if (has_pip) {
    run(workspace,
        "/usr/bin/pip3 install -q cove-demo && cd / && "
        "/usr/bin/python3 -c 'import cove_demo; assert cove_demo.SAYS == \"pypi\"; "
        "assert cove_demo.__file__.startswith(\"/usr/\")'");
  }
  if (has_npm) {
    run(workspace,
        "npm i -g --no-update-notifier cove-demo && "
        "test -f \"$(npm root -g)/cove-demo/index.js\"");
  }
}

TEST_CASE("Writable system: lasts over a stop, and after an archive the report says it is new",
          "[integration][runtime][system]") {
  Packages packages;
  if (!packages.is_there) return;
  SandboxId sandbox;
  {
    Workspace workspace = packages.acquire();
    sandbox = workspace.sandbox_id();
    run(workspace, "touch /usr/lib/mine; echo work > /workspace/file");
    workspace.release().value();
  }
  packages.cove.stop(sandbox).value();
  {
    Workspace workspace = packages.acquire();
    run(workspace, "test -f /usr/lib/mine");
    const PrepareReport report = workspace.prepare_report();
    const StepReport* const step = step_in(report, "system_layer");
    CHECK((step == nullptr || step->outcome != StepOutcome::kApplied));
    workspace.release().value();
  }
  packages.cove.archive(sandbox).value();
  Workspace workspace = packages.acquire();
  CHECK(run(workspace, "cat /workspace/file; ls /usr/lib/mine 2>/dev/null | wc -l") == "work\n0\n");
  const PrepareReport report = workspace.prepare_report();
  const StepReport* const step = step_in(report, "system_layer");
  REQUIRE(step != nullptr);
  CHECK(step->outcome == StepOutcome::kApplied);
  CHECK_THAT(step->reason, Contains("the system is new"));
  workspace.release().value();
  packages.cove.destroy(sandbox).value();
}
