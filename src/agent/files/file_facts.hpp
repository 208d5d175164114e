/// What is said of a file: FileInfo from the system's facts, and words for error messages.
#pragma once

#include <string>

#include <sys/stat.h>

#include <cove/error.hpp>
#include <cove/files.hpp>
#include <cove/result.hpp>

namespace cove::agent {

/// A FileInfo without its link target. Times beyond 1677 to 2262 become the nearest of them.
FileInfo info_of(const struct stat& facts, std::string path);

/// The same without its etag, which costs most of it.
FileInfo bare_info_of(const struct stat& facts, std::string path);

/// What FileInfo::etag is.
std::string etag_of(const struct stat& facts);

/// The target of a symlink: of `name` in the directory `fd`, or of the O_PATH descriptor `fd`
/// itself where `name` is empty.
Result<std::string> link_target(int fd, const std::string& name);

/// "a directory", "a FIFO", "a file".
std::string kind_of(mode_t mode);

/// kFailedPrecondition: "'x' is a FIFO, not a file".
Error wrong_kind(const std::string& shown, mode_t mode, const std::string& expected);

}  // namespace cove::agent
