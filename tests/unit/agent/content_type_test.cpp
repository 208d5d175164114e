#include "agent/files/content_type.hpp"

#include <span>
#include <string>

#include <catch2/catch.hpp>

using cove::agent::content_type_of;

namespace {

std::string type_of(const std::string& head) {
  return content_type_of(std::as_bytes(std::span(head)));
}

std::string operator""_bytes(const char* text, std::size_t size) { return {text, size}; }

}  // namespace

TEST_CASE("ContentType: known formats are told from their first bytes", "[unit][agent][files]") {
  CHECK(type_of("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"_bytes) == "image/png");
  CHECK(type_of("\xff\xd8\xff\xe0\0\x10JFIF\0"_bytes) == "image/jpeg");
  CHECK(type_of("GIF89a\1\0\1\0"_bytes) == "image/gif");
  CHECK(type_of("RIFF\x24\0\0\0WEBPVP8 "_bytes) == "image/webp");
  CHECK(type_of("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"_bytes) == "application/pdf");
  CHECK(type_of("PK\3\4\x14\0\0\0"_bytes) == "application/zip");
  CHECK(type_of("\x1f\x8b\x08\0\0\0"_bytes) == "application/gzip");
  CHECK(type_of("SQLite format 3\0\x10\0"_bytes) == "application/vnd.sqlite3");
  CHECK(type_of("\x7f"
                "ELF\2\1\1\0"_bytes) == "application/x-elf");
  CHECK(type_of("\xff\xfeh\0i\0"_bytes) == "text/plain; charset=utf-16le");
}

TEST_CASE("ContentType: text is text, also where it begins like a format", "[unit][agent][files]") {
  CHECK(type_of("") == "text/plain; charset=utf-8");
  CHECK(type_of("hello\r\n\tworld\n") == "text/plain; charset=utf-8");
  CHECK(type_of("数据\n") == "text/plain; charset=utf-8");
  CHECK(type_of("BMW is a car") == "text/plain; charset=utf-8");
  CHECK(type_of("PAR1 ID3 OggS") == "text/plain; charset=utf-8");
  CHECK(type_of("caf\xe9\n") == "text/plain; charset=unknown-8bit");
  CHECK(type_of("a\0b"_bytes) == "application/octet-stream");
}

TEST_CASE("ContentType: a character that the limit cuts is no sign of binary content",
          "[unit][agent][files]") {
  std::string head(cove::agent::kSniffBytes - 1, 'x');
  head += "\xe6";  // the first of three bytes
  CHECK(type_of(head) == "text/plain; charset=utf-8");
}
