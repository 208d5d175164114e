// The metadata file is lost; what is in the object store and on this node comes back.
#include <filesystem>

#include <catch2/catch.hpp>

#include "support/fixtures/live_cove.hpp"

using namespace cove;
using namespace cove::testing;

namespace {

WorkspaceKey key(const std::string& user) { return {"app", "demo", user}; }

void write_note(const Cove& cove, const WorkspaceKey& owner, const std::string& text) {
  auto workspace = cove.acquire(owner).value();
  shell(workspace.client(), "echo " + text + " > note.txt; sync");
  workspace.release().value();
}

std::string read_note(const Cove& cove, const WorkspaceKey& owner) {
  auto workspace = cove.acquire(owner).value();
  const std::string text = shell(workspace.client(), "cat note.txt");
  workspace.release().value();
  return text;
}

}  // namespace

TEST_CASE("Cove: recover brings every workspace with a snapshot back", "[integration][runtime]") {
  LiveCove live;
  {
    auto cove = live.open();
    for (const char* user : {"ana", "bob"}) {
      write_note(cove, key(user), "first");
      cove.archive(sandbox_id_of(key(user))).value();
    }
    write_note(cove, key("bob"), "newer");
    cove.stop(sandbox_id_of(key("bob"))).value();
    cove.close().value();
  }
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(live.state_directory() + "/metadata.db" + suffix);
  }
  auto cove = live.open();
  CHECK(cove.list().value().records.empty());
  const RecoverReport report = cove.recover().value();
  CHECK(report.archived == 1);
  CHECK(report.stopped == 1);
  CHECK(report.problems.empty());
  CHECK(read_note(cove, key("ana")) == "first");
  CHECK(read_note(cove, key("bob")) == "newer");
  CHECK(cove.recover().value().kept == 2);
  const std::string metrics = cove.metrics().value();
  CHECK(metrics.find("\ncove_sandboxes{state=\"running\"} 2\n") != std::string::npos);
  CHECK(cove.destroy_source("app/demo").value() == 2);
  CHECK(cove.list().value().records.empty());
}
