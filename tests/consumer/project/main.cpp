// Uses something of every layer, so that a library that is not whole does not link.
#include <cstdio>

#include <cove/cove.hpp>

int main() {
  const auto id = cove::sandbox_id_of({"app", "demo", "ana"});
  if (id.str() != "app-52b3bfdf3477b4e1a1bf8608dc581e36") return 1;

  const auto wrong = cove::parse_config(R"({"state_dir": "/x", "colour": "blue"})");
  if (wrong || wrong.error().code() != cove::ErrorCode::kInvalidArgument) return 2;

  cove::Config config;
  config.state_dir = "/dev/null";
  const auto opened = cove::Cove::open(config);
  if (opened || opened.error().code() != cove::ErrorCode::kFailedPrecondition) return 3;

  std::printf("cove %s\n", std::string(cove::version()).c_str());
  return 0;
}
