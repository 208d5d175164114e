// A workspace moves between two local providers: the host's system, and a tree with a name.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "support/fixtures/live_cove.hpp"
#include "support/trees/scratch_directory.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

const WorkspaceKey kAna{"app", "demo", "ana"};
const SandboxId kSandbox = sandbox_id_of(kAna);

/// Copies a file of the host to where it is found in the tree; nothing where the host has none.
void copy_into(const std::string& root, const std::string& from, const std::string& to) {
  if (!fs::exists(from)) return;
  fs::create_directories(fs::path(root + to).parent_path());
  fs::copy_file(fs::canonical(from), root + to, fs::copy_options::overwrite_existing);
}

/// The least root file system that has a shell, and a file by which a command knows it.
void make_tree(const std::string& root) {
  fs::create_directories(root + "/etc");
  std::ofstream(root + "/etc/mark") << "named tree\n";
  for (const char* top : {"bin", "lib", "lib64"}) {
    fs::create_directories(root + "/usr/" + top);
    fs::create_directory_symlink(std::string("usr/") + top, root + "/" + top);
  }
  copy_into(root, "/bin/sh", "/usr/bin/sh");
  copy_into(root, "/bin/cat", "/usr/bin/cat");
  for (const char* loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"}) {
    copy_into(root, loader, std::string("/usr") + loader);
  }
  for (const char* machine : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
    const std::string library = std::string("/usr/lib/") + machine + "/libc.so.6";
    copy_into(root, library, library);
  }
  copy_into(root, "/usr/lib64/libc.so.6", "/usr/lib64/libc.so.6");
}

struct World {
  ScratchDirectory scratch;
  LiveCove live;
  std::string tree = scratch / "tree";

  World() { make_tree(tree); }

  Config config() const {
    Config config = live.config();
    config.providers["tree"].root_tree = tree;
    return config;
  }
};

std::string run(const Cove& cove, const std::string& line) {
  auto workspace = cove.acquire(kAna).value();
  const std::string text = shell(workspace.client(), line);
  workspace.release().value();
  return text;
}

std::string system_of(const Cove& cove) {
  return run(cove, "if [ -e /etc/mark ]; then cat /etc/mark; else echo host; fi");
}

}  // namespace

TEST_CASE_METHOD(World, "Cove: a workspace moves to a named tree and back, with its files",
                 "[integration][runtime][relocate]") {
  auto cove = live.open(config());
  run(cove, "echo hello > note.txt; echo gone > ~/.home; echo kept > .hidden");
  CHECK(system_of(cove) == "host");
  const Record before = cove.status(kSandbox).value();
  CHECK(before.provider == "local");

  cove.relocate(kSandbox, {"tree"}).value();
  const Record there = cove.status(kSandbox).value();
  CHECK(there.provider == "tree");
  CHECK(there.state == SandboxState::kRunning);
  CHECK(there.garbage.empty());
  CHECK_FALSE(live.has_volume(before.generation));
  CHECK(system_of(cove) == "named tree");
  CHECK(run(cove, "cat note.txt .hidden") == "hello\nkept");
  CHECK(run(cove, "if [ -e ~/.home ]; then echo home; else echo none; fi") == "none");
  run(cove, "echo more > second.txt");

  cove.relocate(kSandbox, {"tree"}).value();  // it is there
  CHECK(cove.status(kSandbox).value().generation == there.generation);
  cove.relocate(kSandbox, {"local"}).value();
  CHECK(system_of(cove) == "host");
  CHECK(run(cove, "cat note.txt second.txt") == "hello\nmore");
  cove.destroy(kSandbox).value();
  CHECK(cove.orphans().value().volumes.empty());
}

TEST_CASE_METHOD(World, "Cove: what lies at a named tree stops, archives and wakes there",
                 "[integration][runtime][relocate]") {
  auto cove = live.open(config());
  run(cove, "echo hello > note.txt");
  cove.archive(kSandbox).value();
  cove.relocate(kSandbox, {"tree"}).value();
  CHECK(system_of(cove) == "named tree");
  cove.stop(kSandbox).value();
  CHECK(system_of(cove) == "named tree");
  cove.close().value();

  // Another process of the same configuration finds it, one without the tree says what it lacks.
  auto poorer = live.open();
  const auto refused = poorer.acquire(kAna);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
  CHECK_THAT(refused.error().message(), Catch::Contains("no provider 'tree'"));
  CHECK(poorer.status(kSandbox).value().provider == "tree");
  poorer.close().value();
  auto again = live.open(config());
  CHECK(run(again, "cat note.txt") == "hello");
  again.destroy(kSandbox).value();
}

TEST_CASE_METHOD(World, "Cove: a handle that is held while its workspace moves finds it again",
                 "[integration][runtime][relocate]") {
  auto cove = live.open(config());
  auto workspace = cove.acquire(kAna).value();
  shell(workspace.client(), "echo hello > note.txt");
  cove.relocate(kSandbox, {"tree", StopDrain::kCancel}).value();
  CHECK(shell(workspace.client(), "cat note.txt /etc/mark") == "hello\nnamed tree");
  workspace.release().value();
  cove.destroy(kSandbox).value();
}

TEST_CASE_METHOD(World, "Cove: doctor names the providers, and a tree that is not there",
                 "[integration][runtime][relocate]") {
  const auto finding = [](const Cove& cove) {
    const auto findings = cove.doctor();
    const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& one) {
      return one.subject == "provider 'tree'";
    });
    REQUIRE(found != findings.end());
    return *found;
  };
  auto cove = live.open(config());
  CHECK(finding(cove).level == Finding::Level::kGood);
  CHECK_THAT(finding(cove).detail, Catch::Contains(tree));
  run(cove, "echo hello > note.txt; echo home > ~/.kept");
  fs::rename(tree, tree + ".away");
  CHECK(finding(cove).level == Finding::Level::kBroken);
  // Where nothing could start nothing is moved: the home is there too.
  const auto refused = cove.relocate(kSandbox, {"tree"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK_THAT(refused.error().message(), Catch::Contains("is no directory"));
  CHECK(run(cove, "cat note.txt ~/.kept") == "hello\nhome");
  cove.destroy(kSandbox).value();
}
