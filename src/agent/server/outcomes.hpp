/// RecentOutcomes: what came of recent changes, so that a repeat is answered and not done again.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "agent/server/connection.hpp"
#include "wire/request.hpp"

namespace cove::agent {

/// A finished request's answer: a response's payload or an error's.
struct Answer {
  bool failed = false;
  Bytes payload;
};

void give(const StreamRef& stream, const Answer& answer);

class RecentOutcomes {
 public:
  /// True: the id is new and the caller does the work and calls `finish`. False: it was answered
  /// already, or is under way and `stream` is answered with it.
  bool begin(const wire::RequestId& id, const StreamRef& stream);

  /// Answers everybody who asked with this id and remembers it.
  void finish(const wire::RequestId& id, Answer answer);

  /// Answers everybody who asked with `error`, and forgets the id: nothing was changed, so a repeat
  /// is done anew.
  void abandon(const wire::RequestId& id, const Error& error);

 private:
  static constexpr std::size_t kRemembered = 2048;
  struct Entry {
    std::vector<StreamRef> waiting;
    std::optional<Answer> answer;
  };

  std::map<wire::RequestId, Entry> entries_;
  std::deque<wire::RequestId> finished_;
};

}  // namespace cove::agent
