/// Where in a configuration file which setting is, for the languages of package managers.
#pragma once

#include <string>
#include <vector>

#include <cove/result.hpp>

#include "prepare/mirrors/formats/lines.hpp"

namespace cove::prepare {

enum class Language : unsigned char {
  kNpmrc,    ///< `key=value`, `;` and `#`; npm, pnpm
  kYarnrc,   ///< `key "value"`; yarn 1
  kPipConf,  ///< Python's configparser
  kToml,     ///< bun, uv, cargo
  kYaml,     ///< settings at the top level: yarn 2 and later, RubyGems, Bundler
  kEnv,      ///< `KEY=value`; Go
};

/// One setting: lines [begin, end).
struct ScannedItem {
  std::string section;  ///< "" = before the first; of TOML the table, dotted
  std::string key;      ///< as the language compares it
  std::string value;    ///< without quotes and comments, for comparing
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct ScannedSection {
  std::string name;
  std::size_t line = 0;
  bool is_list = false;  ///< TOML's [[...]]
};

struct Scanned {
  std::vector<ScannedItem> items;
  std::vector<ScannedSection> sections;
};

/// kUnsupported: a form that is not edited; the message names the line. Nothing is lost by it: the
/// file is left alone.
Result<Scanned> scan(Language language, const Lines& lines);

/// The TOML part.
Result<Scanned> scan_toml(const Lines& lines);

Error not_edited(std::size_t line, const std::string& why);

}  // namespace cove::prepare
