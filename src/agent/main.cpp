// cove-agent: what answers inside a sandbox.
//
//     cove-agent guest FD     serves; FD holds the boot document (wire/boot.hpp)
//     cove-agent --build-id   prints the build id
//     cove-agent --version    prints the version
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <cove/version.hpp>

#include "agent/guest_program.hpp"
#include "agent/server/server.hpp"

namespace {

constexpr int kUsage = 2;

int usage() {
  static_cast<void>(std::fputs("usage: cove-agent guest FD | --build-id | --version\n", stderr));
  return kUsage;
}

int print(const std::string& text) {
  return std::printf("%s\n", text.c_str()) > 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

int guest(std::string_view number) {
  int fd = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), fd);
  if (error != std::errc() || end != number.data() + number.size() || fd < 0) return usage();
  const auto ended = cove::agent::run_guest(fd);
  if (ended) return 0;
  static_cast<void>(std::fprintf(stderr, "cove-agent: %s\n", ended.error().describe().c_str()));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "guest" && argc == 3) return guest(argv[2]);
  if (verb == "--build-id" && argc == 2) return print(cove::agent::build_id());
  if (verb == "--version" && argc == 2) return print(std::string(cove::version()));
  return usage();
}
