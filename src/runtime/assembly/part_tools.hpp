/// What the parts that a host brings use of their Cove.
#pragma once

#include <memory>

#include <cove/id_source.hpp>
#include <cove/parts.hpp>

#include "base/async/io_loop.hpp"

namespace cove::runtime {

/// Borrowed: all outlive it.
std::shared_ptr<const PartTools> make_part_tools(base::IoLoop& loop, const Clock& clock,
                                                 IdSource& ids);

}  // namespace cove::runtime
