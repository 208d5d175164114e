/// JavaScript values: read as C takes them, and made of what C gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <node_api.h>

namespace cove_node {

napi_value undefined_value(napi_env env);
napi_value null_value(napi_env env);
napi_value number_value(napi_env env, double value);
napi_value truth_value(napi_env env, bool value);

/// UTF-8; bytes that are none become U+FFFD.
napi_value text_value(napi_env env, std::string_view text);

/// A Buffer with a copy of the bytes.
napi_value bytes_value(napi_env env, const void* data, std::size_t size);

bool is_utf8(std::string_view text) noexcept;

/// The length of the UTF-8 sequence at `at`; 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) noexcept;

/// A JavaScript object in the making. Where Node refuses a step, an exception is pending.
class Object {
 public:
  explicit Object(napi_env env);

  Object& set(const char* name, napi_value value);
  Object& text(const char* name, std::string_view value);
  Object& number(const char* name, double value);
  Object& truth(const char* name, bool value);
  Object& bytes(const char* name, const void* data, std::size_t size);

  /// `name` as text; where the bytes are no UTF-8 also `name`Bytes, a Buffer with them.
  Object& path(const char* name, const std::string& value);

  napi_value value() const noexcept { return object_; }

 private:
  napi_env env_;
  napi_value object_ = nullptr;
};

/// A list in the making.
class List {
 public:
  explicit List(napi_env env);
  void add(napi_value value);
  napi_value value() const noexcept { return array_; }

 private:
  napi_env env_;
  napi_value array_ = nullptr;
  std::uint32_t size_ = 0;
};

/// Bytes of a Buffer, which must stay reachable meanwhile.
struct BytesView {
  const void* data = nullptr;
  std::size_t size = 0;
};

/// Texts as C takes several.
class Texts {
 public:
  void add(std::string text) { texts_.push_back(std::move(text)); }
  std::size_t size() const noexcept { return texts_.size(); }

  /// Valid until a text is added.
  const char* const* data();

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

// What is of another type than asked for is read as nothing: TypeScript checks before.
std::optional<std::string> read_text(napi_env env, napi_value value);  // a string, or a Buffer
bool is_function(napi_env env, napi_value value);
std::optional<BytesView> read_bytes(napi_env env, napi_value value);
std::optional<double> read_number(napi_env env, napi_value value);
std::optional<Texts> read_texts(napi_env env, napi_value value);

/// Numbers below 0 and NaN are 0; what is too large (Infinity too) is the largest there is.
std::uint64_t whole_number(double value) noexcept;

/// The members of an options object, by name. What is not there is 0, false or NULL.
class Fields {
 public:
  Fields(napi_env env, napi_value object) noexcept : env_(env), object_(object) {}

  napi_value at(const char* name) const;
  std::uint64_t u64(const char* name) const;
  std::uint32_t u32(const char* name) const;
  bool truth(const char* name) const;

  /// Milliseconds since 1970 as nanoseconds, never 0, which C reads as any time; 0 where not there.
  std::int64_t nanoseconds(const char* name) const;

  /// `bit` where the member is true, else 0.
  std::uint32_t flag(const char* name, std::uint32_t bit) const { return truth(name) ? bit : 0; }

  std::optional<std::string> text(const char* name) const;
  BytesView bytes(const char* name) const;
  Texts texts(const char* name) const;

 private:
  napi_env env_;
  napi_value object_;
};

}  // namespace cove_node
