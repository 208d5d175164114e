/// Edits of a text in memory; see include/cove/edit.hpp for what they mean.
#pragma once

#include <string>
#include <vector>

#include <cove/edit.hpp>
#include <cove/result.hpp>

namespace cove::agent {

struct EditedText {
  std::string text;
  std::vector<EditOutcome> outcomes;
};

/// Checks what needs no file. kInvalidArgument: no edit, or an empty old text; kTooLarge.
Result<void> check_edits(const std::vector<Edit>& edits);

/// Applies all edits in order, or none. `shown`: the file as errors name it. Errors: as of
/// GuestFiles::edit_file.
Result<EditedText> apply_edits(std::string text, const std::vector<Edit>& edits,
                               const std::string& shown);

}  // namespace cove::agent
