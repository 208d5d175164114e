/// One call that was started, and the promise of its end.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "arguments.hpp"

namespace cove_node {

/// Of a call that gives nothing back.
struct Nothing {};

/// How what a call gives becomes JavaScript, and is freed: specialised in results.hpp.
template <class Out>
struct Outcome;

/// What a pending call keeps from being freed.
struct Keep {
  std::shared_ptr<void> handle;
  std::shared_ptr<void> run;
};

template <class Out>
class Call final : public Message {
 public:
  Call(const Environment& environment, std::shared_ptr<Keep> keep, napi_deferred deferred)
      : library_(environment.library),
        mailbox_(environment.mailbox),
        keep_(std::move(keep)),
        deferred_(deferred) {
    mailbox_->hold();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() override {
    if (out_ != nullptr) Outcome<Out>::free(*library_, out_);
    if (error_ != nullptr) library_->cove_error_free(error_);
  }

  /// Any thread, once: takes what the call gave, and sends itself to the environment's thread.
  static void complete(std::unique_ptr<Call> call, Out* out, cove_error* error) {
    call->out_ = out;
    call->error_ = error;
    const MailboxPtr mailbox = call->mailbox_;
    mailbox->post(std::move(call));
  }

  void deliver(napi_env env) override {
    mailbox_->let_go();
    Environment& environment = *Environment::of(env);
    if (error_ != nullptr) return reject(env, error_value(environment, error_));
    napi_value const value = Outcome<Out>::value(environment, out_);  // may take out_
    if (value == nullptr) return reject(env, nullptr);
    napi_resolve_deferred(env, deferred_, value);
  }

  /// On the environment's thread: the call could not be started. `error` is taken.
  static void refuse(std::unique_ptr<Call> call, napi_env env, cove_error* error) {
    call->error_ = error;
    call->deliver(env);
  }

 private:
  /// With null: what is pending as an exception, since making a value threw.
  void reject(napi_env env, napi_value reason) {
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (pending) napi_get_and_clear_last_exception(env, &reason);
    napi_reject_deferred(env, deferred_, reason == nullptr ? undefined_value(env) : reason);
  }

  LibraryPtr library_;
  MailboxPtr mailbox_;
  std::shared_ptr<Keep> keep_;
  napi_deferred deferred_;
  Out* out_ = nullptr;
  cove_error* error_ = nullptr;
};

/// The completion callback that takes a Call as its user_data.
template <class Out>
struct Done {
  using Type = void (*)(void*, Out*, cove_error*);
  static void call(void* user_data, Out* out, cove_error* error) {
    Call<Out>::complete(std::unique_ptr<Call<Out>>(static_cast<Call<Out>*>(user_data)), out, error);
  }
};

template <>
struct Done<Nothing> {
  using Type = cove_done_fn;
  static void call(void* user_data, cove_error* error) {
    auto call = std::unique_ptr<Call<Nothing>>(static_cast<Call<Nothing>*>(user_data));
    Call<Nothing>::complete(std::move(call), nullptr, error);
  }
};

/// A Call and the promise that it settles.
template <class Out>
struct Promised {
  std::unique_ptr<Call<Out>> call;
  napi_value promise = nullptr;
};

template <class Out>
Promised<Out> promise(const Environment& environment, std::shared_ptr<Keep> keep) {
  Promised<Out> made;
  napi_deferred deferred = nullptr;
  if (napi_create_promise(environment.env, &deferred, &made.promise) != napi_ok) return made;
  made.call = std::make_unique<Call<Out>>(environment, std::move(keep), deferred);
  return made;
}

/// Starts a call: start(done, user_data, &error) is one of C's start forms. `handle` is kept until
/// the end. Gives the promise.
template <class Out, class Start>
napi_value start_call(Arguments& in, std::shared_ptr<void> handle, Start start) {
  if (in.has_failed()) return nullptr;
  auto made = promise<Out>(in.environment(), std::make_shared<Keep>(Keep{std::move(handle), {}}));
  if (made.call == nullptr) return nullptr;
  Call<Out>* const raw = made.call.release();  // the callback's, unless the start fails
  cove_error* error = nullptr;
  if (start(&Done<Out>::call, static_cast<void*>(raw), &error) != COVE_OK) {
    Call<Out>::refuse(std::unique_ptr<Call<Out>>(raw), in.env(), error);
  }
  return made.promise;
}

}  // namespace cove_node
