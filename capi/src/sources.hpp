/// What calls about a source have in common.
#pragma once

#include <string>

#include "guard.hpp"

namespace cove::capi {

/// "source_type/source_id"; kInvalidArgument else.
inline Result<std::string> read_source(const char* source) {
  COVE_TRY_VOID(require(source, "source"));
  std::string text = source;
  if (text.find('/') != std::string::npos) return text;
  return Error(ErrorCode::kInvalidArgument, "source must be of the form source_type/source_id");
}

}  // namespace cove::capi
