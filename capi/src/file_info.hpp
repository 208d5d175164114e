/// cove_file_info and cove_file_page.
#pragma once

#include <string>
#include <vector>

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
