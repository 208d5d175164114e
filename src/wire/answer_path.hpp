/// Paths in an agent's answers. A host program may join them to a directory of its own, so none
/// that leaves the directory it is told of gets as far.
#pragma once

#include <string>
#include <string_view>

#include "wire/fields.hpp"

namespace cove::wire {

/// No NUL and no part that is `..`. It may be empty or absolute.
bool is_answer_path(std::string_view path);

/// The same of one that lies below something: relative, and not empty.
bool is_path_below(std::string_view path);

/// A field with an answer path.
std::string read_answer_path(Fields& fields, const char* name);

/// A field with a path below something, or none.
std::string read_path_below(Fields& fields, const char* name);

}  // namespace cove::wire
