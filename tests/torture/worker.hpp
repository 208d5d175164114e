/// One process that uses Cove at random until it is killed, or its time is over.
#pragma once

#include <chrono>
#include <cstdint>

#include "place.hpp"

namespace torture {

/// Works until `end`; returns the process's exit code. `number`: of this worker among all that were
/// started, part of the names of its files.
int work(const Place& place, std::uint64_t number, std::uint64_t seed, int notes,
         std::chrono::steady_clock::time_point end);

}  // namespace torture
