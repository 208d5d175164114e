/// The guard: the one place where an exception ends, so that none crosses the C ABI.
#pragma once

#include <utility>

#include <cove/result.hpp>

#include "error.hpp"

namespace cove::capi {

/// The exception that is being handled, as an error for the caller. Called in a catch block only.
cove_error* current_exception_as_error() noexcept;

/// Runs `body`, which returns Result<void>. Null on success, else an error that the caller owns.
template <class Body>
cove_error* run(Body&& body) noexcept {
  try {
    const Result<void> result = std::forward<Body>(body)();
    return result ? nullptr : make_error(result.error());
  } catch (...) {
    return current_exception_as_error();
  }
}

/// The body of every C function that can fail.
template <class Body>
cove_status guarded(cove_error** out_error, Body&& body) noexcept {
  if (out_error != nullptr) *out_error = nullptr;
  return report(out_error, run(std::forward<Body>(body)));
}

/// kInvalidArgument where a required pointer is NULL. `name` is the parameter's.
Result<void> require(const void* pointer, const char* name);
template <class T>
Result<void> require(T* const* pointer, const char* name) {
  return require(static_cast<const void*>(pointer), name);
}

/// Checks an out parameter and sets it to NULL, before anything else can fail.
template <class T>
Result<void> clear(T** out, const char* name) {
  if (out != nullptr) *out = nullptr;
  return require(out, name);
}

}  // namespace cove::capi
