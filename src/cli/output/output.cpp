#include "cli/output/output.hpp"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {

Result<void> Output::write_all(int fd, std::string_view bytes, const char* what) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // somebody made the terminal or pipe non-blocking
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      if (errno == EPIPE) reader_gone_ = true;
      return base::system_error(errno, std::string("write to ") + what);
    }
  }
  return ok();
}

bool Output::out_is_terminal() const noexcept { return ::isatty(out_) == 1; }

Result<void> Output::out(std::string_view bytes) const { return write_all(out_, bytes, "stdout"); }

Result<void> Output::err(std::string_view bytes) const { return write_all(err_, bytes, "stderr"); }

void Output::report(const Error& error, bool json) const {
  // Where stderr is gone too there is nobody left to tell; the exit code says it.
  static_cast<void>(err(json ? error_json(error) + "\n" : "cove: " + error_line(error) + "\n"));
}

}  // namespace cove::cli
