/// Glob::Parser: from a glob's text to its parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cove/error.hpp>
#include <cove/result.hpp>

#include "agent/search/walk/glob.hpp"

namespace cove::agent {

class Glob::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  /// Every text that the braces stand for, at most 1,000.
  Result<std::vector<std::string>> expand() const;

  /// Reads a text without braces; its classes go into `glob`.
  Result<Alternative> parts(std::string_view spelling, Glob& glob) const;

 private:
  Result<void> read_token(std::string_view name, std::size_t& at, Part& part, Glob& glob) const;
  Result<std::size_t> read_class(std::string_view name, std::size_t at,
                                 std::vector<bool>& set) const;
  Error wrong(std::size_t at, const std::string& what) const;

  std::string_view text_;
};

}  // namespace cove::agent
