#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "base/async/byte_sources.hpp"
#include "base/async/worker_pool.hpp"
#include "prepare/steps/plan.hpp"
#include "support/fixtures/prepare_fixture.hpp"
#include "support/trees/scratch_directory.hpp"

using namespace cove;
using namespace cove::testing;

namespace {

InputFile file(const std::string& name, const std::string& text) {
  return {.name = name, .content = bytes_of(text), .fingerprint = {}};
}

/// A sandbox that input files come to.
struct Desk : PrepareFixture {
  base::InlineExecutor executor;

  std::shared_ptr<const prepare::Preparation> plan(std::vector<InputFile> files,
                                                   const std::string& session = "sessions/c1") {
    PrepareInputs inputs;
    inputs.files = std::move(files);
    const prepare::HostParts host{executor, scheduler};
    return prepare::make_preparation(std::move(inputs), session, host).value();
  }
  std::vector<std::string> place(std::vector<InputFile> files) {
    const auto outcome = prepare(*plan(std::move(files)));
    outcome.done.value();
    return outcome.report.input_files;
  }
  std::string text(const std::string& path) const {
    const auto found = guest.files.find("/" + path);
    return found == guest.files.end() ? "(none)" : found->second;
  }
};

const std::string kHere = "sessions/c1/user_files/";

}  // namespace

TEST_CASE("InputFiles: come into the session's user_files under safe, unique names",
          "[unit][prepare]") {
  Desk desk;
  const auto places = desk.place({file("a.txt", "1"), file("dir/a.txt", "2"), file("b", "3"),
                                  file("a.txt", "1"), file("../a.txt", "4")});
  CHECK(places == std::vector<std::string>{kHere + "a.txt", kHere + "a-1.txt", kHere + "b",
                                           kHere + "a.txt", kHere + "a-2.txt"});
  CHECK(desk.text(kHere + "a.txt") == "1");
  CHECK(desk.text(kHere + "a-1.txt") == "2");
  CHECK(desk.text(kHere + "a-2.txt") == "4");
}

TEST_CASE("InputFiles: without a chat they come to the workspace's own user_files",
          "[unit][prepare]") {
  Desk desk;
  const auto outcome = desk.prepare(*desk.plan({file("a", "1")}, ""));
  CHECK(outcome.report.input_files == std::vector<std::string>{"user_files/a"});
}

TEST_CASE("InputFiles: a later turn keeps the earlier files and their names", "[unit][prepare]") {
  Desk desk;
  desk.place({file("a.txt", "1")});
  CHECK(desk.place({file("a.txt", "other")}) == std::vector<std::string>{kHere + "a-1.txt"});
  CHECK(desk.place({file("a.txt", "other"), file("a.txt", "1")}) ==
        std::vector<std::string>{kHere + "a-1.txt", kHere + "a.txt"});
  CHECK(desk.text(kHere + "a.txt") == "1");
  CHECK(desk.text(kHere + "a-2.txt") == "(none)");
}

TEST_CASE("InputFiles: after a wake without HOME what is in the workspace is found",
          "[unit][prepare]") {
  Desk desk;
  const std::string large(300'000, 'x');
  desk.place({file("a.txt", large), file("a.txt", large + "y")});
  desk.guest.files.erase(PrepareFixture::kState);
  desk.instance.volume.generation = Generation("g2");
  desk.guest.log.calls.clear();
  CHECK(desk.place({file("a.txt", large + "y"), file("a.txt", large)}) ==
        std::vector<std::string>{kHere + "a-1.txt", kHere + "a.txt"});
  // Only the state file is written, once for each of the two steps.
  CHECK(desk.calls("write_file") == 2);
}

TEST_CASE("InputFiles: an unchanged list costs one round trip and says where the files are",
          "[unit][prepare]") {
  Desk desk;
  const auto steps = desk.plan({file("a.txt", "1"), file("a.txt", "2")});
  REQUIRE(desk.prepare(*steps).done);
  desk.guest.log.calls.clear();
  const auto elsewhere = desk.elsewhere(*steps);
  CHECK(elsewhere.report.path == PreparePath::kUnchanged);
  CHECK(elsewhere.report.input_files ==
        std::vector<std::string>{kHere + "a.txt", kHere + "a-1.txt"});
  CHECK(desk.guest.log.calls.size() == 1);
  CHECK(desk.prepare(*steps).report.input_files == elsewhere.report.input_files);
}

TEST_CASE("InputFiles: a note that lies costs a look, not a file", "[unit][prepare][security]") {
  Desk desk;
  const auto steps = desk.plan({file("a.txt", "1")});
  REQUIRE(desk.prepare(*steps).done);
  prepare::State state = prepare::State::parse(desk.state());
  prepare::StepState step = *state.find("input_files/sessions/c1");
  for (const char* note : {"", "[]", "{\"x\":1}", "not json"}) {
    step.note = note;
    state.put(step);
    desk.set_state(state.text());
    desk.instance.epoch = next(desk.instance.epoch);
    const auto outcome = desk.prepare(*steps);
    REQUIRE(outcome.done);
    CHECK(outcome.report.path == PreparePath::kRun);
    CHECK(outcome.report.input_files == std::vector<std::string>{kHere + "a.txt"});
  }
}

TEST_CASE("InputFiles: files of the host are streamed, and followed by no link",
          "[unit][prepare]") {
  Desk desk;
  const ScratchDirectory scratch;
  const std::string path = scratch / "data.csv";
  std::ofstream(path) << std::string(600'000, 'd');
  CHECK(desk.place({{.name = "数据.csv", .content = HostPath{path}, .fingerprint = {}}}) ==
        std::vector<std::string>{kHere + "数据.csv"});
  CHECK(desk.text(kHere + "数据.csv").size() == 600'000);

  const std::string link = scratch / "link";
  std::filesystem::create_symlink(path, link);
  PrepareInputs inputs;
  inputs.files = {{.name = "x", .content = HostPath{link}, .fingerprint = {}}};
  const prepare::HostParts host{desk.executor, desk.scheduler};
  const auto refused = prepare::make_preparation(inputs, "", host);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  inputs.files = {{.name = "x", .content = HostPath{scratch / "none"}, .fingerprint = {}}};
  CHECK(prepare::make_preparation(inputs, "", host).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("InputFiles: a stream is opened for each use, and its error ends the acquire",
          "[unit][prepare]") {
  Desk desk;
  int opened = 0;
  const ByteOpener good =
      [&opened](const CallContext& /*call*/) -> Task<Result<std::unique_ptr<ByteSource>>> {
    ++opened;
    co_return std::unique_ptr<ByteSource>(std::make_unique<base::TextSource>("streamed"));
  };
  const auto steps = desk.plan({{.name = "s", .content = good, .fingerprint = "e1"}});
  REQUIRE(desk.prepare(*steps).done);
  REQUIRE(desk.elsewhere(*steps).done);
  CHECK(opened == 1);
  CHECK(desk.text(kHere + "s") == "streamed");

  const ByteOpener bad =
      [](const CallContext& /*call*/) -> Task<Result<std::unique_ptr<ByteSource>>> {
    co_return Error(ErrorCode::kNotFound, "no such upload");
  };
  const auto broken =
      desk.prepare(*desk.plan({{.name = "t", .content = bad, .fingerprint = "e2"}}));
  REQUIRE_FALSE(broken.done);
  CHECK(broken.done.error().code() == ErrorCode::kNotFound);
  CHECK(broken.done.error().cause()->message() == "no such upload");
}
