// The stable names of enumerators, as JSON, logs and documents show them.
#include <cove/error.hpp>
#include <cove/version.hpp>

namespace cove {

std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kAlreadyExists: return "already_exists";
    case ErrorCode::kPermissionDenied: return "permission_denied";
    case ErrorCode::kPathEscape: return "path_escape";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kFailedPrecondition: return "failed_precondition";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kTooLarge: return "too_large";
    case ErrorCode::kQuotaExceeded: return "quota_exceeded";
    case ErrorCode::kIntegrity: return "integrity";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kProvider: return "provider";
    case ErrorCode::kInternal: return "internal";
  }
  return "unknown";
}

#define COVE_TEXT2(x) #x
#define COVE_TEXT(x) COVE_TEXT2(x)
std::string_view version() noexcept {
  return COVE_TEXT(COVE_VERSION_MAJOR) "." COVE_TEXT(COVE_VERSION_MINOR) "." COVE_TEXT(
      COVE_VERSION_PATCH);
}

}  // namespace cove
