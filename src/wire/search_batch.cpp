#include "wire/search_batch.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "wire/answer_path.hpp"
#include "wire/fields.hpp"

namespace cove::wire {
namespace {

constexpr std::uint8_t kContext = 1;
constexpr std::uint8_t kCut = 2;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kLongestVarint = 10;

/// Bytes of paths that one payload may become: each line has its own.
constexpr std::size_t kMostPathBytes = 64U << 20U;

void put_byte(Bytes& out, std::uint8_t byte) { out.push_back(static_cast<std::byte>(byte)); }

void put_number(Bytes& out, std::uint64_t number) {
  while (number >= 0x80) {
    put_byte(out, static_cast<std::uint8_t>(number | 0x80U));
    number >>= 7U;
  }
  put_byte(out, static_cast<std::uint8_t>(number));
}

void put_text(Bytes& out, std::string_view text) {
  put_number(out, text.size());
  // SAFETY: characters seen as bytes.
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

void put_fixed(Bytes& out, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    put_byte(out, static_cast<std::uint8_t>(number >> shift));
  }
}

/// Takes the parts of a payload off its front; what is wrong stays wrong.
class Unpacker {
 public:
  explicit Unpacker(ByteView bytes) : rest_(bytes) {}

  bool at_end() const noexcept { return rest_.empty() || wrong_; }
  bool wrong() const noexcept { return wrong_; }
  void fail() noexcept { wrong_ = true; }

  std::uint8_t byte() {
    if (rest_.empty()) wrong_ = true;
    if (wrong_) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kLongestVarint; ++i) {
      const std::uint8_t next = byte();
      // The tenth byte has room for one bit.
      if (wrong_ || (i + 1 == kLongestVarint && next > 1)) break;
      value |= std::uint64_t{next & 0x7FU} << (7 * i);
      if (next < 0x80) return value;
    }
    wrong_ = true;
    return 0;
  }

  std::uint64_t fixed(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }

  ByteView bytes(std::uint64_t length) {
    if (length > rest_.size()) wrong_ = true;
    if (wrong_) return {};
    const ByteView taken = rest_.first(static_cast<std::size_t>(length));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  std::string text() {
    const ByteView taken = bytes(number());
    // SAFETY: bytes seen as characters.
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  ByteView rest_;
  bool wrong_ = false;
};

void unpack_match(Unpacker& in, GrepLine& line) {
  line.column = in.number();
  const std::uint64_t count = in.number();
  if (line.column == 0 || count > kMostSubmatches) return in.fail();
  line.submatches.resize(static_cast<std::size_t>(count));
  for (TextSpan& span : line.submatches) {
    span.offset = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.number(), UINT32_MAX));
    span.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.number(), UINT32_MAX));
  }
}

void unpack_line(Unpacker& in, GrepLine& line) {
  const std::uint8_t flags = in.byte();
  if (flags > (kContext | kCut)) in.fail();
  line.is_context = (flags & kContext) != 0;
  line.cut = (flags & kCut) != 0;
  line.line = in.number();
  if (!line.is_context) unpack_match(in, line);
  if (line.cut) line.text_offset = in.number();
  line.text = in.text();
  for (const TextSpan& span : line.submatches) {
    if (std::uint64_t{span.offset} + span.length > line.text.size()) in.fail();
  }
}

void unpack_segment(Unpacker& in, std::vector<GrepLine>& lines, std::size_t& path_bytes) {
  Unpacker segment(in.bytes(in.fixed(kLengthBytes)));
  const std::string path = segment.text();
  const std::uint8_t encoding = segment.byte();
  if (!is_path_below(path) || encoding < 1 || encoding > 3) segment.fail();
  while (!segment.at_end()) {
    path_bytes += path.size();
    if (path_bytes > kMostPathBytes) segment.fail();
    GrepLine& line = lines.emplace_back();
    line.path = path;
    line.encoding = static_cast<TextEncoding>(encoding);
    unpack_line(segment, line);
  }
  if (segment.wrong()) in.fail();
}

FileType type_of(std::uint8_t type) {
  // A newer agent's type is "other" to this host.
  return type >= 1 && type <= 3 ? static_cast<FileType>(type) : FileType::kOther;
}

void unpack_facts(Unpacker& in, FindEntry& entry) {
  FileInfo& facts = entry.facts.emplace();
  facts.type = entry.type;
  facts.size = in.number();
  facts.mode = static_cast<std::uint32_t>(in.number() & 07777U);
  facts.modified = std::chrono::sys_time<std::chrono::nanoseconds>(
      std::chrono::nanoseconds(static_cast<std::int64_t>(in.fixed(8))));
  facts.link_target = in.text();
  facts.etag = in.text();
  if (!is_word(facts.etag) || facts.link_target.find('\0') != std::string::npos) in.fail();
}

Error malformed() {
  return {ErrorCode::kIntegrity, "wire: malformed message: it is no list of what was found"};
}

}  // namespace

void LinePacker::begin(std::string_view path, TextEncoding encoding) {
  bytes_.assign(kLengthBytes, std::byte{0});
  put_text(bytes_, path);
  put_byte(bytes_, static_cast<std::uint8_t>(encoding));
}

void LinePacker::add(const LineView& line) {
  const bool context = line.column == 0;
  put_byte(bytes_, static_cast<std::uint8_t>((context ? kContext : 0U) | (line.cut ? kCut : 0U)));
  put_number(bytes_, line.line);
  if (!context) {
    put_number(bytes_, line.column);
    put_number(bytes_, line.submatch_count);
    for (std::size_t i = 0; i < line.submatch_count; ++i) {
      put_number(bytes_, line.submatches[i].offset);
      put_number(bytes_, line.submatches[i].length);
    }
  }
  if (line.cut) put_number(bytes_, line.text_offset);
  put_text(bytes_, line.text);
}

Bytes LinePacker::take() {
  mend(bytes_);
  return std::exchange(bytes_, Bytes());
}

void LinePacker::mend(Bytes& segment) {
  const std::size_t length = segment.size() - kLengthBytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    segment[i] = static_cast<std::byte>(length >> (8 * i));
  }
}

void pack_entry(Bytes& out, std::string_view path, FileType type, const FileInfo* facts) {
  put_byte(out, static_cast<std::uint8_t>(type));
  put_byte(out, facts != nullptr ? 1 : 0);
  put_text(out, path);
  if (facts == nullptr) return;
  put_number(out, facts->size);
  put_number(out, facts->mode);
  put_fixed(out, static_cast<std::uint64_t>(facts->modified.time_since_epoch().count()));
  put_text(out, facts->link_target);
  put_text(out, facts->etag);
}

Result<std::vector<GrepLine>> unpack_lines(ByteView payload) {
  std::vector<GrepLine> lines;
  Unpacker in(payload);
  std::size_t path_bytes = 0;
  while (!in.at_end()) unpack_segment(in, lines, path_bytes);
  if (in.wrong()) return malformed();
  return lines;
}

Result<std::vector<FindEntry>> unpack_entries(ByteView payload) {
  std::vector<FindEntry> entries;
  Unpacker in(payload);
  while (!in.at_end()) {
    FindEntry& entry = entries.emplace_back();
    entry.type = type_of(in.byte());
    const std::uint8_t has_facts = in.byte();
    entry.path = in.text();
    if (!is_path_below(entry.path) || has_facts > 1) in.fail();
    if (has_facts == 1) unpack_facts(in, entry);
  }
  if (in.wrong()) return malformed();
  return entries;
}

}  // namespace cove::wire
