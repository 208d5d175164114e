/// Part: what the stores and the provider of a host have in common. It calls the slots of a host's
/// struct, on the scheduler or on threads of their own, and waits for their answers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <cove/parts.hpp>

#include "base/async/worker_pool.hpp"
#include "parts/done.hpp"

namespace cove::capi {

/// What the adapters are made with.
struct PartRuntime {
  std::shared_ptr<const PartTools> tools;
  std::shared_ptr<LogSink> log;  ///< may be null
};

/// Asks the host: (done), which is the host's from then on.
using AskHost = std::function<void(cove_done* done)>;

class Part {
 public:
  /// `threads` = 0: slots are called on the scheduler.
  Part(const char* name, PartRuntime runtime, unsigned threads);

  /// Waits for slots that are on their threads.
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const PartTools& tools() const noexcept { return *runtime_.tools; }
  const std::shared_ptr<PartLink>& link() const noexcept { return link_; }

  /// Calls a slot, and waits for its answer of type T as long as the call lasts. `ask` keeps what
  /// it gives the host: it may be called later than this ends. `slot` is a literal.
  template <class T>
  Task<Result<T>> ask(const char* slot, AskHost ask, const CallContext& call) {
    COVE_CO_TRY_VOID(call.check(tools().clock()));
    const auto asked = Asked::make(tools().scheduler());
    const auto ended = std::make_shared<std::atomic<bool>>(false);
    auto done = std::make_unique<cove_done>(link_, slot, Answer(std::in_place_type<T>).index(),
                                            call, asked, ended);
    send(std::move(ask), std::move(done));
    Result<Answer> answer = co_await base::wait_bounded<Answer>(asked, tools().scheduler(), call);
    *ended = true;
    if (!answer) co_return answer.error();
    co_return std::get<T>(*std::move(answer));
  }

  /// The same of a slot that answers cove_done_ok.
  Task<Result<void>> tell(const char* slot, AskHost ask, const CallContext& call);

  /// kInternal: an answer that makes no sense.
  Error nonsense(const char* slot, const std::string& what) const;

 private:
  void send(AskHost ask, std::unique_ptr<cove_done> done);

  const PartRuntime runtime_;
  const std::shared_ptr<PartLink> link_;
  std::unique_ptr<base::WorkerPool> threads_;
};

/// Reads `flags` and `threads` of a struct: how many threads its slots have, 0 = none.
Result<unsigned> read_threads(std::uint32_t flags, std::uint32_t known, std::uint32_t threads,
                              const char* structure);

}  // namespace cove::capi
