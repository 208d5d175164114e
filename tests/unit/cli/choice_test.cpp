#include <catch2/catch.hpp>

#include "cli/commands/command.hpp"

using cove::ErrorCode;
using cove::cli::chosen_key;
using cove::cli::chosen_sandbox;
using cove::cli::WorkspaceChoice;

namespace {

std::string refusal(const WorkspaceChoice& choice) {
  const auto sandbox = chosen_sandbox(choice);
  REQUIRE_FALSE(sandbox);
  CHECK(sandbox.error().code() == ErrorCode::kInvalidArgument);
  return sandbox.error().message();
}

}  // namespace

TEST_CASE("Choice: an app and a user, a source and a user, or a sandbox id", "[unit][cli]") {
  CHECK(chosen_sandbox({.app = "demo", .user = "ana"}).value().str() ==
        "app-52b3bfdf3477b4e1a1bf8608dc581e36");
  CHECK(chosen_sandbox({.source_type = "app", .source_id = "demo", .user = "ana"}).value().str() ==
        "app-52b3bfdf3477b4e1a1bf8608dc581e36");
  CHECK(chosen_sandbox({.sandbox = "old-1"}).value().str() == "old-1");
  CHECK(chosen_sandbox({.app = "demo", .user = "ana", .sandbox = "old-1"}).value().str() ==
        "old-1");
  CHECK_FALSE(chosen_key({.sandbox = "old-1"}).value());
}

TEST_CASE("Choice: what is missing, doubled or empty is named", "[unit][cli]") {
  CHECK(refusal({}).starts_with("say whose workspace: --app ID --user U, or --sandbox ID"));
  CHECK(refusal({.app = "demo"}) == "--user U is missing");
  CHECK(refusal({.user = "ana"}).starts_with("--app ID is missing"));
  CHECK(refusal({.source_type = "app", .user = "ana"}).starts_with("--app ID is missing"));
  CHECK(refusal({.app = "a", .source_id = "b", .user = "u"}).ends_with("give one of both forms"));
  CHECK(refusal({.sandbox = ""}) == "--sandbox is empty");
  CHECK(refusal({.app = "", .user = "u"}).find("source_id") != std::string::npos);
  CHECK(refusal({.app = "a", .user = "\xFF"}) == "user_id is not valid UTF-8");
}
