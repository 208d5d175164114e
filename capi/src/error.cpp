#include "error.hpp"

#include <new>

// NOLINTNEXTLINE(misc-no-recursion): a chain of causes is as long as the layers are deep
cove_error::cove_error(const cove::Error& source) : error(source), description(source.describe()) {
  if (source.cause() != nullptr) cause = std::make_unique<const cove_error>(*source.cause());
}

namespace cove::capi {

cove_error* out_of_memory_error() noexcept {
  // Never freed: a host may hold it for as long as it likes.
  static cove_error* const error =
      // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): cove_open asks, while there is memory
      new cove_error(Error(ErrorCode::kUnavailable, "the process is out of memory"));
  return error;
}

cove_status report(cove_error** out_error, cove_error* error) noexcept {
  if (error == nullptr) return COVE_OK;
  const cove_status status = cove_error_code(error);
  if (out_error != nullptr) {
    *out_error = error;
  } else {
    cove_error_free(error);
  }
  return status;
}

}  // namespace cove::capi

extern "C" {

const char* cove_status_name(cove_status status) {
  if (status == COVE_OK) return "ok";
  if (status < COVE_INVALID_ARGUMENT || status > COVE_INTERNAL) return "unknown";
  // The names are literals, so they end with NUL.
  return cove::name_of(static_cast<cove::ErrorCode>(status)).data();
}

cove_status cove_error_code(const cove_error* error) {
  return error == nullptr ? COVE_OK : static_cast<cove_status>(error->error.code());
}

const char* cove_error_message(const cove_error* error) {
  return error == nullptr ? "" : error->error.message().c_str();
}

const char* cove_error_describe(const cove_error* error) {
  return error == nullptr ? "" : error->description.c_str();
}

int64_t cove_error_retry_after_ms(const cove_error* error) {
  if (error == nullptr) return -1;
  const auto delay = error->error.retry_after();
  return delay ? static_cast<int64_t>(delay->count()) : -1;
}

const cove_error* cove_error_cause(const cove_error* error) {
  return error == nullptr ? nullptr : error->cause.get();
}

size_t cove_error_context_count(const cove_error* error) {
  return error == nullptr ? 0 : error->error.context().size();
}

const char* cove_error_context_key(const cove_error* error, size_t index) {
  if (index >= cove_error_context_count(error)) return nullptr;
  return error->error.context()[index].first.c_str();
}

const char* cove_error_context_value(const cove_error* error, size_t index) {
  if (index >= cove_error_context_count(error)) return nullptr;
  return error->error.context()[index].second.c_str();
}

void cove_error_free(cove_error* error) {
  if (error != cove::capi::out_of_memory_error()) delete error;
}

}  // extern "C"
