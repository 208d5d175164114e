/// What searches give: lines, entries, summaries. Each is made at once, so that reading it changes
/// nothing; lines and entries that are borrowed for a callback are not copied.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <cove/search.hpp>

#include "abi.hpp"
#include "file_info.hpp"

struct cove_grep_line {
  const cove::GrepLine* line;
};

struct cove_grep_lines {
  explicit cove_grep_lines(std::span<const cove::GrepLine> lines);

  std::vector<cove_grep_line> entries;
};

struct cove_find_entry {
  const cove::FindEntry* entry;
  std::optional<cove_file_info> facts;
};

struct cove_find_entries {
  explicit cove_find_entries(std::span<const cove::FindEntry> found);

  std::vector<cove_find_entry> entries;
};

struct cove_search_summary {
  cove::SearchSummary summary;
};

struct cove_grep_result {
  explicit cove_grep_result(cove::GrepResult found);

  std::vector<cove::GrepLine> found_lines;
  cove_grep_lines lines;
  cove_search_summary summary;
};

struct cove_find_result {
  explicit cove_find_result(cove::FindResult found);

  std::vector<cove::FindEntry> found_entries;
  cove_find_entries entries;
  cove_search_summary summary;
};
