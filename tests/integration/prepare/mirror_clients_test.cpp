// Real package managers that get their packages from a local server, after the step has told them.
// A client that this machine has not is skipped by name.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "prepare/mirrors/formats/apt_sources.hpp"
#include "prepare/mirrors/step.hpp"
#include "support/fixtures/agent_fixture.hpp"
#include "support/fixtures/mirror_server.hpp"
#include "support/fixtures/project_files.hpp"
#include "support/skip.hpp"

using namespace cove;
using namespace std::chrono_literals;
using cove::test::AgentFixture;
using cove::testing::MirrorServer;
namespace fs = std::filesystem;

namespace {

/// Where clients that are not Debian's usually are.
wire::AgentBoot boot_with_clients() {
  const char* const home = std::getenv("HOME");
  const std::string own = home != nullptr ? home : "/nowhere";
  wire::AgentBoot boot;
  boot.environment["PATH"] =
      "/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin:" + own + "/.cargo/bin";
  boot.environment["RUSTUP_HOME"] = own + "/.rustup";
  return boot;
}

/// An agent without a sandbox, whose commands have the workspace as HOME. Its /etc is this
/// machine's: apt's mirror is never among those that are prepared here (writable_system_test.cpp
/// does that).
class Clients {
 public:
  MirrorServer server;
  AgentFixture fixture{boot_with_clients()};
  Mirrors mirrors{.npm = server.url("/npm/"),
                  .pypi = server.url("/simple"),
                  .go = server.url("/go"),
                  .cargo = server.url("/crates/"),
                  .maven = server.url("/maven2"),
                  .rubygems = server.url("/gems")};

  PrepareContext prepare(const Mirrors& wanted, std::string note = {}) {
    if (!wanted.apt.empty()) FAIL("this would write to the /etc/apt of this machine");
    const PrepareStep step = prepare::mirrors_step(wanted);
    PrepareContext context{.guest = *fixture.guest,
                           .scheduler = fixture.loop,
                           .clock = fixture.clock,
                           .call = call_,
                           .session = session_,
                           .env = env_,
                           .note = std::move(note),
                           .reason = {},
                           .output = {},
                           .tell = {}};
    const Result<void> applied = fixture.wait(step.apply(context));
    if (!applied) FAIL(applied.error().describe());
    return context;
  }

  /// False, and the case is skipped, where the client is not there.
  bool has(const std::string& client) {
    if (fixture.shell("command -v " + client).value().succeeded()) return true;
    cove::test::skip("no " + client);
    return false;
  }

  /// The command that runs a client which scripts/setup fetched, `program` below where it put it;
  /// empty, and the case is skipped, where it did not.
  std::string fetched(const std::string& program) {
    const std::string path = cove::testing::project_path("build/test-clients/" + program);
    const bool is_script = program.ends_with("js");
    if (fs::exists(path) && (!is_script || has("node"))) return is_script ? "node " + path : path;
    cove::test::skip("scripts/setup did not fetch " + program);
    return {};
  }

  /// Adds the package to a new project, with `client`, and reads it there by `client + node`.
  void add_and_read(const std::string& client, const std::string& node) {
    prepare(mirrors);
    const std::string project = R"({"name": "p", "version": "1.0.0", "license": "MIT"})";
    run("mkdir -p p && cd p && echo '" + project + "' > package.json && " + client +
        " add cove-demo && test \"$(" + node + " \"require('cove-demo')\")\" = npm");
    CHECK_THAT(server.requests(), Catch::Contains("/npm/cove-demo/-/cove-demo-1.2.3.tgz"));
  }

  /// Runs a line that must end well, within two minutes.
  void run(const std::string& line) {
    ExecSpec spec{.argv = {"/bin/sh", "-c", line}};
    spec.timeout = 120s;
    const ExecResult result = fixture.run(spec).value();
    INFO(line << "\n" << result.out.text() << "\n" << result.err.text());
    REQUIRE(result.succeeded());
  }

  fs::path home() const { return fixture.agent.workspace(); }

 private:
  const CallContext call_;
  const std::string session_;
  const std::map<std::string, std::string> env_;
};

/// What is below HOME, but the copies.
std::set<std::string> files_in(const fs::path& home) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(home)) {
    if (entry.is_regular_file()) found.insert(fs::relative(entry.path(), home).string());
  }
  return found;
}

}  // namespace

TEST_CASE("Mirrors: npm installs from the mirror, and its own settings stay",
          "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.has("npm")) return;
  clients.fixture.agent.put(".npmrc", "fund=false\naudit=false\nregistry=https://mine.test/\n",
                            0600);
  clients.prepare(clients.mirrors);
  clients.run(
      "mkdir p && cd p && npm install --no-update-notifier cove-demo && "
      "test \"$(node -p \"require('cove-demo')\")\" = npm");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/npm/cove-demo"));
  CHECK((fs::status(clients.home() / ".npmrc").permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  // npm writes the file anew when it sets something.
  clients.run("npm config set save-exact=true --location=user");
  clients.prepare(Mirrors{}, "set");
  const std::string text = clients.fixture.agent.get(".npmrc");
  CHECK_THAT(text, Catch::Contains("registry=https://mine.test/") &&
                       Catch::Contains("save-exact=true") && Catch::Contains("fund=false"));
}

TEST_CASE("Mirrors: yarn 1 installs from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  const std::string yarn = clients.fetched("yarn1/bin/yarn.js");
  if (!yarn.empty()) clients.add_and_read(yarn, "node -p");
}

TEST_CASE("Mirrors: yarn 4 installs from the mirror, over plain http too",
          "[integration][prepare][mirrors]") {
  Clients clients;
  const std::string yarn = clients.fetched("yarn4/bin/yarn.js");
  if (yarn.empty()) return;
  // By this file it knows a project of its own, whatever is above it.
  clients.run("mkdir p && touch p/yarn.lock");
  clients.add_and_read(yarn, yarn + " node -p");
}

TEST_CASE("Mirrors: pnpm installs from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  const std::string pnpm = clients.fetched("pnpm/bin/pnpm.cjs");
  if (!pnpm.empty()) clients.add_and_read(pnpm, "node -p");
}

TEST_CASE("Mirrors: bun installs from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  const std::string bun = clients.fetched("bun/bin/bun");
  if (bun.empty()) return;
  clients.add_and_read(bun, bun + " -p");
  // Its own file is enough: it reads npm's too.
  fs::remove(clients.home() / ".npmrc");
  clients.run("rm -rf p/node_modules p/bun.lock* ~/.bun && cd p && " + bun + " install");
}

TEST_CASE("Mirrors: pip installs from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.fixture.shell("/usr/bin/python3 -m pip --version").value().succeeded()) {
    return cove::test::skip("no pip");
  }
  clients.prepare(clients.mirrors);
  clients.run(
      "/usr/bin/python3 -m pip install --target t cove-demo && "
      "PYTHONPATH=t /usr/bin/python3 -c \"import cove_demo; assert cove_demo.SAYS == 'pypi'\"");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/simple/cove-demo/"));
  // pip reads its own file as it was written.
  clients.run("/usr/bin/python3 -m pip config list | grep -q \"global.trusted-host='127.0.0.1:\"");
}

TEST_CASE("Mirrors: uv resolves from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.has("uv")) return;
  clients.prepare(clients.mirrors);
  clients.run("uv pip install --python /usr/bin/python3 --target t cove-demo");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/simple/cove-demo/"));
}

TEST_CASE("Mirrors: go gets modules from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.has("go")) return;
  clients.prepare(clients.mirrors);
  clients.run(
      "export GOFLAGS=-modcacherw GONOSUMDB=example.test GOTOOLCHAIN=local && "
      "go mod download example.test/demo@v1.0.0 && "
      "test \"$(go env GOPROXY)\" = " +
      clients.mirrors.go + ",direct");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/go/example.test/demo/@v/v1.0.0.zip"));
  // `go env -w` rewrites the file; the setting that is Cove's goes, the other stays.
  clients.run("go env -w GOPRIVATE=corp.test");
  clients.prepare(Mirrors{}, "set");
  CHECK(clients.fixture.agent.get(".config/go/env") == "GOPRIVATE=corp.test\n");
}

TEST_CASE("Mirrors: cargo fetches crates from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.fixture.shell("cargo --version").value().succeeded()) {
    return cove::test::skip("no cargo");
  }
  clients.prepare(clients.mirrors);
  clients.run(
      "mkdir -p c/src && touch c/src/lib.rs && "
      "printf '[package]\\nname = \"c\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n"
      "[dependencies]\\ncove-demo = \"1\"\\n' > c/Cargo.toml && cd c && cargo fetch");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/dl/cove-demo-1.2.3.crate"));
}

TEST_CASE("Mirrors: gem installs from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.has("ruby") || !clients.has("gem")) return;
  clients.prepare(clients.mirrors);
  clients.run(
      "gem install --install-dir g --no-document cove-demo && "
      "test \"$(GEM_PATH=$PWD/g ruby -e 'require \"cove_demo\"; puts COVE_DEMO')\" = rubygems");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/gems/gems/cove-demo-1.2.3.gem"));
}

TEST_CASE("Mirrors: bundler installs from the mirror of the source that a Gemfile names",
          "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.has("ruby") || !clients.has("bundle")) return;
  clients.prepare(clients.mirrors);
  // The setting's key is that source: in capitals, with `__` for each dot.
  clients.run(
      "source=$(sed -n 's/^BUNDLE_MIRROR__\\(.*\\): .*/\\1/p' ~/.bundle/config | tr A-Z a-z | "
      "sed 's/__/./g') && test -n \"$source\" && mkdir b && cd b && "
      "printf 'source \"%s\"\\ngem \"cove-demo\"\\n' \"$source\" > Gemfile && "
      "export BUNDLE_PATH=v BUNDLE_SILENCE_ROOT_WARNING=1 && bundle install && "
      "test \"$(bundle exec ruby -e 'require \"cove_demo\"; puts COVE_DEMO')\" = rubygems");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/gems/gems/cove-demo-1.2.3.gem"));
}

TEST_CASE("Mirrors: maven asks the mirror for what it would ask central for",
          "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.has("mvn")) return;
  clients.prepare(clients.mirrors);
  // The mirror has nothing, so the build ends; that it was asked is what counts.
  const auto result =
      clients.fixture.shell("mvn -B -Duser.home=$HOME dependency:get -Dartifact=test:demo:1 2>&1");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/maven2/org/apache/maven/plugins/"));
  CHECK_THAT(result.value().out.text(), Catch::Contains("cove-mirror"));
}

TEST_CASE("Mirrors: apt reads merged sources, one-line and deb822",
          "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.has("apt-get") || !clients.has("dpkg-deb")) return;
  const auto mirror = prepare::apt_mirror({"debian", "bookworm"}, clients.server.url("/debian"));
  const std::string list =
      "deb [trusted=yes] http://deb.debian.org/debian bookworm main\n"
      "deb [trusted=yes] http://deb.debian.org/debian-security bookworm-security main\n";
  const std::string deb822 =
      "Types: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm bookworm-updates\n"
      "Components: main\nTrusted: yes\n";
  fs::create_directories(clients.home() / "etc/sources.list.d");
  clients.fixture.agent.put("etc/sources.list", prepare::merged_sources(list, false, mirror));
  clients.fixture.agent.put("etc/sources.list.d/debian.sources",
                            prepare::merged_sources(deb822, true, mirror));
  clients.run(
      "mkdir -p state/lists/partial cache/archives/partial dl && touch status && "
      "o=\"-o Dir::Etc=$PWD/etc -o Dir::State=$PWD/state -o Dir::State::status=$PWD/status "
      "-o Dir::Cache=$PWD/cache -o APT::Architecture=amd64 -o APT::Sandbox::User=root "
      "-o Acquire::Languages=none -o Acquire::http::Proxy=DIRECT\" && "
      "apt-get $o update && cd dl && apt-get $o download cove-demo && ls cove-demo_1.2.3_all.deb");
  CHECK_THAT(clients.server.requests(),
             Catch::Contains("/debian-security/dists/bookworm-security/Release") &&
                 Catch::Contains("/debian/dists/bookworm-updates/Release") &&
                 Catch::Contains("/debian/pool/cove-demo.deb"));
}

TEST_CASE("Mirrors: the step writes once, and leaves nothing when the mirrors go",
          "[integration][prepare][mirrors]") {
  Clients clients;
  fs::create_directories(clients.home() / "dotfiles");
  clients.fixture.agent.put("dotfiles/yarnrc", "# mine\r\n");
  fs::create_symlink("dotfiles/yarnrc", clients.home() / ".yarnrc");
  fs::create_directory(clients.home() / ".bunfig.toml");
  const Mirrors mirrors = clients.mirrors;
  const auto before = files_in(clients.home());

  PrepareContext first = clients.prepare(mirrors);
  CHECK(first.note == "set");
  CHECK_THAT(first.reason, Catch::Contains(".bunfig.toml is left as it is"));
  CHECK(fs::is_symlink(clients.home() / ".yarnrc"));
  CHECK_THAT(clients.fixture.agent.get("dotfiles/yarnrc"),
             Catch::StartsWith("# mine\r\n") && Catch::Contains("registry"));
  const auto with = files_in(clients.home());
  CHECK(with.contains(".config/uv/uv.toml"));
  CHECK(with.contains(".m2/settings.xml"));
  CHECK(with.contains(".cove/mirrors/npmrc.written"));
  PrepareContext second = clients.prepare(mirrors);
  CHECK_THAT(second.reason, Catch::StartsWith("0 files written"));

  PrepareContext third = clients.prepare(Mirrors{}, "set");
  CHECK(third.note.empty());
  CHECK(files_in(clients.home()) == before);
  CHECK(clients.fixture.agent.get("dotfiles/yarnrc") == "# mine\r\n");
}

TEST_CASE("Mirrors: a file that somebody changes meanwhile is not written over",
          "[integration][prepare][mirrors]") {
  Clients clients;
  clients.fixture.agent.put(".npmrc", "a=1\n");
  const std::string path = clients.fixture.agent.workspace() + "/.npmrc";
  const CallContext call;
  std::vector<prepare::GuestFileChange> changes(1);
  changes[0].path = path;
  changes[0].present = "a=0\n";
  changes[0].content = "b=2\n";
  const auto written =
      clients.fixture.wait(prepare::write_guest_files(*clients.fixture.guest, changes, call));
  REQUIRE_FALSE(written);
  CHECK(written.error().code() == ErrorCode::kConflict);
  CHECK(clients.fixture.agent.get(".npmrc") == "a=1\n");
  changes[0].present = "a=1\n";
  changes[0].content = "it's $HOME `x` \\ \"q\"\n\n";
  REQUIRE(clients.fixture.wait(prepare::write_guest_files(*clients.fixture.guest, changes, call)));
  CHECK(clients.fixture.agent.get(".npmrc") == *changes[0].content);
}
