#include "prepare/inputs/redactor.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cove::prepare {
namespace {

constexpr std::string_view kMask = "***";

std::string_view without_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

Redactor::Redactor(const std::map<std::string, std::string>& secrets) {
  for (const auto& [name, value] : secrets) {
    for (const std::string_view form : {std::string_view(value), without_end(value)}) {
      if (form.size() >= kLeastSecret) values_.emplace_back(form);
    }
  }
  std::sort(values_.begin(), values_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
}

std::string Redactor::clean(std::string text) const {
  for (const std::string& value : values_) {
    std::size_t at = text.find(value);
    while (at != std::string::npos) {
      text.replace(at, value.size(), kMask);
      at = text.find(value, at + kMask.size());
    }
  }
  return text;
}

Error Redactor::clean(const Error& error) const {
  if (values_.empty()) return error;
  Error cleaned(error.code(), clean(error.message()));
  for (const auto& [key, value] : error.context()) {
    cleaned = cleaned.with_context(key, clean(value));
  }
  if (error.retry_after()) cleaned = cleaned.with_retry_after(*error.retry_after());
  if (error.cause() != nullptr) cleaned = cleaned.with_cause(clean(*error.cause()));
  return cleaned;
}

}  // namespace cove::prepare
