#include "agent/files/content_type.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include <unistd.h>

#include "base/text/utf8.hpp"

namespace cove::agent {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUnknown = "application/octet-stream";

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view type;
};

// Longer and rarer ones first, where one begins with another.
constexpr std::array kSignatures{
    Signature{0, "\x89PNG\r\n\x1a\n"sv, "image/png"},
    Signature{0, "\xff\xd8\xff"sv, "image/jpeg"},
    Signature{0, "GIF87a"sv, "image/gif"},
    Signature{0, "GIF89a"sv, "image/gif"},
    Signature{8, "WEBP"sv, "image/webp"},
    Signature{8, "WAVE"sv, "audio/wav"},
    Signature{0, "BM"sv, "image/bmp"},
    Signature{0, "II*\0"sv, "image/tiff"},
    Signature{0, "MM\0*"sv, "image/tiff"},
    Signature{0, "\0\0\1\0"sv, "image/x-icon"},
    Signature{4, "ftypavif"sv, "image/avif"},
    Signature{4, "ftypheic"sv, "image/heic"},
    Signature{4, "ftyp"sv, "video/mp4"},
    Signature{0, "\x1a\x45\xdf\xa3"sv, "video/webm"},
    Signature{0, "OggS"sv, "audio/ogg"},
    Signature{0, "fLaC"sv, "audio/flac"},
    Signature{0, "ID3"sv, "audio/mpeg"},
    Signature{0, "%PDF-"sv, "application/pdf"},
    Signature{0, "PK\3\4"sv, "application/zip"},
    Signature{0, "PK\5\6"sv, "application/zip"},
    Signature{0, "\x1f\x8b"sv, "application/gzip"},
    Signature{0, "BZh"sv, "application/x-bzip2"},
    Signature{0,
              "\xfd"
              "7zXZ\0"sv,
              "application/x-xz"},
    Signature{0, "\x28\xb5\x2f\xfd"sv, "application/zstd"},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, "application/x-7z-compressed"},
    Signature{257, "ustar"sv, "application/x-tar"},
    Signature{0, "SQLite format 3\0"sv, "application/vnd.sqlite3"},
    Signature{0, "PAR1"sv, "application/vnd.apache.parquet"},
    Signature{0,
              "\x7f"
              "ELF"sv,
              "application/x-elf"},
    Signature{0, "\0asm"sv, "application/wasm"},
    Signature{0, "\xff\xfe"sv, "text/plain; charset=utf-16le"},
    Signature{0, "\xfe\xff"sv, "text/plain; charset=utf-16be"},
};

/// Signatures that printable text may begin with count only where more speaks for them.
bool is_text_too(std::string_view signature) {
  return std::all_of(signature.begin(), signature.end(), [](char c) { return c >= ' '; });
}

bool is_control(char c) noexcept {
  const auto value = static_cast<unsigned char>(c);
  if (value == 0x7F) return true;
  return value < 0x20 && "\t\n\v\f\r\b\x1b"sv.find(c) == std::string_view::npos;
}

bool matches(std::string_view head, const Signature& signature) {
  if (head.size() < signature.offset) return false;
  if (!head.substr(signature.offset).starts_with(signature.bytes)) return false;
  if (signature.offset == 8 && !head.starts_with("RIFF")) return false;
  // "BM", "PAR1" and the like also begin words: binary formats have control bytes near the front.
  const bool weak =
      signature.offset != 8 && is_text_too(signature.bytes) && !signature.bytes.starts_with("%PDF");
  const std::string_view near = head.substr(0, 256);
  return !weak || std::any_of(near.begin(), near.end(), is_control);
}

}  // namespace

std::string content_type_of(ByteView head) {
  // SAFETY: bytes seen as characters.
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Signature& signature : kSignatures) {
    if (matches(text, signature)) return std::string(signature.type);
  }
  if (std::any_of(text.begin(), text.end(), is_control)) return std::string(kUnknown);
  // The last character may have been cut by the limit of what is looked at.
  const std::string_view whole =
      text.size() < kSniffBytes ? text : text.substr(0, base::cut_before(text, text.size() - 4));
  return base::is_utf8(whole) ? "text/plain; charset=utf-8" : "text/plain; charset=unknown-8bit";
}

std::string content_type_of(int fd) {
  std::array<std::byte, kSniffBytes> head;
  ssize_t got = 0;
  do {
    got = ::pread(fd, head.data(), head.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return std::string(kUnknown);
  return content_type_of(ByteView(head).first(static_cast<std::size_t>(got)));
}

}  // namespace cove::agent
