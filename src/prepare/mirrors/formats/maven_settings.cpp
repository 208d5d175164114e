#include "prepare/mirrors/formats/maven_settings.hpp"

#include <algorithm>
#include <vector>

#include "prepare/mirrors/formats/lines.hpp"

namespace cove::prepare {
namespace {

constexpr std::string_view kId = "cove-mirror";

/// One tag, [begin, end) in the text.
struct Tag {
  std::string name;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool closes = false;
  bool is_empty = false;  // <mirrors/>
};

/// What is known of the places that matter.
struct Places {
  std::optional<Tag> mirrors;       // the opening tag, or the empty one
  std::optional<Tag> settings_end;  // </settings>
  std::size_t ours_begin = 0;       // Cove's own <mirror>
  std::size_t ours_end = 0;         // 0 = it is not there
  std::string url;
};

Error not_xml(const std::string& why) {
  return {ErrorCode::kUnsupported, "settings.xml has a form that is not edited: " + why};
}

std::string_view name_at(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" \t\r\n/>"), text.size()));
}

/// Reads tags and steps over comments, CDATA and processing instructions.
class TagReader {
 public:
  explicit TagReader(std::string_view text) : text_(text) {}

  /// The next tag; none at the end.
  Result<std::optional<Tag>> next() {
    for (;;) {
      const std::size_t begin = text_.find('<', at_);
      if (begin == std::string_view::npos) return std::optional<Tag>();
      const std::string_view rest = text_.substr(begin);
      std::string_view close;
      if (rest.starts_with("<!--")) close = "-->";
      if (rest.starts_with("<![CDATA[")) close = "]]>";
      if (rest.starts_with("<?")) close = "?>";
      if (close.empty() && rest.starts_with("<!")) return not_xml("it has a document type");
      if (close.empty()) return tag(begin);
      const std::size_t end = text_.find(close, begin + 2);
      if (end == std::string_view::npos) return not_xml("a comment has no end");
      at_ = end + close.size();
    }
  }

 private:
  Result<std::optional<Tag>> tag(std::size_t begin) {
    char quote = 0;
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
        continue;
      }
      if (c == '"' || c == '\'') quote = c;
      if (c == '<') return not_xml("a tag has no end");
      if (c != '>') continue;
      Tag tag;
      tag.begin = begin;
      tag.end = at_ = i + 1;
      tag.closes = text_[begin + 1] == '/';
      tag.is_empty = text_[i - 1] == '/';
      tag.name = name_at(text_.substr(begin + (tag.closes ? 2 : 1)));
      return std::optional(std::move(tag));
    }
    return not_xml("a tag has no end");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Looks for the places while the tags are read, by where they stand.
class PlaceFinder {
 public:
  explicit PlaceFinder(std::string_view text) : text_(text) {}

  Result<void> take(const Tag& tag) {
    if (tag.closes) return close(tag);
    const std::string path = path_of(tag.name);
    if (open_.empty() && tag.name != "settings") return not_xml("its root is not <settings>");
    if (path == "settings/mirrors") places_.mirrors = tag;
    if (path == "settings/mirrors/mirror") mirror_ = {};
    if (path == "settings/mirrors/mirror") mirror_.begin = tag.begin;
    if (!tag.is_empty) open_.push_back(tag);
    return ok();
  }

  Result<Places> finish() {
    if (!open_.empty() || !places_.settings_end) return not_xml("a tag is not closed");
    return std::move(places_);
  }

 private:
  struct Mirror {
    std::size_t begin = 0;
    std::string id;
    std::string url;
  };

  std::string path_of(const std::string& name) const {
    std::string path;
    for (const Tag& tag : open_) path += tag.name + "/";
    return path + name;
  }

  Result<void> close(const Tag& tag) {
    if (open_.empty() || open_.back().name != tag.name) return not_xml("tags do not match");
    const Tag opened = open_.back();
    open_.pop_back();
    const std::string path = path_of(tag.name);
    const std::string_view content = text_.substr(opened.end, tag.begin - opened.end);
    if (path == "settings") places_.settings_end = tag;
    if (path == "settings/mirrors/mirror/id") mirror_.id = trimmed(content);
    if (path == "settings/mirrors/mirror/url") mirror_.url = trimmed(content);
    if (path == "settings/mirrors/mirror" && mirror_.id == kId) {
      places_.ours_begin = mirror_.begin;
      places_.ours_end = tag.end;
      places_.url = mirror_.url;
    }
    return ok();
  }

  std::string_view text_;
  std::vector<Tag> open_;
  Mirror mirror_;
  Places places_;
};

Result<Places> find_places(std::string_view text) {
  TagReader reader(text);
  PlaceFinder finder(text);
  for (;;) {
    COVE_TRY(const auto tag, reader.next());
    if (!tag) return finder.finish();
    COVE_TRY_VOID(finder.take(*tag));
  }
}

std::string escaped_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string element(const std::string& url) {
  return "<mirror>\n      <id>" + std::string(kId) +
         "</id>\n      <mirrorOf>central</mirrorOf>\n"
         "      <url>" +
         escaped_xml(url) + "</url>\n    </mirror>";
}

std::string whole_file(const std::string& url) {
  return "<settings>\n  <mirrors>\n    " + element(url) + "\n  </mirrors>\n</settings>\n";
}

/// Takes Cove's element out, with the indentation and the line end that came with it.
std::string without_ours(std::string text, const Places& places) {
  if (places.ours_end == 0) return text;
  std::size_t begin = places.ours_begin;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  if (begin > 0 && text[begin - 1] == '\n') --begin;
  if (begin > 0 && text[begin - 1] == '\r') --begin;
  return text.erase(begin, places.ours_end - begin);
}

}  // namespace

Result<std::optional<std::string>> find_maven_mirror(std::string_view text) {
  if (is_blank(text)) return std::optional<std::string>();
  COVE_TRY(const Places places, find_places(text));
  if (places.ours_end == 0) return std::optional<std::string>();
  return std::optional(places.url);
}

Result<std::string> put_maven_mirror(std::string_view text, const std::optional<std::string>& url) {
  const bool nothing = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (nothing) return url ? whole_file(*url) : std::string(text);
  COVE_TRY(const Places before, find_places(text));
  std::string cleared = without_ours(std::string(text), before);
  if (!url) return cleared;
  COVE_TRY(const Places places, find_places(cleared));
  const std::string end = cleared.find("\r\n") != std::string::npos ? "\r\n" : "\n";
  std::string ours = end + "    " + element(*url);
  if (end == "\r\n") {
    for (std::size_t at = 2; (at = ours.find('\n', at)) != std::string::npos; at += 2) {
      ours.insert(at, "\r");
    }
  }
  if (places.mirrors && !places.mirrors->is_empty) return cleared.insert(places.mirrors->end, ours);
  const std::string block = "<mirrors>" + ours + end + "  </mirrors>";
  if (places.mirrors) {
    const Tag& tag = *places.mirrors;
    return cleared.replace(tag.begin, tag.end - tag.begin, block);
  }
  return cleared.insert(places.settings_end->begin, "  " + block + end);
}

}  // namespace cove::prepare
