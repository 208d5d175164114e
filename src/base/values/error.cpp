#include <cove/error.hpp>

namespace cove {

struct Error::Data {
  ErrorCode code;
  std::string message;
  std::optional<std::chrono::milliseconds> retry_after;
  std::optional<Error> cause;
  Context context;
};

Error::Error(ErrorCode code, std::string message)
    : data_(std::make_shared<const Data>(Data{code, std::move(message), {}, {}, {}})) {}

ErrorCode Error::code() const noexcept { return data_->code; }

const std::string& Error::message() const noexcept { return data_->message; }

std::optional<std::chrono::milliseconds> Error::retry_after() const noexcept {
  return data_->retry_after;
}

const Error* Error::cause() const noexcept { return data_->cause ? &*data_->cause : nullptr; }

const Error::Context& Error::context() const noexcept { return data_->context; }

std::string Error::describe() const {
  std::string text = data_->message;
  const char* separator = " (";
  for (const auto& [key, value] : data_->context) {
    text += separator + key + ": " + value;
    separator = ", ";
  }
  if (!data_->context.empty()) text += ")";
  if (data_->cause) text += ": " + data_->cause->describe();
  return text;
}

Error Error::with_retry_after(std::chrono::milliseconds delay) const {
  Data changed = *data_;
  changed.retry_after = delay;
  return Error(std::make_shared<const Data>(std::move(changed)));
}

Error Error::with_cause(Error cause) const {
  Data changed = *data_;
  changed.cause = std::move(cause);
  return Error(std::make_shared<const Data>(std::move(changed)));
}

Error Error::with_context(std::string key, std::string value) const {
  Data changed = *data_;
  changed.context.emplace_back(std::move(key), std::move(value));
  return Error(std::make_shared<const Data>(std::move(changed)));
}

}  // namespace cove
