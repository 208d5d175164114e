/// The real time and randomness of this machine.
#pragma once

#include <string>

#include <cove/clock.hpp>
#include <cove/id_source.hpp>

namespace cove::base {

/// CLOCK_BOOTTIME.
class SystemClock final : public Clock {
 public:
  Instant now() const override;
};

/// getrandom(2).
class SystemIds final : public IdSource {
 public:
  void fill(std::span<std::byte> bytes) override;
};

/// 32 hex digits of 128 random bits: the form of generations, operation ids and the like.
std::string random_name(IdSource& ids);

}  // namespace cove::base
