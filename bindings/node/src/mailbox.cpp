#include "mailbox.hpp"

namespace cove_node {

void raise_uncaught(napi_env env) {
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending) return;
  napi_value thrown = nullptr;
  // A worker that is being terminated has nothing to tell any more.
  if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok) napi_fatal_exception(env, thrown);
}

std::shared_ptr<Mailbox> Mailbox::open(napi_env env) {
  auto mailbox = std::make_shared<Mailbox>();
  napi_value name = nullptr;
  if (napi_create_string_utf8(env, "cove", NAPI_AUTO_LENGTH, &name) != napi_ok) return nullptr;
  const napi_status made =
      napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, nullptr,
                                      &Mailbox::deliver, &mailbox->function_);
  if (made != napi_ok) return nullptr;
  napi_unref_threadsafe_function(env, mailbox->function_);
  mailbox->env_ = env;
  return mailbox;
}

void Mailbox::post(std::unique_ptr<Message> message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  // The queue has no limit, so it is taken unless the environment ends.
  Message* const raw = message.release();
  if (napi_call_threadsafe_function(function_, raw, napi_tsfn_nonblocking) != napi_ok) {
    message.reset(raw);
  }
}

void Mailbox::hold() {
  if (++holds_ == 1) napi_ref_threadsafe_function(env_, function_);
}

void Mailbox::let_go() {
  if (holds_ > 0 && --holds_ == 0) napi_unref_threadsafe_function(env_, function_);
}

void Mailbox::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
}

void Mailbox::deliver(napi_env env, napi_value, void*, void* data) {
  const std::unique_ptr<Message> message(static_cast<Message*>(data));
  if (env == nullptr) return;  // what was still queued when the environment ended
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  message->deliver(env);
  raise_uncaught(env);
  napi_close_handle_scope(env, scope);
}

}  // namespace cove_node
