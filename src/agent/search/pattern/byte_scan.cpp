#include "agent/search/pattern/byte_scan.hpp"

#include <algorithm>
#include <utility>

#include "agent/search/pattern/byte_scan_widths.hpp"

namespace cove::agent {
namespace {

constexpr double kSample = 100'000;
constexpr std::uint32_t kUseless = 50'000;  // a byte that every second one is tells nothing

std::vector<ByteProbe::Range> ranges_of(const ByteClass& set) {
  std::vector<ByteProbe::Range> ranges;
  for (std::size_t byte = 0; byte < set.size(); ++byte) {
    if (!set[byte]) continue;
    const std::size_t first = byte;
    while (byte + 1 < set.size() && set[byte + 1]) ++byte;
    ranges.push_back({static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(byte - first)});
  }
  return ranges;
}

/// A set of more ranges than a probe has becomes a larger set: what passes is looked at in full.
ByteProbe make_probe(std::uint32_t offset, const ByteClass& set) {
  auto ranges = ranges_of(set);
  while (ranges.size() > ByteProbe::kMostRanges) {
    std::size_t closest = 1;
    const auto gap = [&](std::size_t i) {
      return ranges[i].low - (ranges[i - 1].low + ranges[i - 1].span);
    };
    for (std::size_t i = 2; i < ranges.size(); ++i) {
      if (gap(i) < gap(closest)) closest = i;
    }
    auto& before = ranges[closest - 1];
    before.span =
        static_cast<std::uint8_t>(ranges[closest].low + ranges[closest].span - before.low);
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(closest));
  }
  ByteProbe probe;
  probe.offset = offset;
  probe.ranges = static_cast<std::uint32_t>(ranges.size());
  std::copy(ranges.begin(), ranges.end(), probe.range.begin());
  return probe;
}

bool is_here(const ByteNeedle& needle, const char* at, const char* end) {
  if (static_cast<std::size_t>(end - at) < needle.length) return false;
  for (std::uint32_t i = 0; i < needle.length; ++i) {
    if ((needle.places[static_cast<unsigned char>(at[i])] >> i & 1U) == 0) return false;
  }
  return true;
}

scan::Width best_width() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0 ? scan::avx2_width() : scan::sse2_width();
#else
  return {};
#endif
}

const scan::Width& width() {
  static const scan::Width best = best_width();
  return best;
}

}  // namespace

ByteNeedle make_needle(const ByteRun& run) {
  ByteNeedle needle;
  needle.length = static_cast<std::uint32_t>(run.size());
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < needle.length; ++i) {
    order.push_back(i);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (run[i][byte]) needle.places[byte] |= static_cast<std::uint16_t>(1U << i);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(commonness(run[a]), a) < std::pair(commonness(run[b]), b);
  });
  needle.hits = kSample;
  needle.plain = true;
  for (const std::uint32_t i : order) {
    const std::uint32_t often = commonness(run[i]);
    if (needle.probes == ByteNeedle::kMostProbes) break;
    if (needle.probes > 0 && often > kUseless) break;
    if (needle.probes == 2 && needle.hits < 10) break;  // rare enough already
    needle.probe[needle.probes++] = make_probe(i, run[i]);
    needle.plain = needle.plain && run[i].count() == 1;
    needle.hits *= often / kSample;
  }
  return needle;
}

const char* find_needle(const ByteNeedle* needles, std::size_t count, const char* at,
                        const char* end) {
  if (width().find != nullptr) {
    bool found = false;
    at = width().find(needles, count, at, end, &found);
    if (found) return at;
  }
  for (; at < end; ++at) {
    for (std::size_t i = 0; i < count; ++i) {
      if (is_here(needles[i], at, end)) return at;
    }
  }
  return end;
}

std::uint64_t count_lines(const char* at, const char* end) {
  std::uint64_t lines = 0;
  if (width().count != nullptr) at = width().count(at, end, &lines);
  return lines + static_cast<std::uint64_t>(std::count(at, end, '\n'));
}

}  // namespace cove::agent
