#include "guard.hpp"

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/values/caught.hpp"

namespace cove::capi {

cove_error* current_exception_as_error() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory_error();
  } catch (const std::system_error&) {
    try {
      return new cove_error(base::caught_error());
    } catch (...) {
      return out_of_memory_error();
    }
  } catch (const std::exception& e) {
    try {
      return new cove_error(
          Error(ErrorCode::kInternal, std::string("a fault in Cove: ") + e.what()));
    } catch (...) {
      return out_of_memory_error();
    }
  } catch (...) {
    try {
      return new cove_error(Error(ErrorCode::kInternal, "a fault in Cove: an unknown exception"));
    } catch (...) {
      return out_of_memory_error();
    }
  }
}

cove_error* make_error(const Error& error) noexcept {
  try {
    return new cove_error(error);
  } catch (...) {
    return current_exception_as_error();
  }
}

Result<void> require(const void* pointer, const char* name) {
  if (pointer != nullptr) return ok();
  return Error(ErrorCode::kInvalidArgument, std::string(name) + " is NULL");
}

}  // namespace cove::capi
