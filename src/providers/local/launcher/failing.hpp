/// How cove-launcher ends where a step fails.
#pragma once

namespace cove::local {

/// Writes `what` and errno to standard error and ends with kLauncherFailed.
[[noreturn]] void fail(const char* what);

/// Fails unless `done`.
void require(bool done, const char* what);

}  // namespace cove::local
