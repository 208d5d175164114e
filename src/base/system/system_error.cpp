#include "base/system/system_error.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/system/descriptor_limit.hpp"

namespace cove::base {

ErrorCode code_of_errno(int error_number) noexcept {
  switch (error_number) {
    case ENOENT: return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY: return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::kPermissionDenied;
    case EXDEV: return ErrorCode::kPathEscape;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case E2BIG:
    case ENOEXEC: return ErrorCode::kInvalidArgument;
    case EISDIR:
    case ENOTDIR:
    case ENXIO:
    case ETXTBSY:
    case EBUSY: return ErrorCode::kFailedPrecondition;
    case ENOSPC:
    case EDQUOT:
    case ENFILE:
    case EMFILE:
    case ENOMEM: return ErrorCode::kQuotaExceeded;
    case EFBIG: return ErrorCode::kTooLarge;
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE: return ErrorCode::kUnavailable;
    case ETIMEDOUT: return ErrorCode::kTimeout;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorCode::kUnsupported;
    case EIO: return ErrorCode::kIntegrity;
    default: return ErrorCode::kInternal;
  }
}

Error system_error(int error_number, const std::string& what) {
  // strerrordesc_np, not strerror: it is thread safe and does not follow the host's locale.
  const char* words = ::strerrordesc_np(error_number);
  std::string text =
      what + ": " + (words != nullptr ? words : "error " + std::to_string(error_number));
  text += descriptor_remedy(error_number);
  return {code_of_errno(error_number), std::move(text)};
}

}  // namespace cove::base
