/// A function of JavaScript's that threads of Cove make use of.
#pragma once

#include <memory>
#include <utility>

#include "environment.hpp"

namespace cove_node {

/// Made, called and let go of on the environment's thread; shared by any.
class FunctionReference {
 public:
  static std::shared_ptr<FunctionReference> make(const Environment& environment,
                                                 napi_value function) {
    auto made = std::shared_ptr<FunctionReference>(new FunctionReference(environment.mailbox));
    napi_create_reference(environment.env, function, 1, &made->reference_);
    return made;
  }
  FunctionReference(const FunctionReference&) = delete;
  FunctionReference& operator=(const FunctionReference&) = delete;
  ~FunctionReference() { mailbox_->post(std::make_unique<LetGo>(reference_)); }

  /// What it throws is raised as uncaught; nothing is pending then.
  void call(napi_env env, std::size_t count, const napi_value* arguments) const {
    napi_value function = nullptr;
    napi_value nothing = nullptr;
    napi_get_undefined(env, &nothing);
    if (napi_get_reference_value(env, reference_, &function) == napi_ok) {
      napi_call_function(env, nothing, function, count, arguments, nullptr);
    }
    raise_uncaught(env);
  }

 private:
  struct LetGo final : Message {
    explicit LetGo(napi_ref its_reference) : reference(its_reference) {}
    void deliver(napi_env env) override { napi_delete_reference(env, reference); }
    napi_ref reference;
  };

  explicit FunctionReference(MailboxPtr mailbox) : mailbox_(std::move(mailbox)) {}

  MailboxPtr mailbox_;
  napi_ref reference_ = nullptr;
};

}  // namespace cove_node
