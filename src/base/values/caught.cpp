#include "base/values/caught.hpp"

#include <exception>
#include <system_error>

#include "base/system/descriptor_limit.hpp"
#include "base/system/system_error.hpp"

namespace cove::base {

std::string caught_text() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

namespace {

/// What a machine that has no more of something makes the standard library throw: no fault of ours.
ErrorCode code_of(const std::error_code& thrown) noexcept {
  if (thrown.category() != std::system_category() && thrown.category() != std::generic_category()) {
    return ErrorCode::kInternal;
  }
  const ErrorCode code = code_of_errno(thrown.value());
  const bool is_want = code == ErrorCode::kQuotaExceeded || code == ErrorCode::kUnavailable;
  return is_want ? code : ErrorCode::kInternal;
}

}  // namespace

Error caught_error() {
  try {
    throw;
  } catch (const std::system_error& error) {
    const ErrorCode code = code_of(error.code());
    std::string text = std::string("unexpected: ") + error.what();
    if (code == ErrorCode::kQuotaExceeded) text += descriptor_remedy(error.code().value());
    return {code, std::move(text)};
  } catch (...) {
    return {ErrorCode::kInternal, "unexpected: " + caught_text()};
  }
}

}  // namespace cove::base
