/// Names of files as JSON text, which is UTF-8, while a name is bytes: an escape that is there only
/// where it is needed, and that comes back to the same bytes.
///
///     name_text("数据.csv")       -> 数据.csv        (as it is)
///     name_text("caf\xe9")        -> caf\xe9         (four characters for the byte)
///     name_text(R"(a\xe9)")       -> a\x5cxe9        (a backslash that would be read as an escape)
#pragma once

#include <string>
#include <string_view>

namespace cove::base {

/// `bytes` as UTF-8: each byte that belongs to no character becomes `\xNN` (two lower-case hex
/// digits), and so does a backslash before `x` and two hex digits. All else stays.
std::string name_text(std::string_view bytes);

/// The bytes that `text` stands for: `\xNN` is the byte, all else is itself. For every `b`,
/// name_bytes(name_text(b)) == b.
std::string name_bytes(std::string_view text);

}  // namespace cove::base
