/// Bytes as lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cove::base {

std::string to_hex(std::span<const std::byte> bytes);

/// Appends the two digits of one byte.
void append_hex(std::string& out, char byte);

/// True for exactly `digits` characters of [0-9a-f].
bool is_hex(std::string_view text, std::size_t digits) noexcept;

}  // namespace cove::base
