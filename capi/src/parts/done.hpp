/// cove_done: a question to a part of the host, answered once, by any thread, now or later.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include <sys/types.h>

#include <cove/call_context.hpp>
#include <cove/log.hpp>

#include "base/async/completion.hpp"
#include "parts/answer.hpp"

namespace cove::capi {

/// What the questions of one part share with it. Once it is closed, the part's Cove may be gone,
/// and no answer touches it any more.
struct PartLink {
  PartLink(const char* its_name, std::shared_ptr<LogSink> its_log, const Clock& its_clock)
      : name(its_name), log(std::move(its_log)), clock(its_clock) {}

  void close() {
    const std::lock_guard lock(mutex);
    is_closed = true;
  }

  const char* const name;  ///< "metadata store"
  const std::shared_ptr<LogSink> log;
  const Clock& clock;  ///< while it is open

  std::shared_mutex mutex;
  bool is_closed = false;  ///< guarded by mutex
};

using Asked = base::Completion<Result<Answer>>;

/// Set when nobody waits for an answer any more.
using Ended = std::shared_ptr<std::atomic<bool>>;

}  // namespace cove::capi

struct cove_done {
  cove_done(std::shared_ptr<cove::capi::PartLink> its_link, const char* its_slot,
            std::size_t its_wanted, cove::CallContext its_call,
            std::shared_ptr<cove::capi::Asked> its_asked, cove::capi::Ended its_ended);

  /// The first answer counts, also where it makes no sense: then it is an error for who asked, and
  /// kInvalidArgument here. kFailedPrecondition: another one, or after a fork.
  cove::Result<void> answer(cove::Result<cove::capi::Answer> answer);

  /// The answer cannot be read, because of `why`.
  cove::Result<void> refuse(const cove::Error& why);

  bool is_over() const;
  std::int64_t remaining_ms() const;
  bool is_forked() const noexcept;

 private:
  void complete(cove::Result<cove::capi::Answer> answer);
  cove::Error nonsense(const std::string& what) const;
  void complain(const std::string& what) const;

  const std::shared_ptr<cove::capi::PartLink> link_;
  const char* const slot_;
  const std::size_t wanted_;  // the index of the answer
  const cove::CallContext call_;
  const std::shared_ptr<cove::capi::Asked> asked_;
  const cove::capi::Ended ended_;
  const pid_t process_;
  std::atomic<bool> answered_{false};
};

namespace cove::capi {

/// The body of every function that answers: read() gives a Result of one of the answers.
template <class Read>
cove_status answer_by(cove_done* done, cove_error** out_error, Read&& read) noexcept {
  return guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(require(done, "done"));
    auto given = read();
    if (!given) return done->refuse(given.error());
    using Kind = typename decltype(given)::value_type;
    return done->answer(Answer(std::in_place_type<Kind>, *std::move(given)));
  });
}

}  // namespace cove::capi
