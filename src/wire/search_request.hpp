/// The requests that search, and what ends their answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include <cove/bytes.hpp>
#include <cove/guest_files.hpp>
#include <cove/result.hpp>
#include <cove/search.hpp>

#include "wire/fields.hpp"

namespace cove::wire {

/// What both kinds of search begin with.
struct SearchStart {
  GuestPath path;
  std::optional<std::chrono::milliseconds> time;  ///< after which it ends with what it has
  std::uint64_t credit = 0;
};

struct GrepRequest {
  SearchStart start;
  GrepQuery query;
};

struct FindRequest {
  SearchStart start;
  FindQuery query;
};

/// The fields of a request's body.
nlohmann::json to_fields(const GrepRequest& request);
nlohmann::json to_fields(const FindRequest& request);

/// Read what to_fields made; errors stay in `fields`.
GrepRequest read_grep(Fields& fields);
FindRequest read_find(Fields& fields);

/// The answer that ends a search.
Bytes encode_search_summary(const SearchSummary& summary);
Result<SearchSummary> parse_search_summary(ByteView payload);

}  // namespace cove::wire
