/// One call of a tool: what its run works with.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <cove/tools.hpp>

#include "client/guest_link.hpp"
#include "tools/answers/answer.hpp"

namespace cove::tools {

/// Borrowed; outlives the run.
struct ToolCall {
  client::GuestLink& link;
  const std::string& session;
  const SandboxClient& client;
  const ToolOptions& options;
  const nlohmann::json& arguments;  ///< as the schema has them, defaults filled in

  /// The bytes of a path that JSON names; docs/formats.md has the escape.
  std::string path() const;
  GuestPath place() const { return GuestPath{session, path()}; }

  std::string text(const char* key) const { return arguments.at(key).get<std::string>(); }
  std::uint64_t number(const char* key) const { return arguments.at(key).get<std::uint64_t>(); }
  bool flag(const char* key) const { return arguments.at(key).get<bool>(); }
};

/// An Error becomes an answer that says it, unless the call itself is over.
using ToolRun = Task<Result<Answer>> (*)(const ToolCall& tool, const CallContext& call);

}  // namespace cove::tools
