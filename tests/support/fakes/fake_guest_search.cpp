// The search part of FakeGuest: what it finds is scripted by the test.
#include <utility>

#include "support/fakes/fake_guest.hpp"

namespace cove::testing {
namespace {

template <class Found>
class FakeStream final : public SearchStream<Found> {
 public:
  FakeStream(Scheduler& scheduler, FakeSearch<Found> search, FakeGuestLog& log)
      : scheduler_(scheduler), search_(std::move(search)), log_(log) {}
  ~FakeStream() override { log_.search_dropped = true; }

  Task<Result<std::vector<Found>>> next(const CallContext& call) override {
    ++log_.batches_asked;
    if (given_ < search_.batches.size()) co_return search_.batches[given_++];
    if (!search_.ends) {
      const auto never = base::Completion<Result<void>>::make(scheduler_);
      const Result<void> ended = co_await base::wait_bounded<void>(never, scheduler_, call);
      search_.summary.ended = ended.error().code() == ErrorCode::kTimeout ? SearchEnd::kDeadline
                                                                          : SearchEnd::kCancelled;
    }
    co_return std::vector<Found>();
  }

  const SearchSummary& summary() const override { return search_.summary; }

 private:
  Scheduler& scheduler_;
  FakeSearch<Found> search_;
  FakeGuestLog& log_;
  std::size_t given_ = 0;
};

}  // namespace

Task<Result<std::unique_ptr<GrepStream>>> FakeGuest::grep(const GuestPath&, const GrepQuery&,
                                                          const CallContext& call) {
  COVE_CO_TRY_VOID(begin("grep", call));
  co_return std::unique_ptr<GrepStream>(
      std::make_unique<FakeStream<GrepLine>>(scheduler_, lines, log));
}

Task<Result<std::unique_ptr<FindStream>>> FakeGuest::find(const GuestPath&, const FindQuery&,
                                                          const CallContext& call) {
  COVE_CO_TRY_VOID(begin("find", call));
  co_return std::unique_ptr<FindStream>(
      std::make_unique<FakeStream<FindEntry>>(scheduler_, entries, log));
}

}  // namespace cove::testing
