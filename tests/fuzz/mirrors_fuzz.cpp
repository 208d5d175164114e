// Feeds a user's configuration file to what sets mirrors in it. The first byte says which file it
// is. Applied twice must be applied once, and what goes out must bring back what was.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "prepare/mirrors/guest_files.hpp"
#include "prepare/mirrors/managed_file.hpp"

namespace {

using namespace cove;
using namespace cove::prepare;

const Mirrors kMirrors{.npm = "http://m.test/n/",
                       .pypi = "http://m.test/p",
                       .apt = {},
                       .go = "http://m.test/g",
                       .cargo = "http://m.test/c",
                       .maven = "http://m.test/m",
                       .rubygems = "http://m.test/r"};

void check_file(std::size_t index, const std::string& text) {
  static const auto kWith = home_files(kMirrors);
  static const auto kWithout = home_files(Mirrors{});
  const ManagedFile& file = kWith[index % kWith.size()];
  const auto once = plan_file(file, text, std::nullopt);
  if (!once) {
    if (once.error().code() != ErrorCode::kUnsupported) std::abort();
    return;
  }
  const auto twice = plan_file(file, once->content, once->memory);
  if (!twice || twice->content != once->content || twice->memory != once->memory) std::abort();
  const auto gone = plan_file(kWithout[index % kWith.size()], once->content, once->memory);
  if (!gone || gone->content != std::optional(text) || gone->memory) std::abort();
  // Where the user added something, the rest still goes.
  const auto changed =
      plan_file(kWithout[index % kWith.size()], *once->content + "\n", once->memory);
  if (changed && changed->memory) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // SAFETY: bytes seen as characters.
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 255) {
    (void)parse_found(text);
    return 0;
  }
  check_file(data[0], text);
  return 0;
}
