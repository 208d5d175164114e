#include "network/rules/ip_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cove::network {
namespace {

using V4 = std::array<std::uint8_t, 4>;
using V6 = std::array<std::uint8_t, 16>;

struct Row {
  const char* range;
  AddressKind kind;
};

// The registries of RFC 6890 and what came after; the first row that fits counts.
constexpr Row kRows[] = {
    {"169.254.169.254/32", AddressKind::kMetadata},  // most clouds
    {"169.254.170.0/24", AddressKind::kMetadata},    // containers of AWS
    {"100.100.100.200/32", AddressKind::kMetadata},  // Alibaba
    {"192.0.0.192/32", AddressKind::kMetadata},      // Oracle
    {"168.63.129.16/32", AddressKind::kMetadata},    // Azure
    {"fd00:ec2::/32", AddressKind::kMetadata},       // AWS
    {"fd20:ce::254/128", AddressKind::kMetadata},    // Google
    {"0.0.0.0/8", AddressKind::kNever},
    {"224.0.0.0/4", AddressKind::kNever},
    {"255.255.255.255/32", AddressKind::kNever},
    {"127.0.0.0/8", AddressKind::kLoopback},
    {"169.254.0.0/16", AddressKind::kLinkLocal},
    {"10.0.0.0/8", AddressKind::kPrivate},
    {"100.64.0.0/10", AddressKind::kPrivate},
    {"172.16.0.0/12", AddressKind::kPrivate},
    {"192.0.0.0/24", AddressKind::kPrivate},
    {"192.0.2.0/24", AddressKind::kPrivate},
    {"192.88.99.0/24", AddressKind::kPrivate},
    {"192.168.0.0/16", AddressKind::kPrivate},
    {"198.18.0.0/15", AddressKind::kPrivate},
    {"198.51.100.0/24", AddressKind::kPrivate},
    {"203.0.113.0/24", AddressKind::kPrivate},
    {"240.0.0.0/4", AddressKind::kPrivate},
    {"::/128", AddressKind::kNever},
    {"ff00::/8", AddressKind::kNever},
    {"::1/128", AddressKind::kLoopback},
    {"fe80::/10", AddressKind::kLinkLocal},
    {"::/96", AddressKind::kPrivate},  // IPv4-compatible, long gone
    {"64:ff9b:1::/48", AddressKind::kPrivate},
    {"100::/64", AddressKind::kPrivate},
    {"2001:2::/48", AddressKind::kPrivate},
    {"2001:10::/28", AddressKind::kPrivate},
    {"2001:db8::/32", AddressKind::kPrivate},
    {"3fff::/20", AddressKind::kPrivate},
    {"5f00::/16", AddressKind::kPrivate},
    {"fc00::/7", AddressKind::kPrivate},
    {"fec0::/10", AddressKind::kPrivate},
};

struct KindRow {
  IpRange range;
  AddressKind kind;
};

std::vector<KindRow> read_rows() {
  std::vector<KindRow> rows;
  for (const Row& row : kRows) rows.push_back({*IpRange::parse(row.range), row.kind});
  return rows;
}

AddressKind plain_kind_of(const IpAddress& address) {
  static const std::vector<KindRow> rows = read_rows();
  for (const KindRow& row : rows) {
    if (row.range.contains(address)) return row.kind;
  }
  return AddressKind::kPublic;
}

IpAddress carried(const V6& bytes, std::size_t at) {
  return IpAddress::from_v4({bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]});
}

/// The IPv4 address that a packet to this IPv6 one ends at.
std::optional<IpAddress> carried_in(const IpAddress& address) {
  const V6& bytes = address.bytes();
  if (address.is_v4()) return std::nullopt;
  if (IpRange::parse("64:ff9b::/96")->contains(address)) return carried(bytes, 12);
  if (IpRange::parse("2002::/16")->contains(address)) return carried(bytes, 2);
  if (!IpRange::parse("2001::/32")->contains(address)) return std::nullopt;
  V6 turned = bytes;  // Teredo turns every bit
  for (std::uint8_t& byte : turned) byte = static_cast<std::uint8_t>(~byte);
  return carried(turned, 12);
}

}  // namespace

IpAddress IpAddress::from_v4(const V4& bytes) {
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  address.v4_ = true;
  return address;
}

IpAddress IpAddress::from_v6(const V6& bytes) {
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) return carried(bytes, 12);
  IpAddress address;
  address.bytes_ = bytes;
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string terminated(text);
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  V4 v4{};
  if (::inet_pton(AF_INET, terminated.c_str(), v4.data()) == 1) return from_v4(v4);
  V6 v6{};
  if (::inet_pton(AF_INET6, terminated.c_str(), v6.data()) == 1) return from_v6(v6);
  return std::nullopt;
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = v4_ ? AF_INET : AF_INET6;
  if (::inet_ntop(family, bytes_.data(), text.data(), text.size()) == nullptr) return {};
  return text.data();
}

AddressKind kind_of(const IpAddress& address) {
  const AddressKind kind = plain_kind_of(address);
  const std::optional<IpAddress> inner = carried_in(address);
  // The kinds stand in the order of their strictness.
  return inner ? std::max(kind, plain_kind_of(*inner)) : kind;
}

const char* name_of(AddressKind kind) noexcept {
  switch (kind) {
    case AddressKind::kPublic: return "public";
    case AddressKind::kLoopback: return "loopback";
    case AddressKind::kLinkLocal: return "link-local";
    case AddressKind::kPrivate: return "private";
    case AddressKind::kMetadata: return "metadata";
    case AddressKind::kNever: return "multicast or unspecified";
  }
  return "unknown";
}

std::optional<IpRange> IpRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) return std::nullopt;
  IpRange range;
  range.base_ = *base;
  range.prefix_ = base->is_v4() ? 32 : 128;
  if (slash == std::string_view::npos) return range;
  // A range of mapped addresses would be one of IPv4 with another count of bits.
  if (base->is_v4() && text.find(':') != std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(slash + 1);
  unsigned prefix = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (error != std::errc() || end != digits.data() + digits.size() || prefix > range.prefix_) {
    return std::nullopt;
  }
  range.prefix_ = prefix;
  for (unsigned bit = prefix; bit < (base->is_v4() ? 32U : 128U); ++bit) {
    if ((base->bytes()[bit / 8] & (0x80U >> (bit % 8))) != 0) return std::nullopt;
  }
  return range;
}

bool IpRange::contains(const IpAddress& address) const noexcept {
  if (address.is_v4() != base_.is_v4()) return false;
  const std::size_t whole = prefix_ / 8;
  if (std::memcmp(address.bytes().data(), base_.bytes().data(), whole) != 0) return false;
  if (prefix_ % 8 == 0) return true;
  const unsigned mask = 0xFF00U >> (prefix_ % 8) & 0xFFU;
  return ((address.bytes()[whole] ^ base_.bytes()[whole]) & mask) == 0;
}

}  // namespace cove::network
