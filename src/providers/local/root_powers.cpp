#include "providers/local/root_powers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include "providers/local/small_files.hpp"
#include "providers/local/volume/volume_marker.hpp"

namespace cove::local {
namespace {

struct Power {
  unsigned number;
  const char* name;
};

constexpr std::array kNeeded = {
    Power{CAP_CHOWN, "CAP_CHOWN"},   Power{CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    Power{CAP_FOWNER, "CAP_FOWNER"}, Power{CAP_SETGID, "CAP_SETGID"},
    Power{CAP_SETUID, "CAP_SETUID"}, Power{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}};

}  // namespace

UidMap parse_uid_map(std::string_view text) {
  constexpr std::uint64_t kAll = 1ULL << 32U;
  std::istringstream lines{std::string(text)};
  lines.imbue(std::locale::classic());
  UidMap map;
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  while (lines >> inside >> outside >> count) {
    map.ids = std::min(map.ids + std::min(count, kAll), kAll);
    map.has_outer_root = map.has_outer_root || (inside == 0 && outside == 0 && count > 0);
  }
  return map;
}

bool is_range_root() {
  if (::geteuid() != 0) return false;
  const auto map = read_small_file(AT_FDCWD, "/proc/self/uid_map");
  return !map || parse_uid_map(*map).ids >= UidRange::kCount;
}

Result<void> check_powers_in(std::string_view status) {
  constexpr std::string_view kLine = "\nCapEff:\t";
  const std::size_t at = status.find(kLine);
  if (at == std::string_view::npos) return ok();
  std::uint64_t effective = 0;
  const char* const begin = status.data() + at + kLine.size();
  if (std::from_chars(begin, status.data() + status.size(), effective, 16).ec != std::errc()) {
    return ok();
  }
  std::string missing;
  for (const Power& power : kNeeded) {
    if (((effective >> power.number) & 1U) != 0) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(power.name);
  }
  if (missing.empty()) return ok();
  return Error(ErrorCode::kProvider,
               "this process is uid 0, but without " + missing +
                   ", which separate uids for each sandbox take: give it these capabilities (for "
                   "Docker: --cap-add), or run it as an ordinary user");
}

Result<void> check_map_in(std::string_view uid_map) {
  const UidMap map = parse_uid_map(uid_map);
  if (map.ids >= UidRange::kCount || !map.has_outer_root) return ok();
  return Error(ErrorCode::kProvider,
               "this process is uid 0 of a user namespace with few ids, and uid 0 outside of it "
               "too: sandboxes would run as that root; run it outside of that namespace, or as an "
               "ordinary user");
}

Result<void> check_root_powers() {
  if (::geteuid() != 0) return ok();
  const auto map = read_small_file(AT_FDCWD, "/proc/self/uid_map");
  if (map) COVE_TRY_VOID(check_map_in(*map));
  if (!is_range_root()) return ok();
  const auto status = read_small_file(AT_FDCWD, "/proc/thread-self/status");
  return status ? check_powers_in(*status) : ok();
}

}  // namespace cove::local
