#include "base/tar/tar_reader.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/text/display_text.hpp"

namespace cove::base {
namespace {

constexpr std::uint64_t kMostExtension = 1U << 20U;
constexpr std::uint64_t kMostSize = std::numeric_limits<std::int64_t>::max();

Error malformed(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "the upload is no tar archive: " + what};
}

std::string_view text_field(std::string_view block, std::size_t offset, std::size_t length) {
  const std::string_view field = block.substr(offset, length);
  return field.substr(0, std::min(field.find('\0'), field.size()));
}

/// A number in octal, or in GNU's base 256. None where it is neither or negative.
std::optional<std::uint64_t> number_field(std::string_view block, std::size_t offset,
                                          std::size_t length) {
  std::string_view field = block.substr(offset, length);
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(field.front()) & 0x80U) != 0) {
    if (static_cast<unsigned char>(field.front()) != 0x80U) return std::nullopt;
    for (const char c : field.substr(1)) {
      if (value >> 55U != 0) return std::nullopt;
      value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
  }
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  field = field.substr(0, std::min(field.find_first_of(std::string_view(" \0", 2)), field.size()));
  for (const char c : field) {
    if (c < '0' || c > '7' || value >> 60U != 0) return std::nullopt;
    value = value << 3U | static_cast<unsigned>(c - '0');
  }
  return value;
}

bool checksum_holds(std::string_view block) {
  const auto stored = number_field(block, 148, 8);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return stored && *stored == sum;
}

bool is_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

std::string path_of(std::string_view block) {
  const std::string name(text_field(block, 0, 100));
  const bool ustar = block.substr(257, 6) == std::string_view("ustar\0", 6);
  const std::string_view prefix = ustar ? text_field(block, 345, 155) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Time {
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
};

/// "-1.5", "1700000000.123456789": digits past the ninth are dropped.
std::optional<Time> time_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = decimal(text.substr(0, point));
  std::string fraction(text.substr(std::min(point + 1, text.size())).substr(0, 9));
  fraction.resize(9, '0');
  const auto part = decimal(fraction);
  if (!whole || !part || *whole > (1ULL << 40U)) return std::nullopt;
  Time time{static_cast<std::int64_t>(*whole), static_cast<std::int32_t>(*part)};
  if (!negative) return time;
  time.seconds = -time.seconds - (time.nanoseconds > 0 ? 1 : 0);
  if (time.nanoseconds > 0) time.nanoseconds = 1'000'000'000 - time.nanoseconds;
  return time;
}

}  // namespace

Result<void> TarReader::feed(ByteView bytes) {
  // SAFETY: bytes seen as characters.
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  any_ = any_ || !rest.empty();
  while (!rest.empty()) {
    COVE_TRY(const std::size_t taken, take(rest));
    rest.remove_prefix(taken);
  }
  return ok();
}

Result<void> TarReader::finish() const {
  if (state_ == State::kEnded) return ok();
  return malformed(any_ ? "it ends too early" : "it is empty");
}

/// Takes a part of the bytes, at least one.
Result<std::size_t> TarReader::take(std::string_view bytes) {
  switch (state_) {
    case State::kHeader: {
      const std::size_t part = std::min(kTarBlock - block_.size(), bytes.size());
      block_ += bytes.substr(0, part);
      if (block_.size() == kTarBlock) COVE_TRY_VOID(take_block());
      return part;
    }
    case State::kContent: {
      const std::size_t part = std::min<std::uint64_t>(left_, bytes.size());
      COVE_TRY_VOID(sink_.data(std::as_bytes(std::span(bytes.data(), part))));
      left_ -= part;
      if (left_ == 0) COVE_TRY_VOID(end_content());
      return part;
    }
    case State::kExtension: {
      const std::size_t part = std::min<std::uint64_t>(left_, bytes.size());
      extension_ += bytes.substr(0, part);
      left_ -= part;
      if (left_ == 0) COVE_TRY_VOID(end_extension());
      return part;
    }
    case State::kPadding: {
      const std::size_t part = std::min(padding_, bytes.size());
      padding_ -= part;
      if (padding_ == 0) state_ = State::kHeader;
      return part;
    }
    case State::kEnded: break;
  }
  if (!is_zero(bytes)) return malformed("something follows its end");
  return bytes.size();
}

Result<void> TarReader::take_block() {
  const std::string block = std::exchange(block_, std::string());
  if (is_zero(block)) {
    state_ = State::kEnded;
    return ok();
  }
  if (!checksum_holds(block)) return malformed("a header's checksum is wrong");
  const auto mode = number_field(block, 100, 8);
  const auto size = number_field(block, 124, 12);
  if (!mode || !size || *size > kMostSize) return malformed("a header's number is wrong");
  const char type = block[156];
  if (type == 'x' || type == 'g' || type == 'L' || type == 'K') return begin_extension(type, *size);
  TarEntry entry;
  entry.path = next_.has_path ? next_.path : path_of(block);
  entry.target = next_.has_target ? next_.target : std::string(text_field(block, 157, 100));
  entry.mode = static_cast<std::uint32_t>(*mode & 07777U);
  entry.size = next_.has_size ? next_.size : *size;
  // A time before 1970 in base 256 is as good as none.
  entry.seconds = static_cast<std::int64_t>(
      std::min<std::uint64_t>(number_field(block, 136, 12).value_or(0), 1ULL << 40U));
  if (next_.has_time) {
    entry.seconds = next_.seconds;
    entry.nanoseconds = next_.nanoseconds;
  }
  next_ = Extension();
  return begin_entry(type, std::move(entry));
}

Result<void> TarReader::begin_extension(char type, std::uint64_t size) {
  if (size > kMostExtension) {
    return Error(ErrorCode::kTooLarge, "the archive has a name or header of more than 1 MiB");
  }
  extension_.clear();
  extension_type_ = type;
  left_ = size;
  padding_ = tar_padding(size);
  state_ = State::kExtension;
  return size == 0 ? end_extension() : ok();
}

Result<void> TarReader::begin_entry(char type, TarEntry entry) {
  switch (type) {
    case '0':
    case '\0':
    case '7': entry.type = entry.path.ends_with('/') ? TarType::kDirectory : TarType::kFile; break;
    case '1': entry.type = TarType::kHardLink; break;
    case '2': entry.type = TarType::kSymlink; break;
    case '5': entry.type = TarType::kDirectory; break;
    case '3':
    case '4':
    case '6':
      return Error(ErrorCode::kUnsupported, quoted(entry.path) +
                                                " in the archive is a device or FIFO, which is "
                                                "never unpacked");
    default:
      return Error(ErrorCode::kUnsupported,
                   quoted(entry.path) + " in the archive is of a type that is not unpacked ('" +
                       escaped(std::string_view(&type, 1)) + "')");
  }
  // Old archives give links and directories the size of something that does not follow.
  if (entry.type != TarType::kFile) entry.size = 0;
  COVE_TRY_VOID(sink_.entry(entry));
  left_ = entry.size;
  padding_ = tar_padding(entry.size);
  state_ = State::kContent;
  return left_ == 0 ? end_content() : ok();
}

Result<void> TarReader::end_content() {
  state_ = padding_ > 0 ? State::kPadding : State::kHeader;
  return sink_.entry_end();
}

Result<void> TarReader::end_extension() {
  state_ = padding_ > 0 ? State::kPadding : State::kHeader;
  const std::string_view text(extension_);
  const std::string_view name = text.substr(0, std::min(text.find('\0'), text.size()));
  switch (extension_type_) {
    case 'L':
      next_.has_path = true;
      next_.path = name;
      return ok();
    case 'K':
      next_.has_target = true;
      next_.target = name;
      return ok();
    case 'x': return read_records(text);
    default: return ok();  // 'g': what it says of all files (a comment of git's) is not needed
  }
}

Result<void> TarReader::read_records(std::string_view records) {
  while (!records.empty()) {
    const std::size_t space = std::min(records.find(' '), records.size());
    const auto length = decimal(records.substr(0, space));
    if (!length || *length <= space + 2 || *length > records.size() ||
        records[*length - 1] != '\n') {
      return malformed("a pax header is malformed");
    }
    const std::string_view record = records.substr(space + 1, *length - space - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return malformed("a pax header is malformed");
    COVE_TRY_VOID(apply_record(record.substr(0, equals), record.substr(equals + 1)));
    records.remove_prefix(*length);
  }
  return ok();
}

Result<void> TarReader::apply_record(std::string_view key, std::string_view value) {
  if (key == "path") {
    next_.has_path = true;
    next_.path = value;
  } else if (key == "linkpath") {
    next_.has_target = true;
    next_.target = value;
  } else if (key == "size") {
    const auto size = decimal(value);
    if (!size || *size > kMostSize) return malformed("a pax header has a wrong size");
    next_.has_size = true;
    next_.size = *size;
  } else if (key == "mtime") {
    const auto time = time_of(value);
    if (!time) return malformed("a pax header has a wrong time");
    next_.has_time = true;
    next_.seconds = time->seconds;
    next_.nanoseconds = time->nanoseconds;
  } else if (key.starts_with("GNU.sparse.")) {
    return Error(ErrorCode::kUnsupported,
                 "the archive has a sparse file; pack it without --sparse");
  }
  return ok();
}

}  // namespace cove::base
