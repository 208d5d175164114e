#include "prepare/mirrors/formats/apt_sources.hpp"

#include <catch2/catch.hpp>

#include "prepare/mirrors/step.hpp"

using namespace cove;
using namespace cove::prepare;

namespace {

const Distribution kBookworm{"debian", "bookworm"};
const Distribution kNoble{"ubuntu", "noble"};
const AptMirror kDebian = apt_mirror(kBookworm, "http://mirror.test/debian/");

constexpr const char* kDeb822 =
    "# Debian's own\n"
    "Types: deb deb-src\n"
    "uris: http://deb.debian.org/debian\n"
    "Suites: bookworm bookworm-updates\n"
    "Components: main contrib\n"
    "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    "\n"
    "Types: deb\n"
    "URIs:\n"
    "  http://deb.debian.org/debian-security/\n"
    "  https://security.debian.org\n"
    "Suites: bookworm-security\n"
    "Components: main\n";

/// What the reading script would find on a system.
GuestFilesFound system_with(const std::string& os_release) {
  GuestFilesFound found;
  found.home = "/home/sandbox";
  found.may_write_apt = true;
  found.files["/etc/os-release"] = os_release;
  return found;
}

const std::string kDebianRelease = "ID=debian\nVERSION_CODENAME=bookworm\n";
const std::string kUbuntuRelease = "NAME=\"Ubuntu\"\nID=ubuntu\nVERSION_CODENAME='noble'\n";

/// Applies a plan to what was found, as the writing script does.
void apply(GuestFilesFound& found, const MirrorPlan& plan) {
  for (const GuestFileChange& change : plan.changes) {
    if (change.content)
      found.files[change.path] = *change.content;
    else
      found.files.erase(change.path);
  }
}

}  // namespace

TEST_CASE("AptSources: deb822 gets the mirror, security its own place",
          "[unit][prepare][mirrors]") {
  const std::string merged = merged_sources(kDeb822, true, kDebian);
  CHECK_THAT(merged, Catch::Contains("uris: http://mirror.test/debian\n"));
  CHECK_THAT(merged, Catch::Contains("  http://mirror.test/debian-security/\n"
                                     "  http://mirror.test/debian-security\n"));
  CHECK_THAT(merged, Catch::Contains("# Debian's own") && Catch::Contains("Signed-By:"));
  CHECK(merged_sources(merged, true, kDebian) == merged);
  CHECK(restored_sources(merged, true, kDeb822, merged) == kDeb822);
}

TEST_CASE("AptSources: one-line sources get the mirror, options and others' archives stay",
          "[unit][prepare][mirrors]") {
  const std::string list =
      "deb [arch=amd64 signed-by=/k.gpg] http://ftp.de.debian.org/debian bookworm main # here\n"
      "deb-src\thttp://deb.debian.org/debian/ bookworm main\r\n"
      "#deb http://deb.debian.org/debian sid main\n"
      "deb https://deb.nodesource.com/node_20.x nodistro main\n"
      "deb http://security.debian.org/debian-security bookworm-security main";
  CHECK(merged_sources(list, false, kDebian) ==
        "deb [arch=amd64 signed-by=/k.gpg] http://mirror.test/debian bookworm main # here\n"
        "deb-src\thttp://mirror.test/debian/ bookworm main\r\n"
        "#deb http://deb.debian.org/debian sid main\n"
        "deb https://deb.nodesource.com/node_20.x nodistro main\n"
        "deb http://mirror.test/debian-security bookworm-security main");
}

TEST_CASE("AptSources: Ubuntu's security archive is in the main one", "[unit][prepare][mirrors]") {
  const AptMirror mirror = apt_mirror(kNoble, "https://mirror.test/ubuntu");
  const std::string list =
      "deb http://archive.ubuntu.com/ubuntu noble main\n"
      "deb http://de.archive.ubuntu.com/ubuntu noble-updates main\n"
      "deb http://security.ubuntu.com/ubuntu noble-security main\n"
      "deb http://ports.ubuntu.com/ubuntu-ports noble main\n";
  CHECK(merged_sources(list, false, mirror) ==
        "deb https://mirror.test/ubuntu noble main\n"
        "deb https://mirror.test/ubuntu noble-updates main\n"
        "deb https://mirror.test/ubuntu noble-security main\n"
        "deb https://mirror.test/ubuntu noble main\n");
}

TEST_CASE("AptSources: where a mirror of Debian's security is, is not guessed",
          "[unit][prepare][mirrors]") {
  const AptMirror mirror = apt_mirror(kBookworm, "http://mirror.test/");
  CHECK(mirror.security.empty());
  CHECK(merged_sources("deb http://security.debian.org/ bookworm-security main\n", false, mirror) ==
        "deb http://security.debian.org/ bookworm-security main\n");
}

TEST_CASE("AptSources: hosts that only look like Debian's are the user's own",
          "[unit][prepare][mirrors]") {
  for (const char* uri :
       {"http://deb.debian.org.evil.test/debian", "http://evil.test/deb.debian.org",
        "http://deb.debian.org@evil.test/debian", "cdrom:[Debian]/", "file:/srv"}) {
    const std::string line = std::string("deb ") + uri + " bookworm main\n";
    CAPTURE(line);
    CHECK(merged_sources(line, false, kDebian) == line);
    CHECK_FALSE(names_official(line));
  }
  CHECK(names_official("deb http://deb.debian.org/debian x main\n"));
  CHECK(names_official(kDeb822));
}

TEST_CASE("Mirrors: apt's files are merged and come back", "[unit][prepare][mirrors]") {
  GuestFilesFound found = system_with(kDebianRelease);
  const std::string sources = "/etc/apt/sources.list.d/debian.sources";
  found.files[sources] = kDeb822;
  found.files["/etc/apt/sources.list.d/node.list"] = "deb https://deb.nodesource.com/x y main\n";
  const GuestFilesFound before = found;
  const Mirrors mirrors{.apt = "http://mirror.test/debian"};

  const MirrorPlan plan = plan_mirrors(mirrors, found);
  CHECK(plan.notes.empty());
  apply(found, plan);
  CHECK_THAT(found.files[sources], Catch::Contains("http://mirror.test/debian-security"));
  CHECK_FALSE(found.files.contains("/etc/apt/sources.list.d/cove-mirror.sources"));
  CHECK(plan_mirrors(mirrors, found).changes.empty());

  apply(found, plan_mirrors(Mirrors{}, found));
  CHECK(found.files == before.files);
}

TEST_CASE("Mirrors: a system without sources gets some, and loses them with the mirror",
          "[unit][prepare][mirrors]") {
  GuestFilesFound found = system_with(kUbuntuRelease);
  const GuestFilesFound before = found;
  const Mirrors mirrors{.apt = "http://mirror.test/ubuntu"};
  apply(found, plan_mirrors(mirrors, found));
  const std::string text = found.files["/etc/apt/sources.list.d/cove-mirror.sources"];
  CHECK_THAT(text, Catch::Contains("Suites: noble noble-updates noble-backports") &&
                       Catch::Contains("Suites: noble-security") &&
                       Catch::Contains("main universe restricted multiverse") &&
                       Catch::Contains("ubuntu-archive-keyring.gpg"));
  CHECK(plan_mirrors(mirrors, found).changes.empty());
  apply(found, plan_mirrors(Mirrors{}, found));
  CHECK(found.files == before.files);
}

TEST_CASE("Mirrors: apt is left alone where the system is not the sandbox's own, and the host told",
          "[unit][prepare][mirrors]") {
  GuestFilesFound found = system_with(kDebianRelease);
  found.may_write_apt = false;
  found.files["/etc/apt/sources.list"] = "deb http://deb.debian.org/debian bookworm main\n";
  const MirrorPlan plan = plan_mirrors({.apt = "http://mirror.test/debian"}, found);
  CHECK(plan.changes.empty());
  REQUIRE(plan.notes.size() == 1);
  CHECK_THAT(plan.notes[0], Catch::Contains("writable system layer"));
  GuestFilesFound other = system_with("ID=alpine\n");
  const MirrorPlan none = plan_mirrors({.apt = "http://mirror.test/debian"}, other);
  CHECK(none.changes.empty());
  CHECK_THAT(none.notes.at(0), Catch::Contains("neither"));
}
