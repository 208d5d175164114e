#include "wire/answer_path.hpp"

#include <algorithm>

namespace cove::wire {

bool is_answer_path(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return false;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t length = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, length) == "..") return false;
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return true;
}

bool is_path_below(std::string_view path) {
  return !path.empty() && !path.starts_with('/') && is_answer_path(path);
}

std::string read_answer_path(Fields& fields, const char* name) {
  std::string path = fields.bytes(name);
  if (!is_answer_path(path)) fields.fail(std::string(name) + " is no path of a file");
  return path;
}

std::string read_path_below(Fields& fields, const char* name) {
  std::string path = fields.bytes(name);
  if (!path.empty() && !is_path_below(path)) {
    fields.fail(std::string(name) + " leads out of the directory");
  }
  return path;
}

}  // namespace cove::wire
