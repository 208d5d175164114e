// How a case says that this machine cannot run it: `if (!is_root()) return skip("needs root");`.
#pragma once

#include <string>

namespace cove::test {

/// What a test program ends with when every case that it ran was skipped and nothing failed. ctest
/// counts that as skipped (cmake/discover_tests.py); a line of the output would hide a failure.
inline constexpr int kSkippedStatus = 77;

/// Says why the running case cannot be run here; the caller returns. A case that fails after all is
/// failed. Only on the thread of the case.
void skip(const std::string& reason);

/// Says that a part of the running case is left out; the rest of it counts.
void skip_part(const std::string& reason);

}  // namespace cove::test
