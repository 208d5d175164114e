/// Preparation: one acquire's steps in their order, and what they run with. Made once (steps/plan),
/// then only read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <cove/prepare.hpp>

#include "prepare/inputs/redactor.hpp"
#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

struct Preparation {
  /// In their order, with the names that the state file has.
  std::vector<PrepareStep> steps;

  /// Of all of them together; empty where one is applied at every acquire.
  std::string fingerprint;

  /// Steps that only take back what an earlier acquire asked for: where the state file knows
  /// nothing of one, it is not there at all.
  std::set<std::string> takes_back;

  /// There are no others: in a new HOME there is nothing to do.
  bool only_takes_back = false;

  /// Steps that other acquires take back, though they do not name them.
  std::set<std::string> taken_back;

  /// The session's directory is made by a step; else it is made apart.
  bool makes_session = false;

  std::shared_ptr<SkillInputs> skills;
  std::vector<std::string> skill_steps;  ///< the names of those that place or compare them

  std::string session;  ///< as in GuestPath
  std::map<std::string, std::string> env;
  Redactor redactor;
  PrepareObserver observer;

  /// Reads what the input files' step kept: where each file is. None: it does not say all of them.
  /// Empty where there are no input files.
  std::string files_step;
  std::function<std::optional<std::vector<std::string>>(const std::string& note)> placed_files;
};

/// The fingerprint of `steps` together.
std::string combined(const std::vector<PrepareStep>& steps);

}  // namespace cove::prepare
