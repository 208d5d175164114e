/// Descriptors 0 to 2 of a process that closed them.
#pragma once

namespace cove::base {

/// Puts /dev/null in the place of stdin, stdout and stderr where they are closed. Else the next
/// file that is opened gets their number: what the process prints would go into it, and whoever
/// gives these numbers a new meaning, as daemons do, would close it. Any thread.
void fill_standard_descriptors() noexcept;

}  // namespace cove::base
