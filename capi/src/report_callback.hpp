/// Callbacks of the host that hear JSON: progress of long calls, and events.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "callbacks.hpp"
#include "options.hpp"

namespace cove::capi {

/// Shared by all that tell it something; the last one's end drops the host's data.
class ReportCallback {
 public:
  ReportCallback(cove_report_fn hear, UserData user) : hear_(hear), user_(std::move(user)) {}

  void tell(const std::string& json) const {
    const CallbackScope scope;
    hear_(user_.get(), json.c_str());
  }

 private:
  const cove_report_fn hear_;
  const UserData user_;
};

using ReportCallbackPtr = std::shared_ptr<const ReportCallback>;

/// The data that options which may hear of progress bring. From the moment that the options can be
/// read, `drop` is ours to call, whatever else is wrong with them. Not there in older structs.
template <class Options>
UserData user_of(const Options* options) {
  if (options == nullptr || !is_readable(rule_of<Options>(), options)) return {nullptr, nullptr};
  Options ours{};
  std::memcpy(&ours, options, std::min<std::size_t>(struct_size_of(options), sizeof ours));
  return {ours.user_data, ours.drop};
}

/// Null where nobody wants to hear; then the data ends here.
inline ReportCallbackPtr report_to(cove_report_fn hear, UserData user) {
  if (hear == nullptr) return nullptr;
  return std::make_shared<const ReportCallback>(hear, std::move(user));
}

}  // namespace cove::capi
