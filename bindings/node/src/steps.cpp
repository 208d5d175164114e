/// Steps of the host's own, which C asks for on its threads and JavaScript answers when it likes;
/// and who hears of all steps.
#include "function_reference.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// A function of JavaScript's on the way from one of C's callbacks, whose user_data this is.
class Caller {
 public:
  Caller(const Environment& environment, napi_value function)
      : library_(environment.library),
        mailbox_(environment.mailbox),
        function_(FunctionReference::make(environment, function)) {}

  static void drop(void* user_data) { delete static_cast<Caller*>(user_data); }

  /// cove_step_fn: (step, workspace, note).
  static void apply(void* user_data, cove_step_run* run) {
    const Caller& caller = *static_cast<Caller*>(user_data);
    auto step = std::make_shared<StepHandle>(caller.library_, run);
    caller.mailbox_->post(std::make_unique<Apply>(caller.function_, std::move(step)));
  }

  /// cove_prepare_event_fn: (event, step, text).
  static void observe(void* user_data, std::int32_t event, const char* step, const char* text) {
    const Caller& caller = *static_cast<Caller*>(user_data);
    caller.mailbox_->post(std::make_unique<Event>(caller.function_, event, step, text));
  }

 private:
  /// Where it is never delivered, the step fails as it goes.
  struct Apply final : Message {
    Apply(std::shared_ptr<FunctionReference> its_function, std::shared_ptr<StepHandle> its_step)
        : function(std::move(its_function)), step(std::move(its_step)) {}

    void deliver(napi_env env) override {
      const Library& library = *step->library;
      auto workspace = std::make_shared<WorkspaceHandle>(
          step->library, library.cove_step_run_workspace(step->raw), step);
      napi_value const note = text_value(env, library.cove_step_run_note(step->raw));
      const napi_value arguments[] = {wrap(env, std::move(step)),
                                      workspace_value(*Environment::of(env), std::move(workspace)),
                                      note};
      function->call(env, 3, arguments);
    }

    std::shared_ptr<FunctionReference> function;
    std::shared_ptr<StepHandle> step;
  };

  struct Event final : Message {
    Event(std::shared_ptr<FunctionReference> its_function, std::int32_t its_event,
          const char* its_step, const char* its_text)
        : function(std::move(its_function)), event(its_event), step(its_step), text(its_text) {}

    void deliver(napi_env env) override {
      const napi_value arguments[] = {number_value(env, event), text_value(env, step),
                                      text_value(env, text)};
      function->call(env, 3, arguments);
    }

    std::shared_ptr<FunctionReference> function;
    std::int32_t event;
    std::string step;
    std::string text;
  };

  LibraryPtr library_;
  MailboxPtr mailbox_;
  std::shared_ptr<FunctionReference> function_;
};

}  // namespace

napi_value prepare_step(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  const std::string name = in.text(1);
  const Fields fields = in.fields(2);
  const auto fingerprint = fields.text("fingerprint");
  if (!is_function(in.env(), in.at(3))) in.fail("argument 3 is no function");
  if (in.has_failed()) return nullptr;
  cove_step_options options = COVE_STEP_OPTIONS_INIT;
  options.policy = fields.truth("required") ? COVE_STEP_REQUIRED : COVE_STEP_BEST_EFFORT;
  options.fingerprint = fingerprint ? fingerprint->c_str() : nullptr;
  options.timeout_ms = fields.u64("stepTimeoutMs");
  options.after = fields.u32("after");
  cove_error* error = nullptr;
  if (in.library().cove_prepare_add_step(prepare->raw, name.c_str(), &options, &Caller::apply,
                                         new Caller(in.environment(), in.at(3)), &Caller::drop,
                                         &error) != COVE_OK) {
    return throw_error(in, error);
  }
  return nullptr;
}

napi_value prepare_observer(Arguments& in) {
  const auto prepare = in.handle<PrepareHandle>(0);
  if (!is_function(in.env(), in.at(1))) in.fail("argument 1 is no function");
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  if (in.library().cove_prepare_set_observer(prepare->raw, &Caller::observe,
                                             new Caller(in.environment(), in.at(1)), &Caller::drop,
                                             &error) != COVE_OK) {
    return throw_error(in, error);
  }
  return nullptr;
}

napi_value is_step_over(Arguments& in) {
  const auto step = in.handle<StepHandle>(0);
  if (in.has_failed()) return nullptr;
  napi_value over = nullptr;
  napi_get_boolean(in.env(), in.library().cove_step_run_is_over(step->raw) == 1, &over);
  return over;
}

napi_value tell_step(Arguments& in) {
  const auto step = in.handle<StepHandle>(0);
  const std::string text = in.text(1);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  if (in.library().cove_step_run_tell(step->raw, text.c_str(), &error) != COVE_OK) {
    return throw_error(in, error);
  }
  return nullptr;
}

napi_value finish_step(Arguments& in) {
  const auto step = in.handle<StepHandle>(0);
  const Fields fields = in.fields(1);
  const std::string reason = fields.text("reason").value_or("");
  const std::string output = fields.text("output").value_or("");
  const std::string note = fields.text("note").value_or("");
  if (in.has_failed()) return nullptr;
  cove_step_result result = COVE_STEP_RESULT_INIT;
  result.nothing_to_do = fields.flag("skipped", 1);
  result.reason = reason.c_str();
  result.output = output.c_str();
  result.note = note.c_str();
  cove_error* error = nullptr;
  if (in.library().cove_step_run_finish(step->raw, &result, &error) != COVE_OK) {
    return throw_error(in, error);
  }
  return nullptr;
}

napi_value fail_step(Arguments& in) {
  const auto step = in.handle<StepHandle>(0);
  const auto code = static_cast<cove_status>(in.number(1));
  const std::string message = in.text(2);
  const std::string output = in.text(3);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  if (in.library().cove_step_run_fail(step->raw, code, message.c_str(), output.c_str(), &error) !=
      COVE_OK) {
    return throw_error(in, error);
  }
  return nullptr;
}

}  // namespace cove_node
