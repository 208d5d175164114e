/// What is known of files: infos, pages, contents, lines, counts, changes.
#pragma once

#include <string>
#include <vector>

#include <cove/file_watch.hpp>
#include <cove/files.hpp>

#include "abi.hpp"

struct cove_file_info {
  cove::FileInfo info;
};

struct cove_file_page {
  explicit cove_file_page(cove::FilePage page);

  std::vector<cove_file_info> entries;
  std::string next;
};

struct cove_file_content {
  explicit cove_file_content(cove::FileContent read);

  cove_file_info info;
  std::string content_type;
  cove::Bytes bytes;
};

struct cove_line_slice {
  explicit cove_line_slice(cove::LineSlice read);

  cove::LineSlice slice;  ///< but for its info
  cove_file_info info;
};

struct cove_tree_counts {
  cove::TreeCounts counts;
};

struct cove_file_event {
  cove::FileEvent event;
};

struct cove_file_events {
  explicit cove_file_events(std::vector<cove::FileEvent> events);

  std::vector<cove_file_event> entries;
};
