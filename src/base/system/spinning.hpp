/// Spinning: looking for what must come soon, before one sleeps for it.
///
/// To be woken costs as long as a short answer takes, and more where an idle processor is called by
/// an interrupt, as in most virtual machines. Whoever spins yields in between, so that the maker of
/// the answer runs where both share a processor. Any thread.
#pragma once

namespace cove::base {

/// False where others lately wanted the processor that a spinning thread gave away, and had it for
/// a slice: whoever sleeps is woken sooner then. Of the whole process, as the processors are.
bool is_spinning_worth_it() noexcept;

/// Lets others run; false where they take the processor for long: no longer worth it.
bool yield_spinning() noexcept;

}  // namespace cove::base
