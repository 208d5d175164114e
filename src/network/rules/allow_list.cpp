#include "network/rules/allow_list.hpp"

#include <algorithm>
#include <utility>

#include "base/text/display_text.hpp"

namespace cove::network {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_label(std::string_view label) noexcept {
  return !label.empty() && label.size() <= kMaxLabel && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
         });
}

/// A name whose last label looks like a number is read as an address by inet_aton and who uses it.
bool is_number(std::string_view label) noexcept {
  if (std::all_of(label.begin(), label.end(), is_digit)) return true;
  return label.starts_with("0x") &&
         label.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

/// In lower case already.
bool is_host_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMaxName) return false;
  for (;;) {
    const std::size_t end = std::min(name.find('.'), name.size());
    if (!is_label(name.substr(0, end))) return false;
    if (end == name.size()) return !is_number(name);
    name.remove_prefix(end + 1);
  }
}

std::string_view without_brackets(std::string_view text) noexcept {
  if (text.starts_with('[') && text.ends_with(']')) return text.substr(1, text.size() - 2);
  return text;
}

Error wrong(const std::string& what) { return {ErrorCode::kInvalidArgument, what}; }

}  // namespace

Result<CheckedTarget> check_target(const EgressTarget& target) {
  CheckedTarget checked;
  checked.port = target.port;
  checked.address = IpAddress::parse(target.host);
  if (checked.address) {
    checked.name = checked.address->text();
    return checked;
  }
  checked.name = lower(target.host);
  if (checked.name.ends_with('.')) checked.name.pop_back();
  if (is_host_name(checked.name)) return checked;
  return wrong(base::quoted(target.host) + " is neither a host name nor an IP address");
}

Result<AllowList::Rule> AllowList::compile_one(const grants::ProxyRule& rule) {
  constexpr std::size_t kMostPorts = 100;
  Rule compiled;
  compiled.ports = rule.ports;
  compiled.is_private = rule.private_addresses;
  if (rule.ports.empty() || rule.ports.size() > kMostPorts ||
      std::find(rule.ports.begin(), rule.ports.end(), 0) != rule.ports.end()) {
    return wrong("ports must be 1 to 100 numbers from 1 to 65535");
  }
  if (const auto range = IpRange::parse(without_brackets(rule.host))) {
    compiled.form = Form::kRange;
    compiled.range = *range;
    return compiled;
  }
  compiled.name = lower(rule.host);
  if (compiled.name == "*") {
    compiled.form = Form::kEvery;
    return compiled;
  }
  if (compiled.name.starts_with("*.")) {
    compiled.form = Form::kBelow;
    compiled.name.erase(0, 1);  // the dot stays: what is below ends with it and the rest
  }
  const std::size_t skip = compiled.form == Form::kBelow ? 1 : 0;
  if (is_host_name(std::string_view(compiled.name).substr(skip))) return compiled;
  return wrong(
      "host must be a name, *.name, *, an IP address or a range like 10.0.0.0/8 (without bits "
      "behind the prefix), not " +
      base::quoted(rule.host));
}

Result<AllowList> AllowList::compile(const std::vector<grants::ProxyRule>& rules) {
  AllowList list;
  for (const grants::ProxyRule& rule : rules) {
    Result<Rule> compiled = compile_one(rule);
    if (!compiled) {
      return wrong("policy.proxy.allow[" + std::to_string(list.rules_.size()) +
                   "]: " + compiled.error().message());
    }
    list.rules_.push_back(*std::move(compiled));
  }
  return list;
}

AllowList AllowList::of_named(const std::vector<EgressTarget>& targets) {
  AllowList list;
  for (const EgressTarget& target : targets) {
    grants::ProxyRule rule;
    rule.host = target.host;
    rule.ports = {target.port};
    rule.private_addresses = true;
    Result<Rule> compiled = compile_one(rule);
    const bool is_one =
        compiled && (compiled->form == Form::kName ||
                     (compiled->form == Form::kRange && rule.host.find('/') == std::string::npos));
    if (is_one) list.rules_.push_back(*std::move(compiled));
  }
  return list;
}

bool AllowList::matches(const Rule& rule, const CheckedTarget& target) {
  if (std::find(rule.ports.begin(), rule.ports.end(), target.port) == rule.ports.end()) {
    return false;
  }
  if (rule.form == Form::kRange) return target.address && rule.range.contains(*target.address);
  if (target.address) return false;
  switch (rule.form) {
    case Form::kName: return target.name == rule.name;
    case Form::kBelow:
      return target.name.size() > rule.name.size() && target.name.ends_with(rule.name);
    default: return true;
  }
}

AllowList::Verdict AllowList::judge(const CheckedTarget& target) const {
  Verdict verdict = Verdict::kRefused;
  for (const Rule& rule : rules_) {
    if (!matches(rule, target)) continue;
    verdict = std::max(verdict, rule.is_private ? Verdict::kPrivate : Verdict::kPublic);
  }
  return verdict;
}

bool AllowList::names(const IpAddress& address, std::uint16_t port) const {
  const CheckedTarget target{address.text(), address, port};
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.form == Form::kRange && matches(rule, target);
  });
}

bool may_reach(const IpAddress& address, AllowList::Verdict verdict, bool is_named) {
  if (verdict == AllowList::Verdict::kRefused) return false;
  switch (kind_of(address)) {
    case AddressKind::kPublic: return true;
    case AddressKind::kLoopback:
    case AddressKind::kLinkLocal:
    case AddressKind::kPrivate: return is_named || verdict == AllowList::Verdict::kPrivate;
    case AddressKind::kMetadata: return is_named;
    case AddressKind::kNever: return false;
  }
  return false;
}

}  // namespace cove::network
