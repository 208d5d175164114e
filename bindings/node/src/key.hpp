/// A workspace's key as C takes it.
#pragma once

#include <string>

#include "arguments.hpp"

namespace cove_node {

struct Key {
  Key(Arguments& in, std::size_t index) {
    const Fields fields = in.fields(index);
    source_type = fields.text("sourceType").value_or("");
    source_id = fields.text("sourceId").value_or("");
    user_id = fields.text("userId").value_or("");
    raw.source_type = source_type.c_str();
    raw.source_id = source_id.c_str();
    raw.user_id = user_id.c_str();
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  std::string source_type;
  std::string source_id;
  std::string user_id;
  cove_workspace_key raw = COVE_WORKSPACE_KEY_INIT;
};

}  // namespace cove_node
