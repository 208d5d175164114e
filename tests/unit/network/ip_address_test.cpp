#include "network/rules/ip_address.hpp"

#include <catch2/catch.hpp>

using cove::network::AddressKind;
using cove::network::IpAddress;
using cove::network::IpRange;
using cove::network::kind_of;

namespace {

AddressKind kind(const char* text) {
  INFO(text);
  const auto address = IpAddress::parse(text);
  REQUIRE(address);
  return kind_of(*address);
}

}  // namespace

TEST_CASE("IpAddress: takes the usual forms, and nothing that only inet_aton takes",
          "[unit][network]") {
  for (const char* good : {"127.0.0.1", "8.8.8.8", "::1", "2001:DB8::a", "::ffff:1.2.3.4"}) {
    CHECK(IpAddress::parse(good));
  }
  for (const char* bad : {"", "127.1", "0x7f.0.0.1", "2130706433", "017.0.0.1", "1.2.3.4.", "1.2.3",
                          "fe80::1%eth0", "[::1]", " 1.2.3.4", "::g"}) {
    INFO(bad);
    CHECK_FALSE(IpAddress::parse(bad));
  }
  CHECK_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0x", 9)));
}

TEST_CASE("IpAddress: one of IPv4 inside IPv6 is the IPv4 one", "[unit][network]") {
  CHECK(IpAddress::parse("::ffff:127.0.0.1") == IpAddress::parse("127.0.0.1"));
  CHECK(IpAddress::parse("::ffff:7f00:1")->text() == "127.0.0.1");
}

TEST_CASE("IpAddress: every special range has its kind", "[unit][network]") {
  for (const char* text : {"1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1",
                           "192.0.3.1", "198.17.0.1", "198.20.0.1", "2606:4700::1111"}) {
    CHECK(kind(text) == AddressKind::kPublic);
  }
  for (const char* text : {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"}) {
    CHECK(kind(text) == AddressKind::kLoopback);
  }
  for (const char* text : {"169.254.0.1", "fe80::1", "febf::1"}) {
    CHECK(kind(text) == AddressKind::kLinkLocal);
  }
  for (const char* text : {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
                           "198.18.0.1", "192.0.2.1", "203.0.113.9", "240.0.0.1", "fc00::1",
                           "fdff::1", "fec0::1", "2001:db8::1", "::7f00:1"}) {
    CHECK(kind(text) == AddressKind::kPrivate);
  }
  for (const char* text : {"169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254",
                           "::ffff:169.254.169.254"}) {
    CHECK(kind(text) == AddressKind::kMetadata);
  }
  for (const char* text :
       {"0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "255.255.255.255", "::", "ff02::1"}) {
    CHECK(kind(text) == AddressKind::kNever);
  }
}

TEST_CASE("IpAddress: an IPv4 address that IPv6 carries counts too", "[unit][network]") {
  CHECK(kind("64:ff9b::7f00:1") == AddressKind::kLoopback);
  CHECK(kind("64:ff9b::a9fe:a9fe") == AddressKind::kMetadata);
  CHECK(kind("64:ff9b::808:808") == AddressKind::kPublic);
  CHECK(kind("2002:0a00:0001::1") == AddressKind::kPrivate);
  CHECK(kind("2002:0808:0808::1") == AddressKind::kPublic);
  CHECK(kind("2001:0:1:2:3:4:80ff:fffe") == AddressKind::kLoopback);  // Teredo of 127.0.0.1
}

TEST_CASE("IpRange: holds what begins with its bits", "[unit][network]") {
  const auto range = IpRange::parse("10.128.0.0/9");
  REQUIRE(range);
  CHECK(range->contains(*IpAddress::parse("10.255.0.1")));
  CHECK(range->contains(*IpAddress::parse("::ffff:10.128.0.0")));
  CHECK_FALSE(range->contains(*IpAddress::parse("10.127.255.255")));
  CHECK_FALSE(range->contains(*IpAddress::parse("::1")));
  CHECK(IpRange::parse("0.0.0.0/0")->contains(*IpAddress::parse("9.9.9.9")));
  CHECK(IpRange::parse("fd00::/8")->contains(*IpAddress::parse("fdab::1")));
  CHECK_FALSE(IpRange::parse("::1")->contains(*IpAddress::parse("::2")));
  for (const char* bad : {"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
                          "::/129", "::ffff:10.0.0.0/104", "example.org/8", "/8"}) {
    INFO(bad);
    CHECK_FALSE(IpRange::parse(bad));
  }
}
