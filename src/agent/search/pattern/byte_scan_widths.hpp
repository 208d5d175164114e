/// The widths that byte_scan.cpp chooses from. Each gives the place of a needle with `*found` set,
/// or how far it came; what is left is shorter than a block and a needle.
#pragma once

#include "agent/search/pattern/byte_scan.hpp"

namespace cove::agent::scan {

using FindInBlocks = const char* (*)(const ByteNeedle* needles, std::size_t count, const char* at,
                                     const char* end, bool* found);
using CountInBlocks = const char* (*)(const char* at, const char* end, std::uint64_t* lines);

struct Width {
  FindInBlocks find = nullptr;
  CountInBlocks count = nullptr;
};

#if defined(__x86_64__)
Width sse2_width();
Width avx2_width();  ///< only where the machine has AVX2
#endif

}  // namespace cove::agent::scan
