/// JsonList: an object with one long list, written entry by entry.
#pragma once

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "cli/output/output.hpp"

namespace cove::cli {

class JsonList {
 public:
  /// `output` is borrowed. Nothing is written before the first entry, or finish.
  JsonList(const Output& output, std::string key) : output_(output), key_(std::move(key)) {}

  Result<void> add(const nlohmann::json& entry) {
    const std::string before = begun_ ? ",\n" : beginning();
    begun_ = true;
    return output_.out(before + base::dump_json(entry));
  }

  Result<void> finish() { return output_.out((begun_ ? "" : beginning()) + "]}\n"); }

  /// The same with one more key behind the list.
  Result<void> finish(const std::string& key, const nlohmann::json& value) {
    return output_.out((begun_ ? "" : beginning()) + "],\n\"" + key +
                       "\": " + base::dump_json(value) + "}\n");
  }

 private:
  std::string beginning() const { return "{\"" + key_ + "\": ["; }

  const Output& output_;
  std::string key_;
  bool begun_ = false;
};

}  // namespace cove::cli
