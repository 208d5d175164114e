#include "base/system/descriptor_limit.hpp"

#include <cerrno>

#include <sys/resource.h>

namespace cove::base {

std::string descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "raise the limit of open descriptors";
  return "this process may have " + std::to_string(limit.rlim_cur) +
         " descriptors open: raise that (ulimit -n, or LimitNOFILE= of its service) to 1024 or "
         "more";
}

std::string descriptor_remedy(int error_number) {
  if (error_number == EMFILE) return "; " + descriptor_limit();
  if (error_number != ENFILE) return {};
  return "; all descriptors of the machine are in use: end what holds many, or raise fs.file-max";
}

}  // namespace cove::base
