/// cove_buffer: bytes that the host owns.
#pragma once

#include <string>
#include <utility>

#include <cove/bytes.hpp>

#include "abi.hpp"
#include "handles.hpp"

/// A string keeps the NUL behind the last byte that the header promises.
struct cove_buffer {
  std::string bytes;
};

namespace cove::capi {

inline cove_buffer* make_buffer(std::string bytes) { return new cove_buffer{std::move(bytes)}; }

inline cove_buffer* make_buffer(const Bytes& bytes) {
  return make_buffer(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// A completion of the facade that answers `reply` with the text of its value.
template <class T>
std::function<void(Result<T>)> answer_text(std::shared_ptr<Reply<cove_buffer>> reply,
                                           std::string (*text_of)(const T&)) {
  return answer<T>(std::move(reply), [text_of](const T& value) -> Result<cove_buffer*> {
    return make_buffer(text_of(value));
  });
}

}  // namespace cove::capi
