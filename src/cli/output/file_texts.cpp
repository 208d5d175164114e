#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/output/text_fields.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

char letter_of(FileType type) {
  switch (type) {
    case FileType::kRegular: return '-';
    case FileType::kDirectory: return 'd';
    case FileType::kSymlink: return 'l';
    case FileType::kOther: return '?';
  }
  return '?';
}

/// "-rwxr-x--T": as ls shows it.
std::string mode_text(const FileInfo& file) {
  constexpr std::string_view kBits = "rwxrwxrwx";
  std::string text(1, letter_of(file.type));
  for (unsigned i = 0; i < kBits.size(); ++i) {
    text += (file.mode & (0400U >> i)) != 0 ? kBits[i] : '-';
  }
  const auto special = [&](std::uint32_t bit, std::size_t at, char with_execute, char without) {
    if ((file.mode & bit) != 0) text[at] = text[at] == 'x' ? with_execute : without;
  };
  special(04000, 3, 's', 'S');
  special(02000, 6, 's', 'S');
  special(01000, 9, 't', 'T');
  return text;
}

}  // namespace

const char* type_text(FileType type) {
  switch (type) {
    case FileType::kRegular: return "file";
    case FileType::kDirectory: return "directory";
    case FileType::kSymlink: return "symlink";
    case FileType::kOther: return "other";
  }
  return "other";
}

json file_json(const FileInfo& file) {
  std::array<char, 8> mode{};
  static_cast<void>(
      std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(file.mode & 07777U)));
  json object{{"type", type_text(file.type)},
              {"size", file.size},
              {"mode", mode.data()},
              {"modified", time_text(std::chrono::floor<milliseconds>(file.modified))}};
  set_bytes(object, "name", file.path);
  if (file.type == FileType::kSymlink) set_bytes(object, "link_target", file.link_target);
  return object;
}

std::string file_text(const FileInfo& file) { return base::escaped(file.path) + "\n"; }

std::string file_long_text(const FileInfo& file) {
  const std::string size = std::to_string(file.size);
  std::string line = mode_text(file) + " " +
                     std::string(size.size() < 12 ? 12 - size.size() : 0, ' ') + size + " " +
                     time_text(std::chrono::floor<milliseconds>(file.modified)) + " " +
                     base::escaped(file.path);
  if (file.type == FileType::kSymlink) line += " -> " + base::escaped(file.link_target);
  return line + "\n";
}

}  // namespace cove::cli
