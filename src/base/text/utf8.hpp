/// UTF-8: what is it, and where may a text be cut.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cove::base {

/// True where all of `text` is well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text) noexcept;

/// `bytes` as well-formed UTF-8: each byte that belongs to no character is written as `\xNN`.
std::string marked_utf8(std::string_view bytes);

/// The length of the longest prefix of at most `limit` bytes that does not end inside a character.
/// Bytes that are no UTF-8 count as characters of their own.
std::size_t cut_before(std::string_view text, std::size_t limit) noexcept;

/// The length of the shortest prefix of at least `from` bytes after which a character begins: where
/// a tail of `text` may start.
std::size_t cut_after(std::string_view text, std::size_t from) noexcept;

}  // namespace cove::base
