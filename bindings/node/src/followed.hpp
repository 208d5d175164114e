/// Work that C reports through callbacks while JavaScript follows it.
#pragma once

#include <memory>
#include <utility>

#include "call.hpp"
#include "pipe.hpp"

namespace cove_node {

/// The user_data of such callbacks: deleted by their `drop`.
template <class Item, class Out>
struct Follower {
  /// Where the start fails, `drop` comes before it returns; the call is still needed then.
  using Slot = std::shared_ptr<std::unique_ptr<Call<Out>>>;

  LibraryPtr library;
  std::shared_ptr<Pipe<Item>> pipe;  // null: nothing is collected
  Slot call;

  static Follower* of(void* user_data) { return static_cast<Follower*>(user_data); }
  static void drop(void* user_data) { delete of(user_data); }

  /// The end, after the last item.
  void finish(Out* out, cove_error* error) {
    if (pipe != nullptr) pipe->end();
    Call<Out>::complete(std::move(*call), out, error);
  }
};

/// Wakes `on_wake` for a new pipe; null where it is no function.
template <class Item>
std::shared_ptr<Pipe<Item>> make_pipe(const Environment& environment, napi_value on_wake,
                                      std::size_t limit = Pipe<Item>::kLimit) {
  if (!is_function(environment.env, on_wake)) return nullptr;
  return std::make_shared<Pipe<Item>>(std::make_shared<Waker>(environment, on_wake), limit);
}

/// The item that a take gives to JavaScript: null at the end, undefined where nothing is there yet.
template <class Item, class Add>
napi_value taken_value(napi_env env, const Taken<Item>& taken, Add add) {
  if (taken.is_end) return null_value(env);
  if (taken.items.empty()) return undefined_value(env);
  List list(env);
  for (const Item& item : taken.items) add(list, item);
  return list.value();
}

/// The same of items that are JSON: one text with a list.
inline napi_value taken_json(napi_env env, const Taken<std::string>& taken) {
  if (taken.is_end) return null_value(env);
  if (taken.items.empty()) return undefined_value(env);
  std::string list;
  for (const std::string& item : taken.items) (list += list.empty() ? '[' : ',') += item;
  return text_value(env, list += ']');
}

/// {run, done}: `done` is the promise of the end; `run` is undefined where nothing is collected.
inline napi_value run_value(napi_env env, napi_value run, napi_value done) {
  Object made(env);
  return made.set("run", run).set("done", done).value();
}

/// Starts such work: begin(&callbacks, &run->raw, &error), with the functions of `callbacks` set.
/// `keep` holds what must live to the end. Gives {run, done}.
template <class Item, class Out, class Run, class Callbacks, class Begin>
napi_value follow(Arguments& in, const std::shared_ptr<Keep>& keep, const std::shared_ptr<Run>& run,
                  Callbacks callbacks, Begin begin) {
  auto made = promise<Out>(in.environment(), keep);
  if (made.call == nullptr) return nullptr;
  using Its = Follower<Item, Out>;
  const auto slot = std::make_shared<std::unique_ptr<Call<Out>>>(std::move(made.call));
  callbacks.user_data = new Its{in.environment().library, run->pipe, slot};
  callbacks.drop = &Its::drop;
  cove_error* error = nullptr;
  if (begin(&callbacks, &run->raw, &error) != COVE_OK) {
    if (run->pipe != nullptr) run->pipe->end();
    Call<Out>::refuse(std::move(*slot), in.env(), error);
  }
  // What collects nothing is not steered either, so it needs no handle.
  napi_value const handle = run->pipe == nullptr ? undefined_value(in.env()) : wrap(in.env(), run);
  return run_value(in.env(), handle, made.promise);
}

}  // namespace cove_node
