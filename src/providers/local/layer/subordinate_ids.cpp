#include "providers/local/layer/subordinate_ids.hpp"

#include <charconv>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/display_text.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

namespace {

constexpr std::size_t kManyLines = 4U << 20U;

std::string text_of(const char* path) {
  const auto text = read_small_file(AT_FDCWD, path, kManyLines);
  return text ? *text : std::string();
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

/// Of /etc/passwd; empty where the name service alone knows the user: then the number counts.
std::string name_of_user(std::uint32_t uid) {
  std::istringstream lines(text_of("/etc/passwd"));
  const std::string wanted = std::to_string(uid);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    std::string password;
    std::string id;
    if (std::getline(fields, name, ':') && std::getline(fields, password, ':') &&
        std::getline(fields, id, ':') && id == wanted) {
      return name;
    }
  }
  return {};
}

std::optional<std::string> find_program(const char* name) {
  for (const char* directory : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    const std::string path = std::string(directory) + name;
    if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) return path;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> subordinate_range(std::string_view text, std::string_view name,
                                               std::uint32_t uid) {
  const std::string number = std::to_string(uid);
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string owner;
    std::string first;
    std::string count;
    if (!std::getline(fields, owner, ':') || !std::getline(fields, first, ':') ||
        !std::getline(fields, count) || owner.empty() || (owner != name && owner != number)) {
      continue;
    }
    const auto begin = number_in(first);
    const auto size = number_in(count);
    if (begin && size && *begin > 0 && *size >= SubordinateIds::kCount &&
        *begin + SubordinateIds::kCount <= UINT32_MAX) {
      return static_cast<std::uint32_t>(*begin);
    }
  }
  return std::nullopt;
}

Result<SubordinateIds> subordinate_ids() {
  const auto map_uids = find_program("newuidmap");
  const auto map_gids = find_program("newgidmap");
  if (!map_uids || !map_gids) {
    return Error(ErrorCode::kUnsupported,
                 "a writable system takes newuidmap and newgidmap where the host is an ordinary "
                 "user: apt install uidmap");
  }
  const std::uint32_t uid = ::geteuid();
  const std::string name = name_of_user(uid);
  const auto first_uid = subordinate_range(text_of("/etc/subuid"), name, uid);
  const auto first_gid = subordinate_range(text_of("/etc/subgid"), name, uid);
  if (!first_uid || !first_gid) {
    const std::string user = name.empty() ? std::to_string(uid) : name;
    return Error(ErrorCode::kUnsupported,
                 "a writable system takes 65,535 subordinate ids in a row where the host is an "
                 "ordinary user, and /etc/subuid and /etc/subgid do not give them to " +
                     base::quoted(user) +
                     ": usermod --add-subuids 100000-165535 --add-subgids "
                     "100000-165535 " +
                     user + " (or other ids that nobody has)");
  }
  return SubordinateIds{*map_uids, *map_gids, *first_uid, *first_gid};
}

}  // namespace cove::local
