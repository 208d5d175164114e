/// The step that brings the user's files into `user_files` of the session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/prepare.hpp>

#include "prepare/steps/input_content.hpp"

namespace cove::prepare {

/// The files of one acquire. A file that is there already under one of its names, with the same
/// content, is used as it is: also after a wake, when HOME and its state file are new.
class InputFiles {
 public:
  /// `directory`: below /workspace ("sessions/c1/user_files").
  InputFiles(std::vector<InputContent> contents, std::string directory, HostParts host)
      : contents_(std::move(contents)), directory_(std::move(directory)), host_(host) {}

  std::string fingerprint() const;

  Task<Result<void>> place(PrepareContext& context) const;

  /// Where each file is, below /workspace; none where the note does not say it of all.
  std::optional<std::vector<std::string>> places(const std::string& note) const;

 private:
  class Placing;

  std::vector<InputContent> contents_;
  std::string directory_;
  HostParts host_;
};

/// Required; timeout 600 s. `files` lives as long as the step.
PrepareStep input_files_step(std::shared_ptr<const InputFiles> files, const std::string& session);

}  // namespace cove::prepare
