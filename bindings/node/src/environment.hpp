/// What one environment (the main thread, a worker) has: never shared with another.
#pragma once

#include <array>
#include <memory>
#include <string>

#include <node_api.h>

#include "library.hpp"
#include "live.hpp"
#include "mailbox.hpp"

namespace cove_node {

/// On the environment's thread; what its pointers lead to may be used as they say.
struct Environment {
  napi_env env = nullptr;
  LibraryPtr library;  // null until load()
  MailboxPtr mailbox;
  std::shared_ptr<Live> live;

  // Of load(): functions of TypeScript that make objects of what C gives.
  napi_ref make_error = nullptr;        // (code, message, description, ...)
  napi_ref make_exec_result = nullptr;  // (outcome, code, shellCode, ...)

  /// Calls one of them. Null where it threw.
  template <std::size_t count>
  napi_value make(napi_ref maker, const std::array<napi_value, count>& arguments) const {
    return make(maker, arguments.data(), count);
  }
  napi_value make(napi_ref maker, const napi_value* arguments, std::size_t count) const;

  /// Makes it the instance data. False where Node refuses; an exception is pending then.
  static bool install(napi_env env);

  /// Null before install.
  static Environment* of(napi_env env);
};

/// An error of the library as a CoveError; `error` stays the caller's. Null where making it threw.
napi_value error_value(const Environment& environment, const cove_error* error);

/// A CoveError that did not come from the library.
napi_value error_value(const Environment& environment, cove_status code,
                       const std::string& message);

}  // namespace cove_node
