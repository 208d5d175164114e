#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/tar/tar_entry.hpp"
#include "base/text/utf8.hpp"

namespace cove::base {
namespace {

constexpr std::size_t kNameField = 100;
constexpr std::uint64_t kMostOctal = 077'777'777'777ULL;  // 11 digits

struct Header {
  std::array<char, 100> name{};
  std::array<char, 8> mode{};
  std::array<char, 8> uid{};
  std::array<char, 8> gid{};
  std::array<char, 12> size{};
  std::array<char, 12> mtime{};
  std::array<char, 8> checksum{};
  char type = '0';
  std::array<char, 100> target{};
  std::array<char, 6> magic{'u', 's', 't', 'a', 'r', '\0'};
  std::array<char, 2> version{'0', '0'};
  std::array<char, 32> owner{};
  std::array<char, 32> group{};
  std::array<char, 8> major{};
  std::array<char, 8> minor{};
  std::array<char, 155> prefix{};
  std::array<char, 12> rest{};
};
static_assert(sizeof(Header) == kTarBlock);

template <std::size_t N>
void put_octal(std::array<char, N>& field, std::uint64_t value) {
  for (std::size_t i = N - 1; i-- > 0; value >>= 3U)
    field[i] = static_cast<char>('0' + (value & 7U));
}

template <std::size_t N>
void put_text(std::array<char, N>& field, std::string_view text) {
  std::copy_n(text.data(), std::min(N, text.size()), field.data());
}

char letter_of(TarType type) {
  switch (type) {
    case TarType::kFile: return '0';
    case TarType::kHardLink: return '1';
    case TarType::kSymlink: return '2';
    case TarType::kDirectory: return '5';
  }
  return '0';
}

void append_block(std::string& out, Header& header) {
  header.checksum.fill(' ');
  // SAFETY: a header is an array of characters.
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < sizeof header; ++i) sum += bytes[i];
  static_cast<void>(std::snprintf(header.checksum.data(), header.checksum.size(), "%06o", sum));
  out.append(reinterpret_cast<const char*>(&header), sizeof header);
}

/// A pax record: its own length, in digits, is part of its length.
std::string record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;  // " ", "=", "\n"
  std::size_t length = rest;
  while (length != rest + std::to_string(length).size()) {
    length = rest + std::to_string(length).size();
  }
  std::string text = std::to_string(length);
  return text.append(" ").append(key).append("=").append(value).append("\n");
}

std::string time_text(const TarEntry& entry) {
  std::array<char, 40> text{};
  // A time before 1970 has its fraction counted down from zero in this notation.
  const bool negative = entry.seconds < 0 && entry.nanoseconds > 0;
  const long long whole = negative ? entry.seconds + 1 : entry.seconds;
  const int fraction = negative ? 1'000'000'000 - entry.nanoseconds : entry.nanoseconds;
  static_cast<void>(std::snprintf(text.data(), text.size(), "%s%lld.%09d",
                                  negative && whole == 0 ? "-" : "", whole, fraction));
  return text.data();
}

/// What ustar's fields cannot say.
std::string pax_records(const TarEntry& entry) {
  std::string records;
  const bool binary = !is_utf8(entry.path) || !is_utf8(entry.target);
  if (binary) records += record("hdrcharset", "BINARY");
  const auto is_plain = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0 && c != '\x7f'; });
  };
  if (entry.path.size() > kNameField || !is_plain(entry.path)) {
    records += record("path", entry.path);
  }
  if (entry.target.size() > kNameField || !is_plain(entry.target)) {
    records += record("linkpath", entry.target);
  }
  if (entry.size > kMostOctal) records += record("size", std::to_string(entry.size));
  const bool odd_time = entry.seconds < 0 || entry.seconds > static_cast<std::int64_t>(kMostOctal);
  if (odd_time || entry.nanoseconds != 0) records += record("mtime", time_text(entry));
  return records;
}

Header header_of(const TarEntry& entry) {
  Header header;
  put_text(header.name, entry.path);
  put_octal(header.mode, entry.mode & 07777U);
  put_octal(header.uid, 0);
  put_octal(header.gid, 0);
  put_octal(header.size, entry.size > kMostOctal ? 0 : entry.size);
  const std::int64_t latest = static_cast<std::int64_t>(kMostOctal);
  put_octal(header.mtime,
            static_cast<std::uint64_t>(std::clamp<std::int64_t>(entry.seconds, 0, latest)));
  header.type = letter_of(entry.type);
  put_text(header.target, entry.target);
  return header;
}

}  // namespace

std::size_t tar_padding(std::uint64_t size) {
  return static_cast<std::size_t>((kTarBlock - size % kTarBlock) % kTarBlock);
}

void append_tar_header(std::string& out, const TarEntry& entry) {
  Header header = header_of(entry);
  const std::string records = pax_records(entry);
  if (!records.empty()) {
    Header extended;
    put_text(extended.name, "PaxHeader");
    put_octal(extended.mode, 0644);
    put_octal(extended.uid, 0);
    put_octal(extended.gid, 0);
    put_octal(extended.size, records.size());
    put_octal(extended.mtime, 0);
    extended.type = 'x';
    append_block(out, extended);
    out += records;
    out.append(tar_padding(records.size()), '\0');
  }
  append_block(out, header);
}

}  // namespace cove::base
