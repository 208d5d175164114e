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

  bool has(const std::string& client) {
    if (fixture.shell("command -v " + client).value().succeeded()) return true;
    WARN("[skipped] no " + client);
    return false;
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

TEST_CASE("Mirrors: pip installs from the mirror", "[integration][prepare][mirrors]") {
  Clients clients;
  if (!clients.fixture.shell("/usr/bin/python3 -m pip --version").value().succeeded()) {
    WARN("[skipped] no pip");
    return;
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
    WARN("[skipped] no cargo");
    return;
  }
  clients.prepare(clients.mirrors);
  clients.run(
      "mkdir -p c/src && touch c/src/lib.rs && "
      "printf '[package]\\nname = \"c\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n"
      "[dependencies]\\ncove-demo = \"1\"\\n' > c/Cargo.toml && cd c && cargo fetch");
  CHECK_THAT(clients.server.requests(), Catch::Contains("/dl/cove-demo-1.2.3.crate"));
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
