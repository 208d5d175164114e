/// What the C ABI says in JSON; docs/c-api.md lists the fields.
#pragma once

#include <string>
#include <vector>

#include <cove/cove.hpp>

namespace cove::capi {

std::string status_json(const Record& record);
std::string list_json(const RecordPage& page);
std::string sweep_json(const SweepReport& report);

/// {"destroyed"}.
std::string destroyed_json(std::uint32_t destroyed);

/// {"deployment", "archived", "stopped", "kept", "destroyed", "problems"}.
std::string recover_json(const RecoverReport& report);
std::string doctor_json(const std::vector<Finding>& findings);

}  // namespace cove::capi
