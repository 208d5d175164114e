/// Reports of preparations as JSON (docs/prepare.md, "The report"): for the command and the C ABI.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cove/prepare.hpp>

namespace cove::base {

nlohmann::json prepare_json(const StepReport& step);
nlohmann::json prepare_json(const PrepareReport& report);

}  // namespace cove::base
