#include "providers/local/agent_image.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "base/system/system_error.hpp"
#include "providers/local/small_files.hpp"

// embedded_programs.S, made by the build.
extern "C" {
extern const char cove_agent_begin[] __attribute__((visibility("hidden")));
extern const char cove_agent_end[] __attribute__((visibility("hidden")));
extern const char cove_agent_sha256[] __attribute__((visibility("hidden")));
extern const char cove_launcher_begin[] __attribute__((visibility("hidden")));
extern const char cove_launcher_end[] __attribute__((visibility("hidden")));
extern const char cove_launcher_sha256[] __attribute__((visibility("hidden")));
}

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

struct Program {
  const char* name;
  std::string_view bytes;
  std::string_view sha256;
};

Program embedded_agent() {
  return {"cove-agent",
          {cove_agent_begin, static_cast<std::size_t>(cove_agent_end - cove_agent_begin)},
          cove_agent_sha256};
}

Program embedded_launcher() {
  return {"cove-launcher",
          {cove_launcher_begin, static_cast<std::size_t>(cove_launcher_end - cove_launcher_begin)},
          cove_launcher_sha256};
}

/// The first characters of the hash of both programs.
std::string build_id() {
  return base::sha256_hex(std::string(cove_agent_sha256) + cove_launcher_sha256).substr(0, 32);
}

Result<bool> is_whole(int directory, const Program& program) {
  const UniqueFd fd(::openat(directory, program.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) return false;
  if (!fd) return system_error(errno, std::string("open '") + program.name + "'");
  struct stat info{};
  if (::fstat(*fd, &info) != 0 || static_cast<std::size_t>(info.st_size) != program.bytes.size()) {
    return false;
  }
  base::Sha256 hash;
  std::array<std::byte, 16 * 1024> buffer;  // on a host's stack, which may be small
  for (;;) {
    const ssize_t got = ::read(*fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(errno, std::string("read '") + program.name + "'");
    if (got == 0) break;
    hash.update(std::span(buffer).first(static_cast<std::size_t>(got)));
  }
  return hash.hex() == program.sha256;
}

Result<UniqueFd> open_program(int directory, const char* name) {
  UniqueFd fd(::openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return system_error(errno, std::string("open '") + name + "'");
  return fd;
}

/// Others may run it but not read it: a process that runs a program it cannot read is not dumpable
/// from its first instruction, so nothing inside can trace the agent.
constexpr mode_t kProgramMode = 0511;

/// Brings a whole file under a name of its own, then renames it: others see the old or the new.
Result<void> write_program(int directory, const Program& program, const std::string& name,
                           mode_t mode) {
  const std::string mine = name + "." + std::to_string(::gettid());
  COVE_TRY_VOID(replace_file(directory, mine, program.bytes, Durable::kYes));
  if (::fchmodat(directory, mine.c_str(), mode, 0) == 0 &&
      ::renameat(directory, mine.c_str(), directory, name.c_str()) == 0) {
    return ok();
  }
  const Error error = system_error(errno, "install '" + name + "'");
  ::unlinkat(directory, mine.c_str(), 0);
  return error;
}

Result<UniqueFd> install(int directory, const Program& program, LogSink* log) {
  COVE_TRY(const bool whole, is_whole(directory, program));
  if (!whole) {
    const bool damaged = ::faccessat(directory, program.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (damaged && log != nullptr) {
      log->write(LogLevel::kWarning,
                 std::string(program.name) + " in the state directory was damaged; written again");
    }
    // Two first starts at once both write.
    COVE_TRY_VOID(write_program(directory, program, program.name, kProgramMode));
  }
  return open_program(directory, program.name);
}

Result<UniqueFd> open_configured(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & 0111) == 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "provider.agent '" + path + "' is not a program that can be run");
  }
  return fd;
}

}  // namespace

Result<AgentImage> open_agent_image(int state, const std::string& configured_agent, LogSink* log) {
  COVE_TRY(const UniqueFd all, make_directory(state, "agent", 0700));
  COVE_TRY(const UniqueFd mine, make_directory(*all, build_id(), 0700));
  AgentImage image;
  COVE_TRY(image.launcher, install(*mine, embedded_launcher(), log));
  COVE_TRY(image.agent, configured_agent.empty() ? install(*mine, embedded_agent(), log)
                                                 : open_configured(configured_agent));
  return image;
}

Result<void> write_library_agent(const std::string& path) {
  const Program program = embedded_agent();
  if (program.bytes.empty()) {
    return Error(ErrorCode::kUnsupported, "this library was built without cove-agent");
  }
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return Error(ErrorCode::kInvalidArgument, "'" + path + "' does not name a file");
  }
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return system_error(errno, "open '" + parent + "'");
  return write_program(*directory, program, name, 0555);
}

}  // namespace cove::local
