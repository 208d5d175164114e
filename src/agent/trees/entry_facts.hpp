/// Gives what was copied or unpacked the mode and times it is to have.
#pragma once

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/mode_change.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// Of `name` in a directory, no link followed; a link's mode is not changed. False: errno says why.
inline bool set_entry_facts(int directory, const std::string& name, const struct stat& facts) {
  if (!S_ISLNK(facts.st_mode)) {
    // SAFETY: one name, no link followed, nothing is opened but its place.
    const base::UniqueFd entry(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat there{};
    if (!entry || ::fstat(*entry, &there) != 0) return false;
    if (S_ISLNK(there.st_mode)) errno = ELOOP;
    if (S_ISLNK(there.st_mode) || !change_mode(*entry, facts.st_mode & 07777U)) return false;
  }
  const timespec times[] = {facts.st_atim, facts.st_mtim};
  return ::utimensat(directory, name.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0;
}

/// Of a directory, O_PATH, that its owner can read. False: errno says why.
inline bool set_directory_facts(int directory, const struct stat& facts) {
  // SAFETY: `.` of a directory that is held open leads nowhere else.
  const base::UniqueFd readable(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const timespec times[] = {facts.st_atim, facts.st_mtim};
  return readable && ::fchmod(*readable, facts.st_mode & 07777U) == 0 &&
         ::futimens(*readable, times) == 0;
}

}  // namespace cove::agent
