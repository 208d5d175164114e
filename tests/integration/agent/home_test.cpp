// Files of HOME: a root of their own, for the host's parts only.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"
#include "support/raw/raw_wire.hpp"
#include "wire/reply.hpp"

using namespace cove;
namespace fs = std::filesystem;

namespace {

class Text final : public ByteSource {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    const auto view = std::as_bytes(std::span(text_));
    Bytes piece(view.begin(), view.end());
    text_.clear();
    co_return piece;
  }

 private:
  std::string text_;
};

std::string text_at(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("Home: files are written, read, listed, moved and removed there",
          "[integration][agent][files]") {
  test::AgentFixture f;
  f.connect();
  CHECK(f.guest->capabilities().home_files);
  const CallContext call;
  const GuestPath rc{"", ".config/tool/rc", GuestRoot::kHome};
  Text content("registry");
  REQUIRE(f.wait(f.guest->write_file(rc, content, {}, call)));
  CHECK(text_at(f.agent.home() + "/.config/tool/rc") == "registry");
  CHECK_FALSE(fs::exists(f.agent.workspace() + "/.config"));
  const GuestPath absolute{"", f.agent.home() + "/.config/tool/rc", GuestRoot::kHome};
  CHECK(f.wait(f.guest->stat(absolute, call)).value().size == 8);
  const GuestPath folder{"", ".config/tool", GuestRoot::kHome};
  CHECK(f.wait(f.guest->list(folder, {}, call)).value().entries.at(0).path == "rc");
  const GuestPath moved{"", "rc2", GuestRoot::kHome};
  REQUIRE(f.wait(f.guest->move(rc, moved, {}, call)));
  REQUIRE(f.wait(f.guest->remove({"", ".config", GuestRoot::kHome}, true, call)));
  CHECK(text_at(f.agent.home() + "/rc2") == "registry");
  CHECK_FALSE(fs::exists(f.agent.home() + "/.config"));
}

TEST_CASE("Home: nothing leads from one root to the other, nor out of either",
          "[integration][agent][files][security]") {
  test::AgentFixture f;
  f.connect();
  const CallContext call;
  f.agent.put("inside", "x");
  fs::create_symlink(f.agent.workspace(), f.agent.home() + "/link");
  fs::create_symlink("/etc", f.agent.home() + "/etc");
  for (const std::string& path :
       {std::string("link/inside"), std::string("etc/passwd"), std::string("../x"),
        f.agent.workspace() + "/inside", std::string("/etc/passwd")}) {
    CAPTURE(path);
    const auto read = f.wait(f.guest->read_file({"", path, GuestRoot::kHome}, {}, call));
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == ErrorCode::kPathEscape);
  }
  const GuestPath from{"", "inside"};
  const GuestPath to{"", "inside", GuestRoot::kHome};
  CHECK(f.wait(f.guest->move(from, to, {}, call)).error().code() == ErrorCode::kInvalidArgument);
  CHECK(f.wait(f.guest->copy(from, to, {}, call)).error().code() == ErrorCode::kInvalidArgument);
  CHECK(f.wait(f.guest->grep({"", "", GuestRoot::kHome}, {.pattern = "x"}, call)).error().code() ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("Home: an agent that does not know it is not asked, so nothing lands in the workspace",
          "[integration][guest]") {
  base::SystemClock clock;
  base::SystemIds ids;
  base::IoLoop loop;
  auto ends = test::make_socket_pair();
  test::RawWire agent(std::move(ends.first));
  wire::Greeting greeting;
  greeting.deployment = "d";
  greeting.sandbox = "s";
  greeting.generation = "g";
  greeting.epoch = 1;
  greeting.capabilities = {"exec", "files"};
  agent.send(wire::FrameType::kGreeting, 0, wire::encode_greeting(greeting));
  const guest::GuestRuntime runtime{loop, clock, ids};
  const CallContext call;
  const auto guest =
      base::sync_wait(loop, guest::connect_agent(runtime, std::move(ends.second),
                                                 guest::AgentIdentity{"d", "s", "g", 1}, call))
          .value();
  agent.receive();
  Text content("x");
  const GuestPath rc{"", ".npmrc", GuestRoot::kHome};
  const auto written = base::sync_wait(loop, guest->write_file(rc, content, {}, call));
  REQUIRE_FALSE(written);
  CHECK(written.error().code() == ErrorCode::kUnsupported);
}
