// 32 bytes at a time; compiled for AVX2, so called only where the machine has it.
#include "agent/search/pattern/byte_scan_widths.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace cove::agent::scan {
namespace {

struct Lanes {
  using Block = __m256i;
  static constexpr std::size_t kWidth = 32;

  static Block load(const char* at) {
    // SAFETY: an unaligned load within the text.
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
  static Block splat(std::uint8_t byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
  static Block equal(Block text, std::uint8_t byte) { return _mm256_cmpeq_epi8(text, splat(byte)); }
  static Block in_range(Block text, std::uint8_t low, std::uint8_t span) {
    const Block above = _mm256_sub_epi8(text, splat(low));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(above, splat(span)), above);
  }
  static Block either(Block a, Block b) { return _mm256_or_si256(a, b); }
  static Block both(Block a, Block b) { return _mm256_and_si256(a, b); }
  static std::uint32_t bits(Block a) { return static_cast<std::uint32_t>(_mm256_movemask_epi8(a)); }
};

}  // namespace
}  // namespace cove::agent::scan

namespace cove::agent::scan {
#include "agent/search/pattern/byte_scan_kernel.hpp"

Width avx2_width() { return {find_in_blocks, count_in_blocks}; }

}  // namespace cove::agent::scan
#endif
