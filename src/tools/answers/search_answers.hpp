/// What grep and find found, as an answer.
#pragma once

#include <string>

#include <cove/search.hpp>

#include "tools/answers/answer.hpp"

namespace cove::tools {

/// What was asked for.
struct SearchPlace {
  std::string path;          ///< bytes, as it was given
  bool is_file = false;      ///< of grep: a single file, which results name by its last name
  std::uint64_t offset = 0;  ///< results to pass over
  std::uint64_t limit = 0;
};

Answer grep_answer(const SearchPlace& place, const GrepResult& result);
Answer find_answer(const SearchPlace& place, const FindResult& result);

}  // namespace cove::tools
