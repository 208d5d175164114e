#include "prepare/pipeline/state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/hex.hpp"
#include "base/text/json.hpp"
#include "base/text/utf8.hpp"

namespace cove::prepare {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kMaxName = 300;
constexpr std::size_t kHashDigits = 64;

std::string text_at(const json& map, const char* name) {
  const auto found = map.find(name);
  return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string hash_at(const json& map, const char* name) {
  std::string text = text_at(map, name);
  return base::is_hex(text, kHashDigits) ? text : std::string();
}

std::uint64_t number_at(const json& map, const char* name) {
  const auto found = map.find(name);
  return found != map.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

StoreTime time_of(std::uint64_t milliseconds) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return StoreTime(std::chrono::milliseconds(std::min(milliseconds, kMost)));
}

StepState step_of(const json& map) {
  StepState step;
  step.name = text_at(map, "name");
  step.done = hash_at(map, "done");
  step.note = text_at(map, "note");
  step.failed = hash_at(map, "failed");
  step.failures = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      number_at(map, "failures"), std::numeric_limits<std::uint32_t>::max()));
  step.retry_at = time_of(number_at(map, "retry_at_ms"));
  return step;
}

json json_of(const StepState& step) {
  json map{{"name", step.name}};
  if (!step.done.empty()) map["done"] = step.done;
  if (!step.note.empty()) map["note"] = step.note;
  if (step.failed.empty()) return map;
  map["failed"] = step.failed;
  map["failures"] = step.failures;
  map["retry_at_ms"] = static_cast<std::uint64_t>(
      std::max<std::int64_t>(step.retry_at.time_since_epoch().count(), 0));
  return map;
}

}  // namespace

std::string hash_of(std::string_view fingerprint) { return base::sha256_hex(fingerprint); }

State State::parse(std::string_view text) {
  State state;
  if (text.size() > kMaxStateBytes) return state;
  const Result<json> document = base::parse_json(text);
  if (!document || !document->is_object() || number_at(*document, "version") != kVersion) {
    return state;
  }
  const auto steps = document->find("steps");
  if (steps == document->end() || !steps->is_array()) return state;
  for (const json& entry : *steps) {
    if (!entry.is_object()) continue;
    StepState step = step_of(entry);
    if (!step.name.empty() && step.name.size() <= kMaxName) state.put(std::move(step));
  }
  return state;
}

std::string State::text() const {
  // Written back to front: the newest are kept.
  std::size_t room = kMaxStateBytes - 64;  // for what stands around the steps
  std::vector<std::string> kept;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    std::string line = base::dump_json(json_of(*step));
    if (line.size() + 2 > room) break;
    room -= line.size() + 2;
    kept.push_back(std::move(line));
  }
  std::string text = "{\"version\":" + std::to_string(kVersion) + ",\"steps\":[";
  for (auto line = kept.rbegin(); line != kept.rend(); ++line) {
    text += (line == kept.rbegin() ? "\n" : ",\n") + *line;
  }
  return text + "]}\n";
}

const StepState* State::find(std::string_view name) const {
  const auto found = std::find_if(steps_.begin(), steps_.end(),
                                  [&](const StepState& step) { return step.name == name; });
  return found == steps_.end() ? nullptr : &*found;
}

void State::put(StepState step) {
  if (step.note.size() > kMaxNoteBytes || !base::is_utf8(step.note)) step.note.clear();
  std::erase_if(steps_, [&](const StepState& old) { return old.name == step.name; });
  steps_.push_back(std::move(step));
  if (steps_.size() > kMaxStateSteps) steps_.erase(steps_.begin());
}

}  // namespace cove::prepare
