#include "providers/local/layer/accounts.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace cove::local {

namespace {

constexpr std::uint32_t kFirstOfPeople = 1000;

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint32_t> id_in(std::string_view text) {
  std::uint32_t id = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return id;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

/// Collects accounts; the first of a name counts.
class Book {
 public:
  void add_user(std::string_view name, const std::string& rest) {
    if (!users_.emplace(name).second) return;
    accounts_.passwd += std::string(name) + ":x:" + rest + "\n";
    accounts_.shadow += std::string(name) + ":*:19000:0:99999:7:::\n";
  }
  void add_group(std::string_view name, std::uint32_t id) {
    if (!groups_.emplace(name).second) return;
    accounts_.group += std::string(name) + ":x:" + std::to_string(id) + ":\n";
    accounts_.gshadow += std::string(name) + ":*::\n";
  }
  Accounts take() { return std::move(accounts_); }

 private:
  Accounts accounts_;
  std::set<std::string, std::less<>> users_;
  std::set<std::string, std::less<>> groups_;
};

bool is_of_system(std::uint32_t id) { return id > 0 && id < kFirstOfPeople; }

void add_users(std::string_view passwd, Book& book) {
  for (const std::string_view line : parts_of(passwd, '\n')) {
    const auto fields = parts_of(line, ':');
    if (fields.size() != 7 || !is_name(fields[0])) continue;
    const auto uid = id_in(fields[2]);
    const auto gid = id_in(fields[3]);
    if (!uid || !gid || !is_of_system(*uid) || *gid > 65534) continue;
    book.add_user(fields[0], std::to_string(*uid) + ":" + std::to_string(*gid) +
                                 "::" + std::string(fields[5]) + ":" + std::string(fields[6]));
  }
}

void add_groups(std::string_view group, Book& book) {
  for (const std::string_view line : parts_of(group, '\n')) {
    const auto fields = parts_of(line, ':');
    if (fields.size() != 4 || !is_name(fields[0])) continue;
    const auto gid = id_in(fields[2]);
    if (gid && is_of_system(*gid)) book.add_group(fields[0], *gid);
  }
}

}  // namespace

Accounts system_accounts(std::string_view host_passwd, std::string_view host_group) {
  Book book;
  book.add_user("root", "0:0:root:/home/sandbox:/bin/sh");
  book.add_user("sandbox", "1000:1000:sandbox:/home/sandbox:/bin/sh");
  book.add_group("root", 0);
  book.add_group("sandbox", 1000);
  add_users(host_passwd, book);
  add_groups(host_group, book);
  book.add_user("nobody", "65534:65534:nobody:/nonexistent:/usr/sbin/nologin");
  book.add_group("nogroup", 65534);
  // apt gives up its rights to this one while it downloads.
  book.add_user("_apt", "42:65534::/nonexistent:/usr/sbin/nologin");
  return book.take();
}

}  // namespace cove::local
