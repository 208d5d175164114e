/// What a thread is asked while it waits in a call of Cove.
#pragma once

#include <functional>

namespace cove {

/// Sets what the calling thread is asked about every 50 milliseconds while one of its blocking
/// calls waits; an empty function ends that. Where it returns false the call is called off as by a
/// stop request, and returns when what it began has ended. For hosts whose language only notes a
/// signal and acts on it between two of its own steps, as interpreters do: Ctrl-C must not have to
/// wait for the call.
///
/// It is called on that thread, inside the call, and must not throw. What it calls of Cove may
/// wait, but is not asked about. It belongs to the thread, whatever Cove is called; a Cove's open
/// and close do not ask.
void set_wait_check(std::function<bool()> may_wait);

}  // namespace cove
