#include "runtime/use/prepare_gate.hpp"

#include "base/text/display_text.hpp"

namespace cove::runtime {

void StoreGate::complain(std::string_view what) {
  if (!machinery_.log) return;
  try {
    machinery_.log->write(LogLevel::kWarning, base::harmless(what));
  } catch (...) {
    // The sink is the host's: there is nobody left to tell.
  }
}

}  // namespace cove::runtime
