/// What kind of content a file has, told from its first bytes.
#pragma once

#include <cstddef>
#include <string>

#include <cove/bytes.hpp>

namespace cove::agent {

/// How many of a file's first bytes are looked at.
constexpr std::size_t kSniffBytes = 4096;

/// A media type, as of FileContent. `head`: the first kSniffBytes of the file, or all of it.
std::string content_type_of(ByteView head);

/// The same of an open file, whose position stays. Where it cannot be read nothing is known of it:
/// application/octet-stream.
std::string content_type_of(int fd);

}  // namespace cove::agent
