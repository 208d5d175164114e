// The vector part of byte_scan.cpp, compiled once for each width. Included with `Lanes` defined:
// a block of bytes and what is asked of it. Nothing of the standard library's templates is used
// here: what the linker would merge with the other width's must not be.
#pragma once

namespace {

inline bool is_whole(const ByteNeedle& needle, const char* at) {
  for (std::uint32_t i = 0; i < needle.length; ++i) {
    const auto byte = static_cast<unsigned char>(at[i]);
    if ((needle.places.data()[byte] >> i & 1U) == 0) return false;
  }
  return true;
}

inline Lanes::Block in_probe(const ByteProbe& probe, Lanes::Block text) {
  Lanes::Block found = Lanes::in_range(text, probe.range.data()[0].low, probe.range.data()[0].span);
  for (std::uint32_t i = 1; i < probe.ranges; ++i) {
    const auto& range = probe.range.data()[i];
    found = Lanes::either(found, Lanes::in_range(text, range.low, range.span));
  }
  return found;
}

inline Lanes::Block probe_all(const ByteNeedle& needle, const char* at) {
  const ByteProbe* probes = needle.probe.data();
  Lanes::Block found;
  if (needle.plain) {
    found = Lanes::equal(Lanes::load(at + probes[0].offset), probes[0].range.data()[0].low);
    for (std::uint32_t i = 1; i < needle.probes; ++i) {
      found = Lanes::both(
          found, Lanes::equal(Lanes::load(at + probes[i].offset), probes[i].range.data()[0].low));
    }
    return found;
  }
  found = in_probe(probes[0], Lanes::load(at + probes[0].offset));
  for (std::uint32_t i = 1; i < needle.probes; ++i) {
    found = Lanes::both(found, in_probe(probes[i], Lanes::load(at + probes[i].offset)));
  }
  return found;
}

/// Returns the place of a needle, or where the rest begins that is shorter than a block.
inline const char* find_in_blocks(const ByteNeedle* needles, std::size_t count, const char* at,
                                  const char* end, bool* found) {
  while (static_cast<std::size_t>(end - at) >= Lanes::kWidth + kLongestNeedle) {
    Lanes::Block any = probe_all(needles[0], at);
    for (std::size_t i = 1; i < count; ++i) any = Lanes::either(any, probe_all(needles[i], at));
    for (std::uint32_t bits = Lanes::bits(any); bits != 0; bits &= bits - 1) {
      const char* place = at + __builtin_ctz(bits);
      for (std::size_t i = 0; i < count; ++i) {
        if (!is_whole(needles[i], place)) continue;
        *found = true;
        return place;
      }
    }
    at += Lanes::kWidth;
  }
  return at;
}

inline const char* count_in_blocks(const char* at, const char* end, std::uint64_t* lines) {
  std::uint64_t sum = 0;
  for (; static_cast<std::size_t>(end - at) >= Lanes::kWidth; at += Lanes::kWidth) {
    sum +=
        static_cast<unsigned>(__builtin_popcount(Lanes::bits(Lanes::equal(Lanes::load(at), '\n'))));
  }
  *lines += sum;
  return at;
}

}  // namespace
