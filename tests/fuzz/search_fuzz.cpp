// Feeds bytes to what the agent's search reads from the sandbox and from callers: ignore files,
// globs, and the look at a pattern's text. The first byte says which.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agent/search/pattern/pattern.hpp"
#include "agent/search/pattern/required.hpp"
#include "agent/search/walk/glob.hpp"
#include "agent/search/walk/ignore_rules.hpp"

namespace {

using namespace cove;

constexpr std::string_view kPath = "src/a/b.txt";
constexpr std::string_view kName = "b.txt";

void read_rules(std::string_view text) {
  const auto rules = agent::IgnoreFile::parse(text);
  (void)rules.decide(kPath, kName, false);
  (void)rules.decide("node_modules", "node_modules", true);
}

void read_glob(std::string_view text) {
  const auto globs = agent::GlobList::parse({std::string(text)});
  if (globs) (void)globs->matches(kPath, kName, false);
  if (!globs && globs.error().code() != ErrorCode::kInvalidArgument) std::abort();
}

/// A line that matches has one of the runs that were said to be in every match.
void read_pattern(std::string_view text) {
  if (text.size() > 64) return;
  const GrepQuery query{.pattern = std::string(text)};
  const auto pattern = agent::Pattern::compile(query);
  if (!pattern || text.empty()) return;
  const std::atomic<bool> stopped{false};
  agent::Matcher matcher(*pattern, stopped);
  agent::MatchSpan match;
  constexpr std::string_view kLine = "def foo_123(self): return Bar";
  if (!matcher.next(kLine, 0, match)) return;
  matcher.begin_block(kLine.data(), kLine.data() + kLine.size());
  const char* end = kLine.data() + kLine.size();
  if (matcher.candidate(kLine.data(), end) == end && match.begin < match.end) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // SAFETY: bytes seen as characters.
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: read_rules(text); break;
    case 1: read_glob(text); break;
    default: read_pattern(text); break;
  }
  return 0;
}
