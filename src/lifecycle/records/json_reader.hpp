/// Reads the members of one JSON object strictly: each is there, has its type, and none is unknown.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <cove/ids.hpp>
#include <cove/result.hpp>

namespace cove::lifecycle {

/// Remembers the first thing that was wrong; what is read after it is empty.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& object, std::string where)
      : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) fail("is no object");
  }

  std::string text(const char* name) {
    const nlohmann::json* value = member(name);
    if (value == nullptr) return {};
    const auto* found = value->get_ptr<const std::string*>();
    if (found == nullptr) fail(std::string(name) + " is no text");
    return found == nullptr ? std::string() : *found;
  }

  template <class Id>
  Id id(const char* name) {
    return Id(text(name));
  }

  std::uint64_t number(const char* name,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const nlohmann::json* value = member(name);
    if (value == nullptr) return 0;
    const bool good = value->is_number_unsigned() && value->get<std::uint64_t>() <= most;
    if (!good) fail(std::string(name) + " is no number of its range");
    return good ? value->get<std::uint64_t>() : 0;
  }

  std::uint32_t small_number(const char* name) {
    return static_cast<std::uint32_t>(number(name, std::numeric_limits<std::uint32_t>::max()));
  }

  StoreTime time(const char* name) {
    // 2^53 ms lie far behind any clock and are exact in every JSON reader.
    return StoreTime(
        std::chrono::milliseconds(static_cast<std::int64_t>(number(name, std::uint64_t{1} << 53))));
  }

  template <class Enum, class Values>
  Enum name(const char* member_name, const Values& values) {
    const std::string found = text(member_name);
    for (const Enum value : values) {
      if (name_of(value) == found) return value;
    }
    fail(std::string(member_name) + " is unknown: '" + found + "'");
    return *values.begin();
  }

  /// The member's elements; empty where it is no array.
  std::vector<nlohmann::json> array(const char* name) {
    const nlohmann::json* value = member(name);
    if (value == nullptr) return {};
    if (!value->is_array()) fail(std::string(name) + " is no array");
    return value->is_array() ? std::vector<nlohmann::json>(value->begin(), value->end())
                             : std::vector<nlohmann::json>();
  }

  /// A member that may be null; null where it is.
  const nlohmann::json* optional(const char* name) {
    const nlohmann::json* value = member(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  const nlohmann::json* member(const char* name) {
    if (!object_.is_object()) return nullptr;
    ++read_;
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    fail(std::string(name) + " is missing");
    return nullptr;
  }

  void fail(const std::string& what) {
    if (error_.empty()) error_ = where_ + ": " + what;
  }

  void merge(const Result<void>& inner) {
    if (!inner && error_.empty()) error_ = inner.error().message();
  }

  /// The first error; also one where members are there that nobody read.
  Result<void> finish() {
    if (error_.empty() && object_.size() != read_) fail("has members of another version");
    if (error_.empty()) return {};
    return Error(ErrorCode::kIntegrity, error_);
  }

 private:
  const nlohmann::json& object_;
  std::string where_;
  std::string error_;
  std::size_t read_ = 0;
};

}  // namespace cove::lifecycle
