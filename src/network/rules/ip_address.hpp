/// IP addresses as values, what kind of address one is, and ranges of them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cove::network {

/// An IPv4 or IPv6 address. One of IPv4 that is written as IPv6 (`::ffff:10.0.0.1`) is the IPv4
/// address.
class IpAddress {
 public:
  /// Exactly the usual forms: four decimal numbers, or RFC 4291. No zone, no `127.1`, no `0x7f.1`.
  static std::optional<IpAddress> parse(std::string_view text);

  /// `bytes` in network order: 4 or 16 of them.
  static IpAddress from_v4(const std::array<std::uint8_t, 4>& bytes);
  static IpAddress from_v6(const std::array<std::uint8_t, 16>& bytes);

  bool is_v4() const noexcept { return v4_; }

  /// In network order; of an IPv4 address the first four count.
  const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }

  std::string text() const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
  bool v4_ = false;
};

enum class AddressKind : std::uint8_t {
  kPublic,
  kLoopback,
  kLinkLocal,
  kPrivate,   ///< RFC 1918, carrier NAT, unique local, for documentation and tests, reserved
  kMetadata,  ///< the metadata service of a cloud
  kNever,     ///< multicast, broadcast, unspecified: nothing that one connects to
};

/// An IPv6 address that carries an IPv4 one (NAT64, 6to4, Teredo) is of the stricter kind of both.
AddressKind kind_of(const IpAddress& address);

/// "loopback", for people.
const char* name_of(AddressKind kind) noexcept;

/// Addresses that begin with the same bits.
class IpRange {
 public:
  /// `10.0.0.0/8`, `fd00::/8`, or one address. None: neither, or bits behind the prefix are set.
  static std::optional<IpRange> parse(std::string_view text);

  bool contains(const IpAddress& address) const noexcept;

 private:
  IpAddress base_;
  unsigned prefix_ = 0;
};

}  // namespace cove::network
