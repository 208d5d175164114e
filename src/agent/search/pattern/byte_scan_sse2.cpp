// 16 bytes at a time: every x86-64 machine can.
#include "agent/search/pattern/byte_scan_widths.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>

namespace cove::agent::scan {
namespace {

struct Lanes {
  using Block = __m128i;
  static constexpr std::size_t kWidth = 16;

  static Block load(const char* at) {
    // SAFETY: an unaligned load within the text.
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  static Block splat(std::uint8_t byte) { return _mm_set1_epi8(static_cast<char>(byte)); }
  static Block equal(Block text, std::uint8_t byte) { return _mm_cmpeq_epi8(text, splat(byte)); }
  static Block in_range(Block text, std::uint8_t low, std::uint8_t span) {
    const Block above = _mm_sub_epi8(text, splat(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(above, splat(span)), above);
  }
  static Block either(Block a, Block b) { return _mm_or_si128(a, b); }
  static Block both(Block a, Block b) { return _mm_and_si128(a, b); }
  static std::uint32_t bits(Block a) { return static_cast<std::uint32_t>(_mm_movemask_epi8(a)); }
};

}  // namespace
}  // namespace cove::agent::scan

namespace cove::agent::scan {
#include "agent/search/pattern/byte_scan_kernel.hpp"

Width sse2_width() { return {find_in_blocks, count_in_blocks}; }

}  // namespace cove::agent::scan
#endif
