#include "agent/search/walk/ignore_rules.hpp"

#include <algorithm>
#include <utility>

namespace cove::agent {
namespace {

constexpr std::size_t kMostRules = 20'000;  // of one file

/// Without spaces at its end, but for an escaped one.
std::string_view trimmed(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

std::string extension_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string() : std::string(name.substr(dot));
}

}  // namespace

IgnoreFile IgnoreFile::parse(std::string_view text) {
  IgnoreFile file;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty() && file.rules_.size() < kMostRules) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    file.add(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return file;
}

void IgnoreFile::add(std::string_view line) {
  if (line.empty() || line.front() == '#') return;
  const bool negated = line.front() == '!';
  if (negated) line.remove_prefix(1);
  const bool directory_only = line.ends_with('/');
  while (line.ends_with('/')) line.remove_suffix(1);
  if (line.empty()) return;
  auto glob = Glob::parse(line, Braces::kPlain);
  if (!glob) return;
  const auto number = static_cast<std::uint32_t>(rules_.size());
  const std::string& ending = glob->only_ending();
  if (!glob->only_name().empty()) {
    by_name_[glob->only_name()].push_back(number);
  } else if (ending.size() > 1 && ending.rfind('.') == 0) {
    by_extension_[ending].push_back(number);
  } else {
    others_.push_back(number);
  }
  rules_.push_back({*std::move(glob), !negated, directory_only});
}

void IgnoreFile::try_rules(const Index& index, const std::string& key, bool is_directory,
                           std::optional<std::uint32_t>& last) const {
  const auto found = index.find(key);
  if (found == index.end()) return;
  for (const std::uint32_t number : found->second) {
    if (rules_[number].directory_only && !is_directory) continue;
    last = std::max(last.value_or(0), number);
  }
}

std::optional<bool> IgnoreFile::decide(std::string_view path, std::string_view name,
                                       bool is_directory) const {
  if (rules_.empty()) return std::nullopt;
  std::optional<std::uint32_t> last;
  if (!by_name_.empty()) try_rules(by_name_, std::string(name), is_directory, last);
  if (!by_extension_.empty()) try_rules(by_extension_, extension_of(name), is_directory, last);
  for (auto number = others_.rbegin(); number != others_.rend(); ++number) {
    if (last && *number < *last) break;
    const Rule& rule = rules_[*number];
    if (rule.directory_only && !is_directory) continue;
    if (!rule.glob.matches(path, name)) continue;
    last = *number;
    break;
  }
  if (!last) return std::nullopt;
  return rules_[*last].ignores;
}

bool is_ignored(const IgnoreLevel* innermost, std::string_view path, std::string_view name,
                bool is_directory) {
  for (std::size_t kind = kIgnoreFiles.size(); kind-- > 0;) {
    for (const IgnoreLevel* level = innermost; level != nullptr; level = level->outer.get()) {
      const auto decided =
          level->files[kind].decide(path.substr(level->prefix), name, is_directory);
      if (decided) return *decided;
    }
  }
  return false;
}

}  // namespace cove::agent
