/// Reads the fields of a decoded map: unknown fields are passed over, a missing one has a default,
/// one of a wrong type makes the whole message wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <cove/files.hpp>
#include <cove/result.hpp>

namespace cove::wire {

class Fields {
 public:
  /// Borrows `map`, which may be anything.
  explicit Fields(const nlohmann::json& map);

  bool has(const char* name) const { return find(name) != nullptr; }
  std::uint64_t number(const char* name, std::uint64_t fallback = 0);
  std::uint32_t small(const char* name, std::uint32_t fallback = 0);
  std::int64_t signed_number(const char* name, std::int64_t fallback = 0);
  bool flag(const char* name, bool fallback = false);
  std::string text(const char* name);
  std::string bytes(const char* name);

  /// A short text of printable ASCII: a media type, an etag.
  std::string word(const char* name);

  /// A list; null where there is none.
  const nlohmann::json* list(const char* name);
  std::vector<std::string> byte_list(const char* name);
  std::vector<std::string> text_list(const char* name);

  /// A map within; an empty one where there is none.
  Fields inner(const char* name);

  /// Marks the message as wrong.
  void fail(const std::string& what);

  /// kIntegrity: some field was wrong; says which.
  Result<void> result() const;

 private:
  const nlohmann::json* find(const char* name) const;

  const nlohmann::json* map_;
  std::optional<std::string> wrong_;
};

/// Whether a text is what Fields::word takes.
bool is_word(std::string_view text);

/// Takes the errors of `inner` over.
void adopt(Fields& outer, const Fields& inner);

nlohmann::json to_fields(const FileInfo& info);

/// Reads what to_fields made; errors stay in `fields`.
FileInfo read_file_info(Fields& fields);

}  // namespace cove::wire
