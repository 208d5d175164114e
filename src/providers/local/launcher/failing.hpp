/// How cove-launcher ends where a step fails.
#pragma once

#include <cstddef>

namespace cove::local {

/// Writes `what` and errno to standard error and ends with kLauncherFailed.
[[noreturn]] void fail(const char* what);

/// Fails unless `done`.
void require(bool done, const char* what);

/// Writes what printf would, and fails where `text` is too small for it.
[[gnu::format(printf, 3, 4)]] void write_text(char* text, std::size_t size, const char* form, ...);

}  // namespace cove::local
