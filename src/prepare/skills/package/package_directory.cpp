#include "prepare/skills/package/package_directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "base/system/beneath.hpp"
#include "base/system/next_entry.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

using base::UniqueFd;

constexpr std::size_t kPiece = 64 * 1024;

/// One entry that the walk came to.
struct Seen {
  int root;                 // the top, open
  const std::string& path;  // below it
  const struct stat& facts;
};
using Visitor = std::function<Result<bool>(const Seen&)>;  // false: leave out what lies below

Error failed(int error_number, const std::string& shown, const std::string& path) {
  return base::system_error(error_number, "read " + base::quoted(path) + " of " + shown);
}

Result<UniqueFd> open_top(const std::string& shown, const std::string& path) {
  // SAFETY: a directory that the host named; its last part is not followed where it is a link.
  UniqueFd top(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (top) return top;
  if (errno == ENOTDIR || errno == ELOOP) {
    return Error(ErrorCode::kFailedPrecondition,
                 base::quoted(path) + ", the place of " + shown + ", is no directory");
  }
  return base::system_error(errno, "open " + base::quoted(path) + ", the place of " + shown);
}

/// Names in a directory.
Result<std::vector<std::string>> names_in(int root, const std::string& path,
                                          const std::string& shown) {
  base::BeneathResult opened =
      base::open_in_volume(root, path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!opened.fd) return failed(opened.error_number, shown, path);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(*opened.fd), ::closedir);
  if (!directory) return failed(errno, shown, path);
  static_cast<void>(opened.fd.release());  // the stream closes it
  std::vector<std::string> names;
  for (;;) {
    const dirent* const entry = base::next_entry(directory.get());
    if (entry == nullptr && errno != 0) return failed(errno, shown, path);
    if (entry == nullptr) return names;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

Result<void> walk(int root, const std::string& shown, const Visitor& visit) {
  std::vector<std::string> pending{""};
  while (!pending.empty()) {
    const std::string directory = std::move(pending.back());
    pending.pop_back();
    COVE_TRY(const auto names, names_in(root, directory, shown));
    for (const std::string& name : names) {
      const std::string path = directory.empty() ? name : directory + "/" + name;
      base::BeneathResult found = base::open_in_volume(root, path.c_str(), O_PATH | O_NOFOLLOW);
      struct stat facts{};
      if (!found.fd) return failed(found.error_number, shown, path);
      if (::fstat(*found.fd, &facts) != 0) return failed(errno, shown, path);
      COVE_TRY(const bool goes_on, visit(Seen{root, path, facts}));
      if (goes_on && S_ISDIR(facts.st_mode)) pending.push_back(path);
    }
  }
  return ok();
}

/// Gives the content of an open file to `take`, piece by piece.
Result<void> read_file(int fd, const std::string& shown, const std::string& path,
                       const std::function<Result<void>(ByteView)>& take) {
  std::array<std::byte, kPiece> buffer{};
  for (;;) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failed(errno, shown, path);
    if (size == 0) return ok();
    COVE_TRY_VOID(take(ByteView(buffer.data(), static_cast<std::size_t>(size))));
  }
}

Result<std::string> link_target(const Seen& seen, const std::string& shown) {
  base::BeneathResult link =
      base::open_in_volume(seen.root, seen.path.c_str(), O_PATH | O_NOFOLLOW);
  if (!link.fd) return failed(link.error_number, shown, seen.path);
  std::array<char, 4096> target{};
  const ssize_t size = ::readlinkat(*link.fd, "", target.data(), target.size());
  if (size < 0) return failed(errno, shown, seen.path);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Result<bool> take(PackageBuilder& builder, const Seen& seen, const std::string& shown) {
  if (S_ISDIR(seen.facts.st_mode)) {
    return builder.begin(seen.path, PackageEntryType::kDirectory);
  }
  if (S_ISLNK(seen.facts.st_mode)) {
    COVE_TRY(const bool taken, builder.begin(seen.path, PackageEntryType::kSymlink));
    COVE_TRY(std::string target, link_target(seen, shown));
    if (taken) builder.set_target(std::move(target));
    return taken;
  }
  if (!S_ISREG(seen.facts.st_mode)) {
    return Error(ErrorCode::kUnsupported, "entry " + base::quoted(seen.path) + " of " + shown +
                                              " is a device, FIFO or socket, which no package may "
                                              "have");
  }
  COVE_TRY(const bool taken, builder.begin(seen.path, PackageEntryType::kFile));
  if (!taken) return false;
  if ((seen.facts.st_mode & S_IXUSR) != 0) builder.set_executable();
  base::BeneathResult file =
      base::open_in_volume(seen.root, seen.path.c_str(), O_RDONLY | O_NONBLOCK);
  if (!file.fd) return failed(file.error_number, shown, seen.path);
  COVE_TRY_VOID(
      read_file(*file.fd, shown, seen.path, [&](ByteView bytes) { return builder.append(bytes); }));
  return true;
}

void add_time(std::string& text, const timespec& time) {
  text += std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec) + " ";
}

}  // namespace

Result<Package> read_package_directory(const std::string& shown, const std::string& path,
                                       PackageLimits limits) {
  COVE_TRY(const UniqueFd top, open_top(shown, path));
  PackageBuilder builder(shown, limits);
  COVE_TRY_VOID(walk(*top, shown, [&](const Seen& seen) { return take(builder, seen, shown); }));
  return builder.finish();
}

Result<std::string> directory_signature(const std::string& shown, const std::string& path,
                                        PackageLimits limits) {
  COVE_TRY(const UniqueFd top, open_top(shown, path));
  std::uint32_t entries = 0;
  std::uint64_t sum[2] = {0, 0};  // of the entries' hashes: their order is the file system's
  COVE_TRY_VOID(walk(*top, shown, [&](const Seen& seen) -> Result<bool> {
    if (++entries > limits.entries) {
      return Error(ErrorCode::kTooLarge,
                   shown + " has more than " + std::to_string(limits.entries) + " entries");
    }
    std::string facts = std::to_string(seen.facts.st_ino) + " " +
                        std::to_string(seen.facts.st_size) + " " +
                        std::to_string(seen.facts.st_mode) + " ";
    add_time(facts, seen.facts.st_mtim);
    add_time(facts, seen.facts.st_ctim);
    const std::string hash = base::sha256_hex(facts + seen.path);
    sum[0] += std::stoull(hash.substr(0, 16), nullptr, 16);
    sum[1] += std::stoull(hash.substr(16, 16), nullptr, 16);
    return true;
  }));
  return std::to_string(entries) + ":" + std::to_string(sum[0]) + ":" + std::to_string(sum[1]);
}

Result<ByteView> read_package_file(ContentStore& store, const std::string& shown,
                                   const std::string& path, PackageLimits limits) {
  // SAFETY: a file that the host named; its last part is not followed where it is a link.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return base::system_error(errno, "open " + base::quoted(path) + " of " + shown);
  struct stat facts{};
  if (::fstat(*file, &facts) != 0) return failed(errno, shown, path);
  if (!S_ISREG(facts.st_mode)) {
    return Error(ErrorCode::kFailedPrecondition,
                 base::quoted(path) + ", the place of " + shown + ", is no file");
  }
  store.begin();
  // It may grow while it is read; it is bounded below.
  store.expect(std::min(static_cast<std::uint64_t>(facts.st_size), limits.packed_bytes));
  COVE_TRY_VOID(read_file(*file, shown, path, [&](ByteView piece) -> Result<void> {
    if (store.current().size() + piece.size() > limits.packed_bytes) {
      return Error(ErrorCode::kTooLarge,
                   shown + " has more than " + std::to_string(limits.packed_bytes) + " bytes");
    }
    store.append(piece);
    return ok();
  }));
  return store.current();
}

}  // namespace cove::prepare
