/// What is wrong with an expression, and where.
#pragma once

#include <string>

#include <cove/error.hpp>

namespace re2 {
class RE2;
}

namespace cove::agent {

/// REQUIRES: !refused.ok(). `expression` is what the caller wrote.
Error pattern_error(const re2::RE2& refused, const std::string& expression);

}  // namespace cove::agent
