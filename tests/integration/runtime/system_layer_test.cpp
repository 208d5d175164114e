// Package managers that install into a writable system, through a Cove, from a local server. A
// client that this machine has not is skipped by name.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cove/grants/host_network.hpp>
#include <cove/grants/proxy_network.hpp>
#include <cove/grants/writable_system.hpp>

#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/local_fixture.hpp"
#include "support/fixtures/mirror_server.hpp"
#include "support/fixtures/project_files.hpp"
#include "support/fixtures/system_tree.hpp"
#include "support/skip.hpp"

using namespace cove;
using namespace cove::testing;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr const char* kInstall =
    "export DEBIAN_FRONTEND=noninteractive; apt-get -q -o Acquire::AllowInsecureRepositories=true "
    "update && "
    "apt-get -q install -y --allow-unauthenticated ";

constexpr const char* kImport =
    "cd / && /usr/bin/python3 -c 'import cove_demo; assert cove_demo.SAYS == \"pypi\"; "
    "assert cove_demo.__file__.startswith(\"/usr/\")'";
constexpr const char* kRequire =
    "test \"$(node -p \"require('$(npm root -g)/cove-demo')\")\" = npm";

constexpr const char* kNoTree = "no tree can be made here of packages that dpkg manages";
constexpr const char* kFetched = "tree and openssh-client are there";
constexpr const char* kNotFetched = "tree and openssh-client were not fetched by scripts/setup";

const WorkspaceKey kKey{"app", "system", "ana"};

/// How the packages' server is reached.
enum class Way { kHostNetwork, kProxy };

/// A Cove with a writable system, and where its packages come from.
class Packages {
 public:
  LiveCove live;
  Cove cove;
  bool is_there = false;

  /// `tree`: what the system lies over; empty = the host's. `server`: the packages' address.
  Packages(std::string server, Way way, const std::string& tree = {})
      : cove(live.open(writable(live.config(), way, tree))), server_(std::move(server)) {
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
        .npm = server_ + "/npm/", .pypi = server_ + "/simple", .apt = server_ + "/debian"};
    return options;
  }
  Workspace acquire() const { return cove.acquire(kKey, options()).value(); }

  static Config writable(Config config, Way way, const std::string& tree) {
    config.policy.allow(grants::WritableSystem{});
    config.policy.root_tree = tree;
    if (way == Way::kHostNetwork) config.policy.allow(grants::HostNetwork{});
    if (way == Way::kProxy) config.policy.allow(grants::ProxyNetwork{});
    return config;
  }

 private:
  std::string server_;
};

/// Over the host's own system.
struct HostPackages {
  explicit HostPackages(Way way = Way::kHostNetwork) {
    if (::geteuid() != 0) {
      cove::test::skip("a writable system over the host's takes root");
    } else if (std::system("command -v apt-get >/dev/null") != 0) {
      cove::test::skip("no apt-get");
    } else {
      packages.emplace(server.url(""), way);
    }
  }
  bool is_there() const { return packages && packages->is_there; }
  Workspace acquire() const { return packages->acquire(); }

  MirrorServer server;
  std::optional<Packages> packages;
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

/// Whether scripts/setup fetched them.
bool has_real_packages() {
  for (const char* name : {"tree_", "openssh-client_"}) {
    const auto is_it = [&](const fs::directory_entry& entry) {
      return entry.path().filename().string().starts_with(name);
    };
    std::error_code none;
    const fs::directory_iterator found(project_path("build/test-packages"), none);
    if (none || std::none_of(begin(found), end(found), is_it)) {
      return false;
    }
  }
  return true;
}

/// A package that is there as it is, and one that makes a system user.
void install_by_apt(const Workspace& workspace) {
  run(workspace, std::string(kInstall) + "cove-demo cove-service");
  CHECK_THAT(run(workspace, "dpkg -s cove-demo"), Contains("Status: install ok installed"));
  CHECK_THAT(run(workspace, "id cove-service; stat -c %U /var/lib/cove-service"),
             Contains("(cove-service)") && Contains("\ncove-service"));
  CHECK(run(workspace, "dpkg --audit").empty());
}

void install_real_packages(const Workspace& workspace) {
  run(workspace, std::string(kInstall) + "--reinstall tree openssh-client");
  CHECK_THAT(run(workspace, "tree --version; ssh -V 2>&1"),
             Contains("tree v") && Contains("OpenSSH"));
  // The group is made by the package's script.
  CHECK(run(workspace, "stat -c '%G %a' /usr/bin/ssh-agent") == "_ssh 2755\n");
  CHECK(run(workspace, "dpkg --audit").empty());
}

void install_by_pip(const Workspace& workspace) {
  run(workspace, "/usr/bin/pip3 install -q cove-demo && " + std::string(kImport));
}

void install_by_npm(const Workspace& workspace) {
  run(workspace, "npm i -g --no-update-notifier cove-demo && " + std::string(kRequire));
}

/// By those of them that are there; false where none is.
bool install_by_pip_and_npm(const Workspace& workspace) {
  const bool has_pip = has(workspace, "/usr/bin/pip3");
  const bool has_npm = has(workspace, "npm");
  if (!has_pip) cove::test::skip_part("no pip inside");
  if (!has_npm) cove::test::skip_part("no npm inside");
  if (has_pip) install_by_pip(workspace);
  if (has_npm) install_by_npm(workspace);
  return has_pip || has_npm;
}

const StepReport* step_in(const PrepareReport& report, const std::string& name) {
  const auto found = std::find_if(report.steps.begin(), report.steps.end(),
                                  [&](const StepReport& step) { return step.step == name; });
  return found == report.steps.end() ? nullptr : &*found;
}

/// After a wake from an archive.
void check_it_is_new(const Workspace& workspace) {
  const PrepareReport report = workspace.prepare_report();
  const StepReport* const step = step_in(report, "system_layer");
  REQUIRE(step != nullptr);
  CHECK(step->outcome == StepOutcome::kApplied);
  CHECK_THAT(step->reason, Contains("the system is new"));
}

/// All that is promised of packages, in one sandbox: a tree to install into takes seconds to make.
void install_all_until_an_archive(Packages& packages, bool real_packages) {
  SandboxId sandbox;
  std::string check = "dpkg -s cove-demo cove-service && id cove-service";
  {
    Workspace workspace = packages.acquire();
    sandbox = workspace.sandbox_id();
    install_by_apt(workspace);
    // apt was not root when it got them.
    CHECK(run(workspace, "stat -c %U /var/cache/apt/archives/partial") == "_apt\n");
    if (real_packages) install_real_packages(workspace);
    if (!real_packages) cove::test::skip_part(kNotFetched);
    install_by_pip_and_npm(workspace);
    if (real_packages) check += " && tree --version && ssh -V";
    if (has(workspace, "/usr/bin/pip3")) check += " && " + std::string(kImport);
    if (has(workspace, "npm")) check += " && " + std::string(kRequire);
    run(workspace, "echo work > /workspace/file && chown cove-service: /workspace/file");
    workspace.release().value();
  }
  packages.cove.stop(sandbox).value();
  {
    Workspace workspace = packages.acquire();
    run(workspace, check);
    workspace.release().value();
  }
  packages.cove.archive(sandbox).value();
  Workspace workspace = packages.acquire();
  CHECK(run(workspace, "cat /workspace/file") == "work\n");
  for (const char* gone : {"dpkg -s cove-demo", "id cove-service", "tree --version", kImport}) {
    INFO(gone);
    CHECK_FALSE(workspace.client().exec({.argv = {"sh", "-c", gone}}).value().succeeded());
  }
  check_it_is_new(workspace);
  workspace.release().value();
  packages.cove.destroy(sandbox).value();
}

}  // namespace

TEST_CASE("Writable system: apt installs a package, and one that makes a system user",
          "[integration][runtime][system]") {
  const HostPackages packages;
  if (!packages.is_there()) return;
  const Workspace workspace = packages.acquire();
  install_by_apt(workspace);
  CHECK_THAT(packages.server.requests(), Contains("/debian/pool/cove-demo.deb"));
}

TEST_CASE("Writable system: apt installs through the proxy with nothing else configured",
          "[integration][runtime][system][proxy]") {
  const HostPackages packages(Way::kProxy);
  if (!packages.is_there()) return;
  const Workspace workspace = packages.acquire();
  // There is no other way out: without the proxy nothing answers.
  CHECK_THAT(run(workspace,
                 "apt-get -q -o Acquire::http::Proxy=DIRECT -o Acquire::Retries=0 "
                 "-o Acquire::AllowInsecureRepositories=true update 2>&1 || true"),
             Contains("onnect to 127.0.0.1"));
  CHECK(packages.server.requests().empty());
  install_by_apt(workspace);
  CHECK_THAT(packages.server.requests(), Contains("/debian/pool/cove-demo.deb"));
}

TEST_CASE("Writable system: tree and openssh-client are installed and run",
          "[integration][runtime][system]") {
  if (!has_real_packages()) return cove::test::skip(kNotFetched);
  const HostPackages packages;
  if (packages.is_there()) install_real_packages(packages.acquire());
}

TEST_CASE("Writable system: pip and npm install into the system",
          "[integration][runtime][system]") {
  const HostPackages packages;
  if (!packages.is_there()) return;
  if (!install_by_pip_and_npm(packages.acquire())) cove::test::skip("neither pip nor npm inside");
}

TEST_CASE("Writable system: lasts over a stop, and after an archive the report says it is new",
          "[integration][runtime][system]") {
  HostPackages host;
  if (!host.is_there()) return;
  Packages& packages = *host.packages;
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
  check_it_is_new(workspace);
  workspace.release().value();
  packages.cove.destroy(sandbox).value();
}

TEST_CASE("Writable system over a tree: apt, pip and npm install, until an archive",
          "[integration][runtime][system]") {
  if (::geteuid() != 0) return cove::test::skip("the next case is an ordinary user's");
  if (!SystemTree::can_be_made()) return cove::test::skip(kNoTree);
  const SystemTree tree;
  const MirrorServer server;
  Packages packages(server.url(""), Way::kHostNetwork, tree.path());
  if (packages.is_there) install_all_until_an_archive(packages, has_real_packages());
  CHECK_FALSE(fs::exists(tree.path() + "/usr/bin/tree"));
}

// Run by the next case as an ordinary user who has subordinate ids: the tree, the server and what
// it has are given to it.
TEST_CASE("Packages over a tree of an ordinary user's own", "[.][packages-of-user]") {
  const std::vector<std::string> words = cove::test::child_words();
  Packages packages(words.at(1), Way::kProxy, words.at(0));
  if (packages.is_there) install_all_until_an_archive(packages, words.at(2) == kFetched);
}

TEST_CASE("Writable system over a tree of an ordinary user's own: apt, pip and npm install",
          "[integration][runtime][system]") {
  if (::geteuid() != 0) {
    return cove::test::skip("root starts it as a user with subordinate ids of its own making");
  }
  if (!SystemTree::can_be_made()) return cove::test::skip(kNoTree);
  const SystemTree tree(cove::test::kOrdinaryUser);
  const MirrorServer server;
  const auto run = cove::test::run_as_user_with_subordinate_ids(
      "[packages-of-user]",
      {tree.path(), server.url(""), has_real_packages() ? kFetched : kNotFetched});
  if (!run.skipped.empty()) return cove::test::skip(run.skipped);
  INFO(run.output);
  CHECK(run.passed);
  if (run.output.find("[part skipped]") != std::string::npos) cove::test::skip_part(run.output);
  CHECK_THAT(server.requests(), Contains("/debian/pool/cove-service.deb") &&
                                    Contains("/simple/cove-demo/") && Contains("/npm/cove-demo"));
}
