#include "prepare/inputs/redactor.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cove::prepare {
namespace {

constexpr std::string_view kMask = "***";

/// What overlaps is one: where secrets share bytes, none of either is left.
std::string masked(const std::string& text,
                   std::vector<std::pair<std::size_t, std::size_t>> spans) {
  std::sort(spans.begin(), spans.end());
  std::string clean;
  std::size_t done = 0;
  for (const auto& [first, last] : spans) {
    if (first >= done) {
      clean.append(text, done, first - done);
      clean += kMask;
    }
    done = std::max(done, last);
  }
  return clean.append(text, done);
}

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

std::string Redactor::clean(const std::string& text) const { return masked(text, find(text)); }

std::string Redactor::clean_part(const std::string& text) const {
  std::vector<Span> spans = find(text);
  const std::string_view view = text;
  for (const std::string& value : values_) {
    const std::string_view secret = value;
    for (std::size_t size = std::min(secret.size() - 1, view.size()); size >= kLeastSecret;
         --size) {
      if (view.starts_with(secret.substr(secret.size() - size))) spans.emplace_back(0, size);
      if (view.ends_with(secret.substr(0, size))) {
        spans.emplace_back(view.size() - size, view.size());
      }
    }
  }
  return masked(text, std::move(spans));
}

std::vector<Redactor::Span> Redactor::find(const std::string& text) const {
  std::vector<Span> spans;
  for (const std::string& value : values_) {
    for (std::size_t at = text.find(value); at != std::string::npos;
         at = text.find(value, at + 1)) {
      spans.emplace_back(at, at + value.size());
    }
  }
  return spans;
}

// NOLINTNEXTLINE(misc-no-recursion): a chain of causes is as long as the layers are deep
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
