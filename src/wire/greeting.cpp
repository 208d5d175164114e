#include "wire/greeting.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"
#include "wire/cbor.hpp"
#include "wire/fields.hpp"

namespace cove::wire {
namespace {

constexpr const char* kMagic = "cove";

/// What the other side says of itself goes into messages: short, and printable.
std::string shown(const std::string& text) {
  std::string out = text.substr(0, base::cut_before(text, 64));
  if (!base::is_utf8(out)) return "(not text)";
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return out;
}

Result<void> same(const char* what, const std::string& expected, const std::string& found) {
  if (expected == found) return ok();
  return Error(ErrorCode::kIntegrity, std::string("the connection reaches another ") + what +
                                          ": '" + shown(found) + "' instead of '" +
                                          shown(expected) + "'");
}

std::string range(const Greeting& greeting) {
  return std::to_string(greeting.min_version) + " to " + std::to_string(greeting.max_version);
}

}  // namespace

Bytes encode_greeting(const Greeting& greeting) {
  return encode_cbor({{"protocol", kMagic},
                      {"min", greeting.min_version},
                      {"max", greeting.max_version},
                      {"build", greeting.build_id},
                      {"capabilities", greeting.capabilities},
                      {"deployment", greeting.deployment},
                      {"sandbox", greeting.sandbox},
                      {"generation", greeting.generation},
                      {"epoch", greeting.epoch},
                      {"auth", greeting.auth}});
}

Result<Greeting> parse_greeting(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  if (fields.text("protocol") != kMagic) fields.fail("it is no greeting of this protocol");
  Greeting greeting;
  greeting.min_version = fields.small("min");
  greeting.max_version = fields.small("max");
  greeting.build_id = fields.text("build");
  greeting.capabilities = fields.text_list("capabilities");
  greeting.deployment = fields.text("deployment");
  greeting.sandbox = fields.text("sandbox");
  greeting.generation = fields.text("generation");
  greeting.epoch = fields.number("epoch");
  greeting.auth = fields.text("auth");
  COVE_TRY_VOID(fields.result());
  return greeting;
}

Result<std::uint32_t> common_version(const Greeting& ours, const Greeting& theirs) {
  const std::uint32_t highest = std::min(ours.max_version, theirs.max_version);
  const std::uint32_t lowest = std::max(ours.min_version, theirs.min_version);
  if (highest >= lowest && lowest > 0) return highest;
  return Error(ErrorCode::kUnsupported, "no protocol version in common: this side has " +
                                            range(ours) + ", the other " + range(theirs));
}

Result<void> check_identity(const Greeting& expected, const Greeting& theirs) {
  COVE_TRY_VOID(same("deployment", expected.deployment, theirs.deployment));
  COVE_TRY_VOID(same("sandbox", expected.sandbox, theirs.sandbox));
  COVE_TRY_VOID(same("generation", expected.generation, theirs.generation));
  if (expected.epoch == theirs.epoch) return ok();
  return Error(ErrorCode::kConflict, "epoch " + std::to_string(theirs.epoch) +
                                         " answers instead of epoch " +
                                         std::to_string(expected.epoch));
}

}  // namespace cove::wire
