#include "values.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace cove_node {
namespace {

napi_valuetype type_of(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  if (value != nullptr) napi_typeof(env, value, &type);
  return type;
}

bool is_tail(unsigned char byte) noexcept { return (byte & 0xC0U) == 0x80U; }

}  // namespace

napi_value undefined_value(napi_env env) {
  napi_value value = nullptr;
  napi_get_undefined(env, &value);
  return value;
}

napi_value null_value(napi_env env) {
  napi_value value = nullptr;
  napi_get_null(env, &value);
  return value;
}

napi_value number_value(napi_env env, double number) {
  napi_value value = nullptr;
  napi_create_double(env, number, &value);
  return value;
}

napi_value truth_value(napi_env env, bool truth) {
  napi_value value = nullptr;
  napi_get_boolean(env, truth, &value);
  return value;
}

napi_value text_value(napi_env env, std::string_view text) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, text.data(), text.size(), &value);
  return value;
}

napi_value bytes_value(napi_env env, const void* data, std::size_t size) {
  napi_value value = nullptr;
  napi_create_buffer_copy(env, size, data, nullptr, &value);
  return value;
}

std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  const auto tail = [&](std::size_t i) { return is_tail(static_cast<unsigned char>(byte(i))); };
  if (first >= 0xC2U && first <= 0xDFU) return tail(1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    if (first == 0xE0U && byte(1) < 0xA0U) return 0;  // longer than needed
    if (first == 0xEDU && byte(1) > 0x9FU) return 0;  // half of a surrogate pair
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    if (first == 0xF0U && byte(1) < 0x90U) return 0;
    if (first == 0xF4U && byte(1) > 0x8FU) return 0;  // past U+10FFFF
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

Object::Object(napi_env env) : env_(env) { napi_create_object(env, &object_); }

Object& Object::set(const char* name, napi_value value) {
  if (object_ != nullptr && value != nullptr) {
    napi_set_named_property(env_, object_, name, value);
  }
  return *this;
}

Object& Object::text(const char* name, std::string_view value) {
  return set(name, text_value(env_, value));
}

Object& Object::number(const char* name, double value) {
  return set(name, number_value(env_, value));
}

Object& Object::truth(const char* name, bool value) { return set(name, truth_value(env_, value)); }

Object& Object::bytes(const char* name, const void* data, std::size_t size) {
  return set(name, bytes_value(env_, data, size));
}

Object& Object::path(const char* name, const std::string& value) {
  text(name, value);
  if (is_utf8(value)) return *this;
  return bytes((std::string(name) + "Bytes").c_str(), value.data(), value.size());
}

List::List(napi_env env) : env_(env) { napi_create_array(env, &array_); }

void List::add(napi_value value) {
  if (array_ != nullptr && value != nullptr) napi_set_element(env_, array_, size_++, value);
}

const char* const* Texts::data() {
  pointers_.clear();
  for (const std::string& text : texts_) pointers_.push_back(text.c_str());
  return pointers_.data();
}

std::optional<std::string> read_text(napi_env env, napi_value value) {
  if (type_of(env, value) != napi_string) {
    const auto bytes = read_bytes(env, value);
    if (!bytes) return std::nullopt;
    return std::string(static_cast<const char*>(bytes->data), bytes->size);
  }
  std::size_t size = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &size) != napi_ok) return std::nullopt;
  std::string text(size, '\0');
  napi_get_value_string_utf8(env, value, text.data(), size + 1, &size);
  return text;
}

bool is_function(napi_env env, napi_value value) { return type_of(env, value) == napi_function; }

std::optional<BytesView> read_bytes(napi_env env, napi_value value) {
  bool is_buffer = false;
  if (value == nullptr || napi_is_buffer(env, value, &is_buffer) != napi_ok || !is_buffer) {
    return std::nullopt;
  }
  void* data = nullptr;
  BytesView view;
  if (napi_get_buffer_info(env, value, &data, &view.size) != napi_ok) return std::nullopt;
  view.data = data == nullptr ? "" : data;
  return view;
}

std::optional<double> read_number(napi_env env, napi_value value) {
  double number = 0;
  if (value == nullptr || napi_get_value_double(env, value, &number) != napi_ok) {
    return std::nullopt;
  }
  return number;
}

std::optional<Texts> read_texts(napi_env env, napi_value value) {
  bool is_array = false;
  if (value == nullptr || napi_is_array(env, value, &is_array) != napi_ok || !is_array) {
    return std::nullopt;
  }
  std::uint32_t count = 0;
  napi_get_array_length(env, value, &count);
  Texts texts;
  for (std::uint32_t i = 0; i < count; ++i) {
    napi_value item = nullptr;
    napi_get_element(env, value, i, &item);
    auto text = read_text(env, item);
    if (!text) return std::nullopt;
    texts.add(*std::move(text));
  }
  return texts;
}

std::uint64_t whole_number(double value) noexcept {
  constexpr double kTooLarge = 18446744073709551616.0;  // 2 to the 64th
  if (std::isnan(value) || value <= 0) return 0;
  if (value >= kTooLarge) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(value);
}

napi_value Fields::at(const char* name) const {
  napi_value value = nullptr;
  if (type_of(env_, object_) != napi_object) return nullptr;
  if (napi_get_named_property(env_, object_, name, &value) != napi_ok) return nullptr;
  return value;
}

std::uint64_t Fields::u64(const char* name) const {
  return whole_number(read_number(env_, at(name)).value_or(0));
}

std::uint32_t Fields::u32(const char* name) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t value = u64(name);
  return static_cast<std::uint32_t>(value < kMost ? value : kMost);
}

std::int64_t Fields::nanoseconds(const char* name) const {
  constexpr double kMost = 9.2e12;  // in milliseconds: the year 2261
  const auto value = read_number(env_, at(name));
  if (!value || std::isnan(*value)) return 0;
  const double milliseconds = std::fmin(std::fmax(*value, -kMost), kMost);
  const double whole = std::floor(milliseconds);
  const auto rest = static_cast<std::int64_t>(std::llround((milliseconds - whole) * 1e6));
  const std::int64_t result = static_cast<std::int64_t>(whole) * 1'000'000 + rest;
  return result == 0 ? 1 : result;
}

bool Fields::truth(const char* name) const {
  bool value = false;
  napi_value const member = at(name);
  if (member != nullptr) napi_get_value_bool(env_, member, &value);
  return value;
}

std::optional<std::string> Fields::text(const char* name) const {
  return read_text(env_, at(name));
}

BytesView Fields::bytes(const char* name) const {
  return read_bytes(env_, at(name)).value_or(BytesView{});
}

Texts Fields::texts(const char* name) const { return read_texts(env_, at(name)).value_or(Texts{}); }

}  // namespace cove_node
