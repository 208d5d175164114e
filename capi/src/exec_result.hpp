/// cove_exec_result: how a command ended, with what its getters need made at once.
#pragma once

#include <string>

#include <cove/exec.hpp>

#include "abi.hpp"

struct cove_exec_result {
  explicit cove_exec_result(cove::ExecResult ended);

  cove::ExecResult result;
  std::string out_text;  ///< only where something was dropped: else it is the head
  std::string err_text;
};
