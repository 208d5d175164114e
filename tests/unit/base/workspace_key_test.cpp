#include <catch2/catch.hpp>

#include <cove/workspace_key.hpp>

#include "base/sha256.hpp"

using cove::ErrorCode;
using cove::sandbox_id_of;
using cove::session_segment;
using cove::validate;
using cove::WorkspaceKey;

TEST_CASE("WorkspaceKey: the sandbox id is the documented one", "[unit][base]") {
  // Computed independently: python3 -c "import hashlib,struct; p=[b'app',b'demo',b'ana'];
  // print(hashlib.sha256(b''.join(struct.pack('>I',len(x))+x for x in p)).hexdigest()[:32])"
  CHECK(sandbox_id_of({"app", "demo", "ana"}).str() == "app-52b3bfdf3477b4e1a1bf8608dc581e36");
  CHECK(sandbox_id_of({"skillEdit", "5f0c", "skillEdit"}).str() ==
        "skilledit-04638474245df89556d682d842955af3");
  CHECK(sandbox_id_of({"app", "\xE6\x95\xB0\xE6\x8D\xAE", "a-b"}).str() ==
        "app-437a76ef03ccf4f4718c84565ce373a4");
}

TEST_CASE("WorkspaceKey: moving a byte between the parts makes another sandbox", "[unit][base]") {
  CHECK(sandbox_id_of({"app", "a-b", "c"}) != sandbox_id_of({"app", "a", "b-c"}));
}

TEST_CASE("WorkspaceKey: a wrong part is refused and named", "[unit][base]") {
  const auto code_of = [](const WorkspaceKey& key) { return validate(key).error().code(); };
  CHECK(validate({"app", "x", "y"}));
  CHECK(code_of({"", "x", "y"}) == ErrorCode::kInvalidArgument);
  CHECK(code_of({"1app", "x", "y"}) == ErrorCode::kInvalidArgument);
  CHECK(code_of({"app_x", "x", "y"}) == ErrorCode::kInvalidArgument);
  CHECK(code_of({std::string(25, 'a'), "x", "y"}) == ErrorCode::kInvalidArgument);
  CHECK(code_of({"app", "", "y"}) == ErrorCode::kInvalidArgument);
  CHECK(code_of({"app", "x", std::string(513, 'y')}) == ErrorCode::kInvalidArgument);
  CHECK(validate({"app", "x", "\xFF"}).error().message() == "user_id is not valid UTF-8");
}

TEST_CASE("session_segment: is the encoded chat id where that is a good name", "[unit][base]") {
  CHECK(session_segment("c1").value() == "c1");
  CHECK(session_segment("a/b").value() == "a%2Fb");
  CHECK(session_segment("caf\xC3\xA9 1").value() == "caf%C3%A9%201");
  CHECK(session_segment("x!~*'()-_.").value() == "x!~*'()-_.");
}

TEST_CASE("session_segment: is a hash where the encoded chat id would not do", "[unit][base]") {
  const auto hashed = [](const std::string& chat) {
    return "chat-" + cove::base::sha256_hex(chat).substr(0, 40);
  };
  const std::string looks_hashed = "chat-" + std::string(40, 'a');
  for (const std::string& chat :
       {std::string("."), std::string(".."), std::string(201, 'x'), looks_hashed}) {
    CHECK(session_segment(chat).value() == hashed(chat));
  }
  CHECK(session_segment(std::string(200, 'x')).value() == std::string(200, 'x'));
  CHECK(session_segment("").error().code() == ErrorCode::kInvalidArgument);
}
