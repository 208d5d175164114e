#include "wire/cbor.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "wire/frame.hpp"

namespace cove::wire {
namespace {

enum Major : unsigned {
  kUnsigned = 0,
  kNegative = 1,
  kByteString = 2,
  kTextString = 3,
  kArray = 4,
  kMap = 5,
  kTag = 6,
  kSimple = 7,
};

/// Walks the structure without recursion and without memory of its own size, so that nothing that
/// it lets pass can make the real decoder overflow a stack or reserve what is not there.
class Checker {
 public:
  explicit Checker(ByteView bytes) : bytes_(bytes) {}

  const char* run() {
    open_[0] = {1, false, false};
    depth_ = 0;
    for (;;) {
      while (open_[depth_].left == 0) {
        if (depth_ == 0) return at_ == bytes_.size() ? nullptr : "bytes after the item";
        --depth_;
      }
      if (const char* wrong = item()) return wrong;
    }
  }

 private:
  struct Level {
    std::uint64_t left;  ///< items that are still to come
    bool map;
    bool value;  ///< of a map: the next item is a value
  };

  const char* item() {
    if (at_ == bytes_.size()) return "it is cut short";
    const unsigned lead = std::to_integer<unsigned>(bytes_[at_++]);
    const unsigned major = lead >> 5;
    const auto argument = read_argument(lead & 31U);
    if (!argument) return "a length that is cut short, indefinite or reserved";
    Level& level = open_[depth_];
    if (level.map && !level.value && major != kTextString) return "a key that is no text";
    level.value = level.map && !level.value;
    --level.left;
    switch (major) {
      case kUnsigned: return nullptr;
      case kNegative: return *argument >> 63 == 0 ? nullptr : "a number that is too small";
      case kByteString:
      case kTextString: return skip(*argument);
      case kArray: return enter(*argument, false);
      case kMap: return enter(*argument, true);
      case kTag: return "a tag";
      default: return simple(lead & 31U);
    }
  }

  std::optional<std::uint64_t> read_argument(unsigned info) {
    if (info < 24) return info;
    if (info > 27) return std::nullopt;
    const std::size_t size = std::size_t{1} << (info - 24);
    if (bytes_.size() - at_ < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | std::to_integer<unsigned>(bytes_[at_++]);
    }
    return value;
  }

  const char* skip(std::uint64_t length) {
    if (length > bytes_.size() - at_) return "a string that is cut short";
    at_ += static_cast<std::size_t>(length);
    return nullptr;
  }

  const char* enter(std::uint64_t count, bool map) {
    if (depth_ == kMaxCborDepth) return "more than 16 levels";
    if (count > bytes_.size() - at_) return "a list that is cut short";
    open_[++depth_] = {map ? 2 * count : count, map, false};
    return nullptr;
  }

  static const char* simple(unsigned info) {
    const bool known = (info >= 20 && info <= 22) || (info >= 25 && info <= 27);
    return known ? nullptr : "a simple value that is not known";
  }

  ByteView bytes_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::array<Level, kMaxCborDepth + 1> open_{};
};

Error malformed(const std::string& what) {
  return {ErrorCode::kIntegrity, "wire: not an acceptable control payload: " + what};
}

}  // namespace

Result<nlohmann::json> decode_cbor(ByteView bytes) {
  if (bytes.size() > kMaxControlBytes) return malformed("more than 64 KiB");
  if (const char* wrong = Checker(bytes).run()) return malformed(wrong);
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());  // SAFETY: bytes as bytes
  auto value = nlohmann::json::from_cbor(data, data + bytes.size(), true, false);
  if (value.is_discarded()) return malformed("it is not CBOR");
  return value;
}

Bytes encode_cbor(const nlohmann::json& value) {
  const std::vector<std::uint8_t> encoded = nlohmann::json::to_cbor(value);
  const auto bytes = std::as_bytes(std::span(encoded));
  return Bytes(bytes.begin(), bytes.end());
}

nlohmann::json byte_string(std::string_view bytes) {
  return nlohmann::json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

}  // namespace cove::wire
