#include "agent/server/outcomes.hpp"

#include "wire/reply.hpp"

namespace cove::agent {

void give(const StreamRef& stream, const Answer& answer) {
  if (answer.failed) {
    stream.fail_with(answer.payload);
  } else {
    stream.respond(answer.payload);
  }
}

bool RecentOutcomes::begin(const wire::RequestId& id, const StreamRef& stream) {
  const auto [entry, is_new] = entries_.try_emplace(id);
  if (entry->second.answer) {
    give(stream, *entry->second.answer);
  } else {
    entry->second.waiting.push_back(stream);
  }
  return is_new;
}

void RecentOutcomes::finish(const wire::RequestId& id, Answer answer) {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return;
  for (const auto& stream : std::exchange(entry->second.waiting, {})) give(stream, answer);
  entry->second.answer = std::move(answer);
  finished_.push_back(id);
  if (finished_.size() <= kRemembered) return;
  entries_.erase(finished_.front());
  finished_.pop_front();
}

void RecentOutcomes::abandon(const wire::RequestId& id, const Error& error) {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return;
  const auto waiting = std::move(entry->second.waiting);
  entries_.erase(entry);
  for (const auto& stream : waiting) stream.fail(error);
}

}  // namespace cove::agent
