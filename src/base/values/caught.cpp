#include "base/values/caught.hpp"

#include <exception>

namespace cove::base {

std::string caught_text() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

Error caught_error() { return {ErrorCode::kInternal, "unexpected: " + caught_text()}; }

}  // namespace cove::base
