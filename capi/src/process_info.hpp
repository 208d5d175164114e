/// cove_process_info, cove_process_list and cove_output_slice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cove/process.hpp>

#include "abi.hpp"
#include "exec_result.hpp"

struct cove_process_info {
  explicit cove_process_info(cove::ProcessInfo known);

  cove::ProcessInfo info;
  std::optional<cove_exec_result> result;  ///< once it has ended
};

struct cove_process_list {
  explicit cove_process_list(std::vector<cove::ProcessInfo> processes);

  std::vector<cove_process_info> entries;
};

struct cove_output_slice {
  cove::OutputSlice slice;
};
