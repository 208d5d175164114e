/// The step of the pipeline that sets mirrors of package managers.
#pragma once

#include <string>
#include <vector>

#include <cove/prepare.hpp>
#include <cove/prepare_inputs.hpp>

#include "prepare/mirrors/guest_files.hpp"

namespace cove::prepare {

/// "mirrors": merges them into the user's files, or, where none is given, takes out what an earlier
/// one put there. Best effort. Two round trips where something changes, none where no mirror was
/// ever set.
PrepareStep mirrors_step(const Mirrors& mirrors);

/// What has to be written, and what the host is to be told. Pure.
struct MirrorPlan {
  std::vector<GuestFileChange> changes;  ///< the copies first
  std::vector<std::string> notes;        ///< files that were left alone, and why
};
MirrorPlan plan_mirrors(const Mirrors& mirrors, const GuestFilesFound& found);

}  // namespace cove::prepare
