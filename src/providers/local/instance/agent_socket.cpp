#include "providers/local/instance/agent_socket.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "providers/local/instance/instance_record.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr int kBacklog = 128;

/// Addresses end at 107 bytes, state directories do not: the directory goes in as a descriptor.
Result<sockaddr_un> address_in(int run_directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = descriptor_path(run_directory) + "/" + kSocketName;
  if (path.size() >= sizeof address.sun_path) {
    return Error(ErrorCode::kInternal, "a socket's address is too long");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<UniqueFd> make_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error(errno, "make a socket");
  return fd;
}

}  // namespace

Result<UniqueFd> listen_in(int run_directory) {
  COVE_TRY(UniqueFd fd, make_socket());
  COVE_TRY(const sockaddr_un address, address_in(run_directory));
  if (::unlinkat(run_directory, kSocketName, 0) != 0 && errno != ENOENT) {
    return system_error(errno, "remove an old socket");
  }
  // SAFETY: the socket API takes every address as the generic type.
  if (::bind(*fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(*fd, kBacklog) != 0) {
    return system_error(errno, "listen at the agent's socket");
  }
  return fd;
}

Result<UniqueFd> connect_in(int run_directory) {
  COVE_TRY(UniqueFd fd, make_socket());
  COVE_TRY(const sockaddr_un address, address_in(run_directory));
  // SAFETY: as above.
  if (::connect(*fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN) {
    return Error(ErrorCode::kUnavailable, "no agent answers at the instance's socket")
        .with_cause(system_error(errno, "connect"));
  }
  return system_error(errno, "connect to the agent");
}

}  // namespace cove::local
