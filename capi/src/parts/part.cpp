#include "parts/part.hpp"

namespace cove::capi {

Part::Part(const char* name, PartRuntime runtime, unsigned threads)
    : runtime_(std::move(runtime)),
      link_(std::make_shared<PartLink>(name, runtime_.log, runtime_.tools->clock())) {
  if (threads > 0) threads_ = std::make_unique<base::WorkerPool>(threads);
}

Part::~Part() {
  link_->close();
  threads_.reset();
}

void Part::send(AskHost ask, std::unique_ptr<cove_done> done) {
  if (!threads_) {
    const CallbackScope scope;
    ask(done.release());
    return;
  }
  // In a shared box, since the pool's work can be copied. Where it is never run, or nobody waits
  // any more, it is freed here.
  struct Box {
    explicit Box(std::unique_ptr<cove_done> its_done) : done(its_done.release()) {}
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;
    ~Box() { cove_done_free(done); }
    cove_done* done;
  };
  threads_->submit([ask = std::move(ask), box = std::make_shared<Box>(std::move(done))] {
    if (!box->done->is_over()) ask(std::exchange(box->done, nullptr));
  });
}

Task<Result<void>> Part::tell(const char* slot, AskHost ask, const CallContext& call) {
  Task<Result<Nothing>> asking = this->ask<Nothing>(slot, std::move(ask), call);
  COVE_CO_TRY_VOID(co_await asking);
  co_return ok();
}

Error Part::nonsense(const char* slot, const std::string& what) const {
  return {ErrorCode::kInternal, std::string("the application's ") + link_->name + " answered '" +
                                    slot + "' with " + what};
}

Result<unsigned> read_threads(std::uint32_t flags, std::uint32_t known, std::uint32_t threads,
                              const char* structure) {
  const std::string name = structure;
  COVE_TRY_VOID(check_flags(flags, known | COVE_PART_BLOCKING, (name + ".flags").c_str()));
  constexpr std::uint32_t kMost = 64;
  constexpr std::uint32_t kByDefault = 4;
  if (threads > kMost) {
    return Error(ErrorCode::kInvalidArgument,
                 name + ".threads is " + std::to_string(threads) + ", not 0 to 64");
  }
  if ((flags & COVE_PART_BLOCKING) != 0) return threads == 0 ? kByDefault : threads;
  if (threads == 0) return 0U;
  return Error(ErrorCode::kInvalidArgument, name + ".threads is set without COVE_PART_BLOCKING");
}

}  // namespace cove::capi
