#include "wire/fields.hpp"

#include <algorithm>
#include <limits>

#include "wire/answer_path.hpp"
#include "wire/cbor.hpp"

namespace cove::wire {
namespace {

const nlohmann::json& empty_map() {
  static const nlohmann::json map = nlohmann::json::object();
  return map;
}

std::string as_string(const nlohmann::json& value) {
  const auto& binary = value.get_binary();
  return {binary.begin(), binary.end()};
}

}  // namespace

Fields::Fields(const nlohmann::json& map) : map_(&map) {
  if (!map.is_object()) {
    map_ = &empty_map();
    wrong_ = "it is not a map";
  }
}

const nlohmann::json* Fields::find(const char* name) const {
  const auto found = map_->find(name);
  return found == map_->end() || found->is_null() ? nullptr : &*found;
}

void Fields::fail(const std::string& what) {
  if (!wrong_) wrong_ = what;
}

Result<void> Fields::result() const {
  if (wrong_) return Error(ErrorCode::kIntegrity, "wire: malformed message: " + *wrong_);
  return ok();
}

std::uint64_t Fields::number(const char* name, std::uint64_t fallback) {
  const auto* value = find(name);
  if (value == nullptr) return fallback;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  fail(std::string(name) + " is not a number from 0");
  return fallback;
}

std::uint32_t Fields::small(const char* name, std::uint32_t fallback) {
  const std::uint64_t value = number(name, fallback);
  if (value <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(value);
  fail(std::string(name) + " is too large");
  return fallback;
}

std::int64_t Fields::signed_number(const char* name, std::int64_t fallback) {
  const auto* value = find(name);
  if (value == nullptr) return fallback;
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<std::uint64_t>() >> 63 != 0);
  if (fits) return value->get<std::int64_t>();
  fail(std::string(name) + " is not an integer");
  return fallback;
}

bool Fields::flag(const char* name, bool fallback) {
  const auto* value = find(name);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  fail(std::string(name) + " is not true or false");
  return fallback;
}

std::string Fields::text(const char* name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  fail(std::string(name) + " is not a text");
  return {};
}

std::string Fields::bytes(const char* name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (value->is_binary()) return as_string(*value);
  fail(std::string(name) + " is not a byte string");
  return {};
}

bool is_word(std::string_view text) {
  constexpr std::size_t kMostBytes = 200;
  return text.size() <= kMostBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string Fields::word(const char* name) {
  std::string value = text(name);
  if (is_word(value)) return value;
  fail(std::string(name) + " is not a short word");
  return {};
}

const nlohmann::json* Fields::list(const char* name) {
  const auto* value = find(name);
  if (value == nullptr || value->is_array()) return value;
  fail(std::string(name) + " is not a list");
  return nullptr;
}

std::vector<std::string> Fields::byte_list(const char* name) {
  std::vector<std::string> list;
  const auto* value = find(name);
  if (value == nullptr) return list;
  if (!value->is_array()) fail(std::string(name) + " is not a list");
  if (!value->is_array()) return list;
  for (const auto& entry : *value) {
    if (!entry.is_binary()) fail(std::string(name) + " holds more than byte strings");
    if (entry.is_binary()) list.push_back(as_string(entry));
  }
  return list;
}

std::vector<std::string> Fields::text_list(const char* name) {
  std::vector<std::string> list;
  const auto* value = find(name);
  if (value == nullptr) return list;
  if (!value->is_array()) fail(std::string(name) + " is not a list");
  if (!value->is_array()) return list;
  for (const auto& entry : *value) {
    if (!entry.is_string()) fail(std::string(name) + " holds more than texts");
    if (entry.is_string()) list.push_back(entry.get<std::string>());
  }
  return list;
}

Fields Fields::inner(const char* name) {
  const auto* value = find(name);
  return Fields(value == nullptr ? empty_map() : *value);
}

void adopt(Fields& outer, const Fields& inner) {
  if (const auto result = inner.result(); !result) outer.fail(result.error().message());
}

nlohmann::json to_fields(const FileInfo& info) {
  nlohmann::json map = {{"path", byte_string(info.path)},
                        {"type", static_cast<unsigned>(info.type)},
                        {"size", info.size},
                        {"mode", info.mode},
                        {"mtime", info.modified.time_since_epoch().count()}};
  if (info.type == FileType::kSymlink) map["target"] = byte_string(info.link_target);
  if (!info.etag.empty()) map["etag"] = info.etag;
  if (info.unreadable) map["unreadable"] = true;
  return map;
}

FileInfo read_file_info(Fields& fields) {
  FileInfo info;
  info.path = read_answer_path(fields, "path");
  const auto type = fields.small("type", 4);
  // A newer agent's type is "other" to this host.
  info.type = type >= 1 && type <= 3 ? static_cast<FileType>(type) : FileType::kOther;
  info.size = fields.number("size");
  info.mode = fields.small("mode") & 07777U;
  info.modified = std::chrono::sys_time<std::chrono::nanoseconds>(
      std::chrono::nanoseconds(fields.signed_number("mtime")));
  info.link_target = fields.bytes("target");
  if (info.link_target.find('\0') != std::string::npos) fields.fail("target has a NUL");
  info.etag = fields.word("etag");
  info.unreadable = fields.flag("unreadable");
  return info;
}

}  // namespace cove::wire
