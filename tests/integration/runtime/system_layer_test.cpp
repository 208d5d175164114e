// Package managers that install into a writable system, through a Cove, from a local server. A
// client that this machine has not is skipped by name.
#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cove/grants/host_network.hpp>
#include <cove/grants/writable_system.hpp>

#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/mirror_server.hpp"

using namespace cove;
using namespace cove::testing;
using Catch::Contains;

namespace {

constexpr const char* kInstall =
    "export DEBIAN_FRONTEND=noninteractive; apt-get -q -o Acquire::AllowInsecureRepositories=true "
    "update && "
    "apt-get -q install -y --allow-unauthenticated ";

const WorkspaceKey kKey{"app", "system", "ana"};

class Packages {
 public:
  MirrorServer server;
  LiveCove live;
  bool is_there = false;

  Packages() {
    if (::geteuid() != 0) {
      WARN("[skipped] a writable system over the host's takes root");
      return;
    }
    if (std::system("command -v apt-get >/dev/null") != 0) {
      WARN("[skipped] no apt-get");
      return;
    }
    const auto opened = cove.acquire(kKey, options());
    if (!opened && opened.error().code() == ErrorCode::kUnsupported) {
      WARN("[skipped] " << opened.error().message());
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

  static Config writable(Config config) {
    config.policy.allow(grants::WritableSystem{});
    config.policy.allow(grants::HostNetwork{});
    return config;
  }

  Cove cove = live.open(writable(live.config()));
};

/// Runs a line that must end well.
std::string run(const Workspace& workspace, const std::string& line) {
  const ExecResult result = workspace.client().exec({.argv = {"sh", "-c", line}}).value();
  INFO(line << "\n" << result.out.text() << "\n" << result.err.text());
  REQUIRE(result.succeeded());
  return result.out.text();
}

bool has(const Workspace& workspace, const std::string& program) {
  const auto found =
      workspace.client().exec({.argv = {"sh", "-c", "command -v " + program}}).value();
  if (found.succeeded()) return true;
  WARN("[skipped] no " << program << " inside");
  return false;
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
    WARN("[skipped] tree and openssh-client were not fetched by scripts/setup");
    return;
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
  if (has(workspace, "/usr/bin/pip3")) {
    run(workspace,
        "/usr/bin/pip3 install -q cove-demo && cd / && "
        "/usr/bin/python3 -c 'import cove_demo; assert cove_demo.SAYS == \"pypi\"; "
        "assert cove_demo.__file__.startswith(\"/usr/\")'");
  }
  if (has(workspace, "npm")) {
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
