/// How the puppet answers: at once, or when the test delivers.
#pragma once

#include <new>
#include <stdexcept>
#include <utility>

#include "fake_facade.hpp"

namespace fake {

/// The answer to any call: what the test set, else `value`.
template <class T>
cove::Result<T> reply(T value) {
  if (world().out_of_memory) throw std::bad_alloc();
  if (world().throws) throw std::runtime_error("the facade broke");
  if (world().fail_with) return *world().fail_with;
  return value;
}

inline cove::Result<void> reply() {
  COVE_TRY_VOID(reply(0));
  return {};
}

template <class T>
void later(std::function<void(cove::Result<T>)> done, T value) {
  world().pending.push_back([done = std::move(done), value] { done(reply(value)); });
}

inline void later(std::function<void(cove::Result<void>)> done) {
  world().pending.push_back([done = std::move(done)] { done(reply()); });
}

}  // namespace fake
