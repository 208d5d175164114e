/// The arguments of one native function. TypeScript checks what a program gives; what is wrong here
/// is a fault of ours, which becomes a TypeError and never a crash.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include <node_api.h>

#include "environment.hpp"
#include "handles.hpp"
#include "values.hpp"

namespace cove_node {

class Arguments {
 public:
  static constexpr std::size_t kMost = 6;

  Arguments(napi_env env, napi_callback_info info) : env_(env), environment_(Environment::of(env)) {
    std::size_t count = kMost;
    napi_get_cb_info(env, info, &count, values_.data(), nullptr, nullptr);
    if (environment_->library == nullptr) fail("load() comes first");
  }

  napi_env env() const noexcept { return env_; }
  Environment& environment() const noexcept { return *environment_; }
  const Library& library() const noexcept { return *environment_->library; }
  napi_value at(std::size_t index) const { return values_[index]; }

  std::string text(std::size_t index) {
    auto value = read_text(env_, at(index));
    if (!value) fail("argument " + std::to_string(index) + " is no text");
    return value.value_or(std::string());
  }

  BytesView bytes(std::size_t index) {
    const auto value = read_bytes(env_, at(index));
    if (!value) fail("argument " + std::to_string(index) + " is no Buffer");
    return value.value_or(BytesView{"", 0});
  }

  Texts texts(std::size_t index) {
    auto value = read_texts(env_, at(index));
    if (!value) fail("argument " + std::to_string(index) + " is no list of texts");
    return std::move(value).value_or(Texts{});
  }

  double number(std::size_t index) {
    const auto value = read_number(env_, at(index));
    if (!value) fail("argument " + std::to_string(index) + " is no number");
    return value.value_or(0);
  }

  bool truth(std::size_t index) const {
    bool value = false;
    napi_get_value_bool(env_, at(index), &value);
    return value;
  }

  Fields fields(std::size_t index) const { return Fields(env_, at(index)); }

  /// Never null where has_failed() is false.
  template <class T>
  std::shared_ptr<T> handle(std::size_t index) {
    auto handle = unwrap<T>(env_, at(index));
    if (handle == nullptr) {
      fail("argument " + std::to_string(index) + " is another handle, or is closed");
    }
    return handle;
  }

  /// Sets timeout_ms and cancel, and keeps the token as long as the arguments.
  template <class Options>
  void limits(const Fields& fields, Options& options) {
    options.timeout_ms = fields.u64("timeoutMs");
    cancel_ = unwrap<CancelHandle>(env_, fields.at("cancel"));
    options.cancel = cancel_ == nullptr ? nullptr : cancel_->raw;
  }

  /// The token of the last limits(), which a call on another thread keeps.
  const std::shared_ptr<CancelHandle>& cancel() const noexcept { return cancel_; }

  void fail(std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
  }
  bool has_failed() const noexcept { return !problem_.empty(); }
  const std::string& problem() const noexcept { return problem_; }

 private:
  napi_env env_;
  Environment* environment_;
  std::array<napi_value, kMost> values_{};
  std::shared_ptr<CancelHandle> cancel_;
  std::string problem_;
};

/// A native function as Node calls it. Where arguments are wrong it must return null before it
/// calls C with them.
template <napi_value (*function)(Arguments&)>
napi_value method(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  if (!arguments.has_failed()) {
    napi_value const result = function(arguments);
    if (!arguments.has_failed()) return result;
  }
  napi_throw_type_error(env, nullptr, ("cove (native): " + arguments.problem()).c_str());
  return nullptr;
}

}  // namespace cove_node
