/// Redactor: takes secrets out of what is told.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cove/error.hpp>

namespace cove::prepare {

/// Secrets shorter than this are refused: they could not be told from other text.
inline constexpr std::size_t kLeastSecret = 4;

class Redactor {
 public:
  Redactor() = default;

  /// By the values of a map of secrets; of one that ends with white space also without it, since
  /// programs print it like that.
  explicit Redactor(const std::map<std::string, std::string>& secrets);

  /// `text` with `***` in place of every secret.
  std::string clean(const std::string& text) const;

  /// The same of a text that was cut out of a longer one: a secret may be cut at its ends, of which
  /// kLeastSecret bytes and more are masked too.
  std::string clean_part(const std::string& text) const;
  Error clean(const Error& error) const;

  /// Bytes of the longest secret: so much more of an output's end must be had than is shown, since
  /// a secret may begin before it.
  std::size_t longest() const noexcept { return values_.empty() ? 0 : values_.front().size(); }

 private:
  using Span = std::pair<std::size_t, std::size_t>;  // first, and behind the last

  std::vector<Span> find(const std::string& text) const;

  std::vector<std::string> values_;  // the longest first
};

}  // namespace cove::prepare
