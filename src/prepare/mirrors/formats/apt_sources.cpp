#include "prepare/mirrors/formats/apt_sources.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "prepare/mirrors/formats/lines.hpp"

namespace cove::prepare {
namespace {

/// What to put in the place of an archive; none = leave it.
using Replacement = std::function<std::optional<std::string>(const std::string& uri)>;

enum class Archive : unsigned char { kOther, kMain, kSecurity };

std::string host_of(std::string_view uri) {
  const std::size_t scheme = uri.find("://");
  if (scheme == std::string_view::npos) return {};
  uri.remove_prefix(scheme + 3);
  uri = uri.substr(0, std::min(uri.find('/'), uri.size()));
  uri.remove_prefix(std::min(uri.find('@') + 1, uri.size()));
  return std::string(uri.substr(0, std::min(uri.find(':'), uri.size())));
}

Archive archive_of(std::string_view uri) {
  if (!uri.starts_with("http://") && !uri.starts_with("https://")) return Archive::kOther;
  const std::string host = host_of(uri);
  constexpr std::array<std::string_view, 2> kSecurity{"security.debian.org", "security.ubuntu.com"};
  if (std::find(kSecurity.begin(), kSecurity.end(), host) != kSecurity.end()) {
    return Archive::kSecurity;
  }
  constexpr std::array<std::string_view, 4> kMain{"deb.debian.org", "archive.ubuntu.com",
                                                  "ports.ubuntu.com", "httpredir.debian.org"};
  const bool country = (host.starts_with("ftp.") && host.ends_with(".debian.org")) ||
                       host.ends_with(".archive.ubuntu.com");
  if (!country && std::find(kMain.begin(), kMain.end(), host) == kMain.end())
    return Archive::kOther;
  return uri.find("/debian-security") != std::string_view::npos ? Archive::kSecurity
                                                                : Archive::kMain;
}

/// Replaces the words of `line` from `from` on that `replacement` knows.
std::string replaced_words(const std::string& line, std::size_t from,
                           const Replacement& replacement) {
  std::string out = line.substr(0, from);
  for (std::size_t at = from; at < line.size();) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t", at), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    out += line.substr(at, begin - at);
    out += word.empty() ? word : replacement(word).value_or(word);
    at = end;
  }
  return out;
}

/// Where the URI of a `deb` line begins; none of other lines.
std::optional<std::size_t> uri_of_line(const std::string& line) {
  const std::string_view text = trimmed(line);
  const bool source = text.starts_with("deb ") || text.starts_with("deb\t") ||
                      text.starts_with("deb-src ") || text.starts_with("deb-src\t");
  if (!source) return std::nullopt;
  std::size_t at = line.find_first_of(" \t", line.find("deb"));
  at = line.find_first_not_of(" \t", at);
  if (at == std::string::npos || line[at] != '[') return at == std::string::npos ? line.size() : at;
  const std::size_t close = line.find(']', at);
  return close == std::string::npos ? line.size() : close + 1;
}

std::string changed_line(const std::string& line, const Replacement& replacement) {
  const auto from = uri_of_line(line);
  return from ? replaced_words(line, *from, replacement) : line;
}

bool is_uris_field(std::string_view line) {
  constexpr std::string_view kField = "uris:";
  return line.size() >= kField.size() &&
         std::equal(kField.begin(), kField.end(), line.begin(), [](char wanted, char c) {
           return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

std::string changed(std::string_view text, bool deb822, const Replacement& replacement) {
  Lines lines(text);
  bool in_field = false;
  for (Line& line : lines.all()) {
    if (!deb822) {
      line.text = changed_line(line.text, replacement);
      continue;
    }
    if (line.text.starts_with('#')) continue;
    const bool goes_on = line.text.starts_with(' ') || line.text.starts_with('\t');
    if (!goes_on) in_field = is_uris_field(line.text);
    if (!in_field) continue;
    const std::size_t from = goes_on ? 0 : line.text.find(':') + 1;
    line.text = replaced_words(line.text, from, replacement);
  }
  return lines.text();
}

/// All URIs of a file, in order.
std::vector<std::string> uris_in(std::string_view text, bool deb822) {
  std::vector<std::string> uris;
  changed(text, deb822, [&](const std::string& word) -> std::optional<std::string> {
    uris.push_back(word);
    return std::nullopt;
  });
  return uris;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string stanza(const std::string& uri, const std::string& suites, const Distribution& system) {
  const bool ubuntu = system.id == "ubuntu";
  return "Types: deb\nURIs: " + uri + "\nSuites: " + suites +
         "\nComponents: " + (ubuntu ? "main universe restricted multiverse" : "main") +
         "\nSigned-By: " +
         (ubuntu ? "/usr/share/keyrings/ubuntu-archive-keyring.gpg"
                 : "/usr/share/keyrings/debian-archive-keyring.gpg") +
         "\n";
}

}  // namespace

Distribution read_os_release(std::string_view text) {
  Distribution found;
  const Lines lines(text);
  for (const Line& line : lines.all()) {
    const std::string_view entry = trimmed(line.text);
    if (entry.starts_with("ID=")) found.id = unquoted(entry.substr(3));
    constexpr std::string_view kCodename = "VERSION_CODENAME=";
    if (entry.starts_with(kCodename)) found.codename = unquoted(entry.substr(kCodename.size()));
  }
  return found;
}

AptMirror apt_mirror(const Distribution& distribution, const std::string& url) {
  AptMirror mirror;
  mirror.main = without_slash(url);
  if (distribution.id == "ubuntu") mirror.security = mirror.main;
  if (distribution.id == "debian" && mirror.main.ends_with("/debian")) {
    mirror.security = mirror.main + "-security";
  }
  return mirror;
}

bool names_official(std::string_view text) {
  for (const bool deb822 : {false, true}) {
    const auto uris = uris_in(text, deb822);
    const bool any = std::any_of(uris.begin(), uris.end(), [](const std::string& uri) {
      return archive_of(uri) != Archive::kOther;
    });
    if (any) return true;
  }
  return false;
}

std::string merged_sources(std::string_view text, bool deb822, const AptMirror& mirror) {
  return changed(text, deb822, [&](const std::string& uri) -> std::optional<std::string> {
    const Archive archive = archive_of(uri);
    if (archive == Archive::kOther) return std::nullopt;
    const std::string& place = archive == Archive::kMain ? mirror.main : mirror.security;
    if (place.empty()) return std::nullopt;
    return uri.ends_with('/') ? place + "/" : place;
  });
}

std::string restored_sources(std::string_view text, bool deb822, std::string_view before,
                             std::string_view written) {
  const auto old = uris_in(before, deb822);
  const auto ours = uris_in(written, deb822);
  std::map<std::string, std::string> origin;  // of what Cove wrote
  for (std::size_t i = 0; i < std::min(old.size(), ours.size()); ++i) {
    if (old[i] != ours[i]) origin.emplace(ours[i], old[i]);
  }
  return changed(text, deb822, [&](const std::string& uri) -> std::optional<std::string> {
    const auto found = origin.find(uri);
    return found == origin.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string new_sources(const Distribution& system, const AptMirror& mirror) {
  const std::string& name = system.codename;
  std::string text = "# By Cove, from the mirror of its configuration.\n";
  std::string suites = name + " " + name + "-updates";
  if (system.id == "ubuntu") suites += " " + name + "-backports";
  text += stanza(mirror.main, suites, system);
  if (!mirror.security.empty()) text += "\n" + stanza(mirror.security, name + "-security", system);
  return text;
}

}  // namespace cove::prepare
