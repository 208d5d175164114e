/// A struct of functions that the host gave, with what ends it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "callbacks.hpp"
#include "parts/rules.hpp"

namespace cove::capi {

/// `user` is the struct's `self`; its end calls the function that ends it, once.
template <class Slots>
struct Given {
  Slots slots;
  UserData user;
};

template <class Slots>
using GivenPtr = std::shared_ptr<Given<Slots>>;

/// Takes a struct over: from the moment that it can be read, what ends it (`end_of`) is ours to
/// call, whatever else is wrong with it. Null for NULL.
template <class Slots>
Result<GivenPtr<Slots>> take_given(const Slots* theirs, cove_drop_fn Slots::* end_of) {
  if (theirs == nullptr) return GivenPtr<Slots>();
  const bool readable = is_readable(rule_of<Slots>(), theirs);
  UserData user(readable ? theirs->self : nullptr, readable ? theirs->*end_of : nullptr);
  COVE_TRY(Slots slots, read_options(theirs));
  return std::make_shared<Given<Slots>>(Given<Slots>{slots, std::move(user)});
}

/// kInvalidArgument where a required slot is NULL.
template <class Function>
Result<void> require_slot(Function slot, const char* structure, const char* name) {
  if (slot != nullptr) return ok();
  return Error(ErrorCode::kInvalidArgument,
               std::string(structure) + "." + name + " is NULL, and required");
}

}  // namespace cove::capi
