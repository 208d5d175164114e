#include "providers/local/machine_facts.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "base/system/descriptor_limit.hpp"
#include "base/text/display_text.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

namespace {

struct Knob {
  const char* path;
  const char* forbidding;  ///< the value that forbids
  const char* setting;
  const char* remedy;
};

constexpr std::array kKnobs = {
    Knob{"/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces is 0",
         "sysctl -w user.max_user_namespaces=15000"},
    // Where the host is root, the owner of the uid range makes the namespace: an ordinary uid too.
    Knob{"/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0",
         "sysctl -w kernel.unprivileged_userns_clone=1"},
    Knob{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
         "AppArmor forbids user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
         "give bwrap an AppArmor profile with 'userns,', or: "
         "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
};

bool mentions(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

/// Words with which bubblewrap and the launcher say that the kernel refused a namespace.
bool is_about_namespaces(const std::string& errors) {
  for (const char* words : {"namespace", "uid map", "gid map", "loopback", "Creating new"}) {
    if (mentions(errors, words)) return true;
  }
  return false;
}

/// Where launcher's words are of the system layer, why this machine cannot have one.
std::optional<std::string> layer_obstacle(const std::string& errors) {
  if (mentions(errors, "map the ids of a system directory")) {
    return "the file system of a directory under it cannot map ids, which takes Linux 5.19 and, "
           "for "
           "example, ext4, xfs or btrfs, but not an overlay as the root of a container: name a "
           "root "
           "tree on such a file system (policy.root_tree)";
  }
  if (mentions(errors, "guard a system directory") ||
      mentions(errors, "mount a directory of the system layer")) {
    return "the kernel refuses the overlay: put state_dir, and a root tree, on a file system that "
           "takes one, such as ext4, xfs or btrfs";
  }
  if (mentions(errors, "map the subordinate ids") || mentions(errors, "newuidmap") ||
      mentions(errors, "newgidmap")) {
    return "the subordinate ids cannot be mapped: see that newuidmap and newgidmap are setuid "
           "root, "
           "and that /etc/subuid and /etc/subgid give this user what they say";
  }
  return std::nullopt;
}

}  // namespace

std::optional<Obstacle> namespace_obstacle() {
  for (const Knob& knob : kKnobs) {
    auto value = read_small_file(AT_FDCWD, knob.path);
    if (!value) continue;
    while (!value->empty() && value->back() == '\n') value->pop_back();
    if (*value == knob.forbidding) return Obstacle{knob.setting, knob.remedy};
  }
  return std::nullopt;
}

std::optional<std::string> find_bubblewrap(const std::string& configured) {
  const auto is_program = [](const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
  };
  if (!configured.empty()) {
    if (is_program(configured)) return configured;
    return std::nullopt;
  }
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (is_program(path)) return path;
  }
  return std::nullopt;
}

Error bubblewrap_missing(const std::string& configured) {
  if (!configured.empty()) {
    return {ErrorCode::kProvider,
            "provider.bubblewrap: there is no program that may be run at " +
                base::quoted(configured) +
                "; correct the path, or leave it out to have bwrap looked up"};
  }
  return {ErrorCode::kProvider,
          "bubblewrap is not installed (looked for bwrap in /usr/bin, /usr/local/bin and /bin): "
          "apt install bubblewrap"};
}

std::optional<std::string> subuid_owner(std::string_view subuid, std::uint64_t first,
                                        std::uint64_t count) {
  const auto number = [](const std::string& text) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    return value;
  };
  std::istringstream lines{std::string(subuid)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    std::string begin;
    std::string size;
    if (!std::getline(fields, name, ':') || !std::getline(fields, begin, ':') ||
        !std::getline(fields, size)) {
      continue;
    }
    const auto start = number(begin);
    const auto length = number(size);
    if (start && length && *start < first + count && first < *start + *length) return name;
  }
  return std::nullopt;
}

NodeId default_node(const std::string& state_name) {
  const auto machine = read_small_file(AT_FDCWD, "/etc/machine-id");
  return NodeId(base::sha256_hex((machine ? *machine : "") + state_name).substr(0, 16));
}

Error explain_start_failure(const std::string& errors) {
  const std::string cause = errors.empty() ? "it ended without a word" : errors;
  if (mentions(errors, "Too many open files")) {
    return {ErrorCode::kQuotaExceeded,
            "the sandbox did not start: " + base::descriptor_limit() + " (" + cause + ")"};
  }
  if (const auto obstacle = layer_obstacle(errors)) {
    return {ErrorCode::kUnsupported,
            "the sandbox with a writable system did not start: " + *obstacle + " (" + cause + ")"};
  }
  if (is_about_namespaces(errors)) {
    if (const auto obstacle = namespace_obstacle()) {
      return {ErrorCode::kProvider, "the sandbox did not start because " + obstacle->setting +
                                        "; remedy: " + obstacle->remedy + " (" + cause + ")"};
    }
    return {
        ErrorCode::kProvider,
        "the sandbox did not start because the kernel refuses a namespace; below chroot it always "
        "does, inside a container user namespaces must be allowed (for Docker: --security-opt "
        "seccomp=unconfined "
        "--security-opt apparmor=unconfined --security-opt systempaths=unconfined) (" +
            cause + ")"};
  }
  if (mentions(errors, "Permission denied") && mentions(errors, "run the launcher")) {
    return {ErrorCode::kProvider,
            "the launcher may not be run: mount the state directory's file system without noexec"};
  }
  return {ErrorCode::kProvider, "the sandbox did not start: " + cause};
}

}  // namespace cove::local
