#include "runtime/doctor.hpp"

#include <fstream>
#include <iterator>

#include <sys/resource.h>
#include <sys/statvfs.h>

#include "runtime/assembly/registry.hpp"

namespace cove::runtime {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr std::uint64_t kEnoughDescriptors = 1024;

Finding examine_room(const Machinery& machinery) {
  struct statvfs info{};
  if (::fstatvfs(*machinery.state_directory, &info) != 0) {
    return {Finding::Level::kBroken, "disk space",
            "the disk of " + machinery.config.state_dir + " cannot be asked",
            "look at that file system"};
  }
  return room_finding(std::uint64_t{info.f_bavail} * info.f_frsize,
                      std::uint64_t{info.f_blocks} * info.f_frsize);
}

Finding examine_state_directory(const Machinery& machinery) {
  return {Finding::Level::kGood, "state directory",
          machinery.config.state_dir + " belongs to this user and is closed to others", ""};
}

Finding examine_descriptors() {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  return descriptors_finding(known ? std::uint64_t{limit.rlim_cur} : kEnoughDescriptors);
}

Finding examine_service_manager(const Machinery& machinery) {
  std::ifstream file("/proc/self/cgroup");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto service = service_of(text);
  if (!service) {
    return {Finding::Level::kGood, "service manager", "this process is no systemd service", ""};
  }
  // Only in the one hierarchy of cgroup v2 does a group of its own take a sandbox out of the
  // service; in v1 systemd goes by a hierarchy that the sandboxes' limits are not in.
  const bool is_v2 = text.starts_with("0::");
  if (is_v2 && machinery.provider->capabilities().limits) {
    return {Finding::Level::kGood, "service manager",
            "sandboxes have cgroups of their own, outside of '" + *service + "'", ""};
  }
  return {Finding::Level::kLimited, "service manager",
          "systemd ends all sandboxes together with '" + *service + "'",
          is_v2 ? "set KillMode=process in the unit, or let this process make the cgroup that "
                  "provider.cgroup_parent names"
                : "set KillMode=process in the unit"};
}

std::string in_words(std::uint64_t bytes) {
  return bytes >= 1024 * kMiB ? std::to_string(bytes / (1024 * kMiB)) + " GiB"
                              : std::to_string(bytes / kMiB) + " MiB";
}

}  // namespace

Finding room_finding(std::uint64_t free_bytes, std::uint64_t total_bytes) {
  const std::string detail = in_words(free_bytes) + " of " + in_words(total_bytes) + " are free";
  const char* const remedy = "free some, or give state_dir a larger disk";
  if (free_bytes < 100 * kMiB) return {Finding::Level::kBroken, "disk space", detail, remedy};
  if (free_bytes < 2048 * kMiB || free_bytes < total_bytes / 20) {
    return {Finding::Level::kLimited, "disk space", detail, remedy};
  }
  return {Finding::Level::kGood, "disk space", detail, ""};
}

Finding descriptors_finding(std::uint64_t limit) {
  if (limit >= kEnoughDescriptors) {
    return {Finding::Level::kGood, "descriptors", "this process may have enough open", ""};
  }
  return {Finding::Level::kLimited, "descriptors",
          "this process may have only " + std::to_string(limit) +
              " open: starts and many calls at once run out of them",
          "raise the limit to 1024 or more: ulimit -n, or LimitNOFILE= of its service"};
}

std::optional<std::string> service_of(std::string_view text) {
  constexpr std::string_view kService = ".service";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool is_systemds =
        line.starts_with("0::") || line.find(":name=systemd:") != std::string_view::npos;
    if (!is_systemds) continue;
    const std::size_t end = line.rfind(kService);
    if (end == std::string_view::npos) continue;
    const std::string_view below = line.substr(end + kService.size());
    const bool whole = below.empty() || below.front() == '/';
    if (!whole || below.find(".scope") != std::string_view::npos) continue;
    const std::size_t begin = line.rfind('/', end) + 1;
    return std::string(line.substr(begin, end + kService.size() - begin));
  }
  return std::nullopt;
}

std::vector<Finding> examine(Core& core) {
  const auto scope = core.begin({});
  if (!scope) {
    return {{Finding::Level::kBroken, "cove", scope.error().message(), "open another one"}};
  }
  const Machinery& machinery = core.parts();
  std::vector<Finding> findings = probe_provider(machinery);
  findings.push_back(examine_state_directory(machinery));
  findings.push_back(examine_room(machinery));
  findings.push_back(examine_descriptors());
  findings.push_back(examine_service_manager(machinery));
  return findings;
}

}  // namespace cove::runtime
