/// cove_cancel: a stop source that the host holds.
#pragma once

#include <stop_token>

#include "abi.hpp"

struct cove_cancel {
  std::stop_source source;
};
