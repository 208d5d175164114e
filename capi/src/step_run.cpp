#include "step_run.hpp"

#include <utility>

#include "options.hpp"
#include "prepare.hpp"

using namespace cove;

Result<void> cove_step_run::answer(capi::StepAnswer answer) {
  if (is_forked()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "this step runs in the process that this one was forked from");
  }
  if (answered_.exchange(true)) {
    return Error(ErrorCode::kFailedPrecondition, "this step was finished already");
  }
  // Where the acquire does not wait any more, it finds this taken.
  static_cast<void>(done_->complete(std::move(answer)));
  return ok();
}

namespace cove::capi {
namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

/// Hands the run to the host, whose callback frees it now or later.
void ask_host(const StepCallback& callback, std::unique_ptr<cove_step_run> run) {
  const CallbackScope scope;
  callback.apply(callback.user.get(), run.release());
}

}  // namespace

Task<Result<void>> run_host_step(std::shared_ptr<const StepCallback> callback,
                                 std::weak_ptr<Library> library, PrepareContext& context) {
  LibraryPtr held = library.lock();
  if (!held || context.workspace == nullptr) {
    co_return Error(ErrorCode::kCancelled, "the Cove was closed before the step began");
  }
  const StepDone done = base::Completion<Result<StepAnswer>>::make(context.scheduler);
  const auto teller = std::make_shared<StepTeller>(StepTeller{context.scheduler, context.tell});
  auto run = std::make_unique<cove_step_run>(std::move(held), *context.workspace, context.call,
                                             context.note, teller, done);
  ask_host(*callback, std::move(run));
  Result<StepAnswer> answer =
      co_await base::wait_bounded<StepAnswer>(done, context.scheduler, context.call);
  teller->tell = nullptr;
  if (!answer) co_return answer.error();
  context.nothing_to_do = answer->nothing_to_do;
  context.reason = std::move(answer->reason);
  context.output = std::move(answer->output);
  context.note = std::move(answer->note);
  if (answer->error) co_return *answer->error;
  co_return ok();
}

}  // namespace cove::capi

extern "C" {

cove_workspace* cove_step_run_workspace(const cove_step_run* run) {
  return run == nullptr ? nullptr : &run->workspace;
}

const char* cove_step_run_note(const cove_step_run* run) {
  return run == nullptr ? "" : run->note.c_str();
}

int32_t cove_step_run_is_over(const cove_step_run* run) {
  if (run == nullptr || run->is_forked()) return 1;
  return run->call.check(run->workspace.library->clock()) ? 0 : 1;
}

cove_status cove_step_run_tell(cove_step_run* run, const char* text, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(run, "run"));
    COVE_TRY_VOID(capi::require(text, "text"));
    COVE_TRY_VOID(capi::check_usable(*run->workspace.library));
    run->teller->scheduler.post([teller = run->teller, told = std::string(text)] {
      if (teller->tell) teller->tell(told);
    });
    return ok();
  });
}

cove_status cove_step_run_finish(cove_step_run* run, const cove_step_result* result,
                                 cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(run, "run"));
    COVE_TRY(const auto read, capi::read_options(result));
    COVE_TRY_VOID(capi::check_flags(read.nothing_to_do, 1, "cove_step_result.nothing_to_do"));
    return run->answer({read.nothing_to_do == 1, capi::text_of(read.reason),
                        capi::text_of(read.output), capi::text_of(read.note), std::nullopt});
  });
}

cove_status cove_step_run_fail(cove_step_run* run, cove_status code, const char* message,
                               const char* output, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(run, "run"));
    COVE_TRY_VOID(capi::require(message, "message"));
    if (code < COVE_INVALID_ARGUMENT || code > COVE_INTERNAL) {
      return Error(ErrorCode::kInvalidArgument,
                   "a failure needs the code of an error, not " + std::to_string(code));
    }
    return run->answer(
        {false, {}, capi::text_of(output), {}, Error(static_cast<ErrorCode>(code), message)});
  });
}

void cove_step_run_free(cove_step_run* run) {
  if (run == nullptr || run->is_forked()) return;
  // Where it was answered, this is refused, as it should be.
  cove_error_free(capi::run([&] {
    return run->answer({false,
                        {},
                        {},
                        {},
                        Error(ErrorCode::kUnavailable,
                              "the application let go of the step without finishing it")});
  }));
  delete run;
}

}  // extern "C"
