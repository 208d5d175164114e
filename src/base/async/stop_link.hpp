/// StopLink: as long as it lives, a stop that is asked for here is asked for there too. Two of them
/// make one token of two.
#pragma once

#include <stop_token>

namespace cove::base {

struct PassStopOn {
  std::stop_source to;
  void operator()() { to.request_stop(); }
};
using StopLink = std::stop_callback<PassStopOn>;

}  // namespace cove::base
