// Feeds bytes to what reads the first words of the proxy's clients: the first byte says how they
// are cut, the rest is what a client writes. Cut in another way they mean the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/proxy/http_head.hpp"
#include "agent/proxy/opening.hpp"

namespace {

using namespace cove;
using agent::OpeningReader;

void must(bool holds) {
  if (!holds) std::abort();
}

/// What was understood, as one text.
std::string hear(std::string_view bytes, std::size_t piece) {
  OpeningReader reader;
  std::string reply;
  auto state = OpeningReader::State::kMore;
  std::size_t at = 0;
  while (at < bytes.size() && state == OpeningReader::State::kMore) {
    state = reader.take(bytes.substr(at, piece), reply);
    at = std::min(at + piece, bytes.size());
  }
  std::string heard = std::to_string(static_cast<int>(state)) + reply;
  if (state != OpeningReader::State::kReady) return heard;
  agent::Opening& opening = reader.opening();
  must(agent::is_host_text(opening.target.host) && opening.target.port != 0);
  must(opening.first.size() <= 34 * 1024);
  std::string rest(reader.rest());
  rest.append(bytes.substr(at));
  const std::size_t body = opening.body.take(rest);
  must(body <= rest.size());
  return heard + opening.target.host + ":" + std::to_string(opening.target.port) + opening.first +
         std::to_string(body) + (opening.body.is_broken() ? "broken" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // SAFETY: bytes seen as characters.
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = hear(bytes, bytes.size() + 1);
  const std::string cut = hear(bytes, std::size_t{1} + data[0]);
  // A head that is too long is seen to be so only when so much came.
  if (bytes.size() <= 32 * 1024) must(whole == cut);
  return 0;
}
