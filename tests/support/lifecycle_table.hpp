/// The transition table as docs/lifecycle.md shows it.
#pragma once

#include <string>

#include "lifecycle/rules/transitions.hpp"

namespace cove::testing {

/// The rows as a Markdown table.
inline std::string lifecycle_table() {
  std::string text =
      "| state | operation | what is done | next | then | abandoned to | who takes it over |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const lifecycle::Row& row : lifecycle::kTransitions) {
    const auto name = [](const auto& value) {
      return value ? std::string(name_of(*value)) : std::string("-");
    };
    const std::string next = row.next ? name(row.next) : "complete";
    text += "| " + std::string(name_of(row.state)) + " | " + std::string(name_of(row.kind)) +
            " | " + std::string(name_of(row.phase)) + " | " + next + " | " +
            std::string(name_of(row.to)) + " | " + name(row.abandoned_to) + " | " +
            (row.take_over == lifecycle::TakeOver::kContinue ? "goes on" : "begins again") + " |\n";
  }
  return text;
}

/// What may begin while no operation is there, and what may take an operation's place.
inline std::string lifecycle_starts() {
  std::string text = "| while | may begin |\n|---|---|\n";
  const auto row = [&text](const std::string& when, const auto& may) {
    std::string kinds;
    for (const OperationKind kind : lifecycle::kAllKinds) {
      if (may(kind)) kinds += (kinds.empty() ? "" : ", ") + std::string(name_of(kind));
    }
    text += "| " + when + " | " + (kinds.empty() ? "-" : kinds) + " |\n";
  };
  for (const SandboxState state : lifecycle::kAllStates) {
    row(std::string(name_of(state)),
        [state](OperationKind kind) { return lifecycle::may_start(state, kind); });
  }
  for (const lifecycle::Row& known : lifecycle::kTransitions) {
    row(std::string(name_of(known.kind)) + " at " + std::string(name_of(known.phase)),
        [&known](OperationKind kind) { return lifecycle::may_replace(known, kind); });
  }
  return text;
}

}  // namespace cove::testing
