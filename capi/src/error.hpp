/// cove_error: an Error as the C ABI hands it out.
#pragma once

#include <memory>
#include <string>

#include <cove/error.hpp>

#include "abi.hpp"

/// Everything that a getter returns is made at once, so that reading it changes nothing.
struct cove_error {
  explicit cove_error(const cove::Error& source);

  cove::Error error;
  std::string description;
  std::unique_ptr<const cove_error> cause;
};

namespace cove::capi {

/// Makes an error for the caller. Never null: where memory is out it is the one that is always
/// there, which cove_error_free leaves alone.
cove_error* make_error(const Error& error) noexcept;

/// The error for "out of memory", made before memory can run out (cove_open asks for it).
cove_error* out_of_memory_error() noexcept;

/// Stores `error` where the caller wants it, else frees it, and returns its code; COVE_OK for null.
cove_status report(cove_error** out_error, cove_error* error) noexcept;

}  // namespace cove::capi
