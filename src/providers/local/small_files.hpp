/// Small files and directories by descriptor: what the provider keeps below its state directory.
///
/// All names are single components or relative paths below `directory`; symlinks at the end are
/// never followed. Safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

/// True where this process or the machine is out of something: descriptors, memory, room. That says
/// nothing of what was looked for, which must not be taken for gone then.
inline bool is_exhausted(const Error& error) { return error.code() == ErrorCode::kQuotaExceeded; }

/// Opens a directory below `directory`; kNotFound where there is none.
Result<base::UniqueFd> open_directory(int directory, const std::string& name);

/// Makes a directory with exactly `mode`, whatever the host's umask, and opens it; success where it
/// is there (its mode is then left alone).
Result<base::UniqueFd> make_directory(int directory, const std::string& name, unsigned mode);

/// Reads a whole file of at most `limit` bytes. kNotFound; kTooLarge.
inline constexpr std::size_t kSmallFile = 64 * 1024;
Result<std::string> read_small_file(int directory, const std::string& name,
                                    std::size_t limit = kSmallFile);

/// Writes `text` as `name` by a rename, mode 0600; the directory is the caller's to sync. kYes: the
/// file is on the disk before it has the name. kLater: the caller syncs file and directory together
/// with others, which is one wait for the disk; until then a crash of the machine may leave an
/// empty file under the name.
enum class Durable : std::uint8_t { kNo, kLater, kYes };
Result<void> replace_file(int directory, const std::string& name, std::string_view text,
                          Durable durable);

/// Writes `text` into a file that exists (a control file of the kernel) in one call.
Result<void> write_control(int directory, const std::string& name, std::string_view text);

/// fsync of a descriptor.
Result<void> sync_fd(int fd, const std::string& what);

/// Opens a file that replace_file wrote with Durable::kLater, for sync_fd.
Result<base::UniqueFd> open_to_sync(int directory, const std::string& name);

/// The names in a directory, without `.` and `..`.
Result<std::vector<std::string>> names_in(int directory);

/// The path of the process's own descriptor, as the kernel resolves it: any length below it works.
std::string descriptor_path(int fd);

/// An anonymous file that holds `bytes`, read-only from now on, positioned at its start.
Result<base::UniqueFd> sealed_memory(const char* name, std::string_view bytes);

}  // namespace cove::local
