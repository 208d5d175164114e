#include "providers/local/launcher/failing.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "providers/local/launcher/plan.hpp"

namespace cove::local {

void fail(const char* what) {
  char line[512];
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a process of one thread
  const char* const why = std::strerror(errno);
  const int length = std::snprintf(line, sizeof line, "cove-launcher: %s: %s\n", what, why);
  if (length > 0) {
    const ssize_t ignored = ::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
    static_cast<void>(ignored);
  }
  ::_exit(kLauncherFailed);
}

void require(bool done, const char* what) {
  if (!done) fail(what);
}

void write_text(char* text, std::size_t size, const char* form, ...) {
  va_list values;
  va_start(values, form);
  const int length = std::vsnprintf(text, size, form, values);
  va_end(values);
  errno = ENAMETOOLONG;
  require(length >= 0 && static_cast<std::size_t>(length) < size, form);
}

}  // namespace cove::local
