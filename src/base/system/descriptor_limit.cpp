#include "base/system/descriptor_limit.hpp"

#include <sys/resource.h>

namespace cove::base {

std::string descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "raise the limit of open descriptors";
  return "this process may have " + std::to_string(limit.rlim_cur) +
         " descriptors open: raise that (ulimit -n, or LimitNOFILE= of its service) to 1024 or "
         "more";
}

}  // namespace cove::base
