/// Opening and closing, acquiring and releasing, and what needs no open Cove.
#include <atomic>
#include <memory>

#include "function_reference.hpp"
#include "functions.hpp"
#include "key.hpp"
#include "parts.hpp"
#include "reporter.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// Cove's messages on their way to the host's function. More than it takes are lost, and counted.
class Log {
 public:
  Log(const Environment& environment, napi_value function)
      : mailbox_(environment.mailbox),
        state_(std::make_shared<State>(FunctionReference::make(environment, function))) {}

  static void write(void* user_data, std::int32_t level, const char* message) {
    const Log& log = *static_cast<Log*>(user_data);
    State& state = *log.state_;
    if (state.waiting.fetch_add(1) >= kMostWaiting) {
      state.waiting.fetch_sub(1);
      state.lost.fetch_add(1);
      return;
    }
    log.mailbox_->post(std::make_unique<Line>(log.state_, level, message));
  }

  static void drop(void* user_data) { delete static_cast<Log*>(user_data); }

 private:
  static constexpr int kMostWaiting = 10'000;

  struct State {
    explicit State(std::shared_ptr<FunctionReference> its_function)
        : function(std::move(its_function)) {}
    std::shared_ptr<FunctionReference> function;
    std::atomic<int> waiting{0};
    std::atomic<int> lost{0};
  };

  struct Line final : Message {
    Line(std::shared_ptr<State> its_state, std::int32_t its_level, const char* its_message)
        : state(std::move(its_state)), level(its_level), message(its_message) {}

    void deliver(napi_env env) override {
      state->waiting.fetch_sub(1);
      const int lost = state->lost.exchange(0);
      if (lost > 0) {
        call(env, COVE_LOG_WARNING, std::to_string(lost) + " messages before this were lost");
      }
      call(env, level, message);
    }

    void call(napi_env env, std::int32_t of_level, const std::string& text) const {
      const napi_value arguments[] = {number_value(env, of_level), text_value(env, text)};
      state->function->call(env, 2, arguments);
    }

    std::shared_ptr<State> state;
    std::int32_t level;
    std::string message;
  };

  MailboxPtr mailbox_;
  std::shared_ptr<State> state_;
};

}  // namespace

napi_value version(Arguments& in) { return text_value(in.env(), in.library().cove_version()); }

napi_value status_name(Arguments& in) {
  const auto code = static_cast<cove_status>(in.number(0));
  return text_value(in.env(), in.library().cove_status_name(code));
}

napi_value cancel_create(Arguments& in) {
  cove_cancel* cancel = nullptr;
  cove_error* error = nullptr;
  if (in.library().cove_cancel_create(&cancel, &error) != COVE_OK) return throw_error(in, error);
  return wrap(in.env(), std::make_shared<CancelHandle>(in.environment().library, cancel));
}

napi_value cancel_trigger(Arguments& in) {
  const auto cancel = in.handle<CancelHandle>(0);
  if (cancel == nullptr) return nullptr;
  cancel->library->cove_cancel_trigger(cancel->raw);
  return nullptr;
}

napi_value sandbox_id_of(Arguments& in) {
  const Key key(in, 0);
  cove_buffer* id = nullptr;
  cove_error* error = nullptr;
  const Library& library = in.library();
  if (library.cove_sandbox_id_of(&key.raw, &id, &error) != COVE_OK) return throw_error(in, error);
  napi_value const text =
      text_value(in.env(), {library.cove_buffer_data(id), library.cove_buffer_size(id)});
  library.cove_buffer_free(id);
  return text;
}

napi_value config_schema(Arguments& in) {
  return text_value(in.env(), in.library().cove_config_schema());
}

napi_value open(Arguments& in) {
  const std::string config = in.text(0);
  return start_call<cove>(in, nullptr, [&](auto done, void* data, cove_error** error) {
    cove_open_options options = COVE_OPEN_OPTIONS_INIT;
    if (is_function(in.env(), in.at(1))) {
      options.log = &Log::write;
      options.log_user_data = new Log(in.environment(), in.at(1));
      options.log_drop = &Log::drop;
    }
    // The structs are read during the call; what is behind them is C's to end from then on.
    cove_clock clock = COVE_CLOCK_INIT;
    if (auto state = unwrap<ClockState>(in.env(), in.at(2))) {
      clock = clock_slots(std::move(state));
      options.clock = &clock;
    }
    cove_metadata_store metadata = COVE_METADATA_STORE_INIT;
    if (is_function(in.env(), in.at(3))) {
      metadata = metadata_slots(in.environment(), in.at(3));
      options.metadata = &metadata;
    }
    return in.library().cove_open_start(config.c_str(), &options, done, data, nullptr, error);
  });
}

napi_value observe(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  if (!is_function(in.env(), in.at(1))) in.fail("argument 1 is no function");
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status = in.library().cove_set_observer(
      handle->raw, &Reporter::hear, new Reporter(in.environment(), in.at(1)), &Reporter::drop,
      &error);
  return status == COVE_OK ? nullptr : throw_error(in, error);
}

napi_value close(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const std::uint64_t timeout_ms = whole_number(in.number(1));
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_close_start(handle->raw, timeout_ms, done, data, nullptr, error);
  });
}

napi_value close_all(Arguments& in) {
  in.environment().live->end_all();
  return nullptr;
}

napi_value let_go(Arguments& in) {
  Box* box = box_of<CoveHandle>(in.env(), in.at(0));
  if (box == nullptr) box = box_of<WorkspaceHandle>(in.env(), in.at(0));
  if (box == nullptr) box = box_of<PrepareHandle>(in.env(), in.at(0));
  if (box == nullptr) box = box_of<StepHandle>(in.env(), in.at(0));
  if (box == nullptr) {
    in.fail("argument 0 is another handle");
    return nullptr;
  }
  box->reset();
  return nullptr;
}

napi_value acquire(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const Key key(in, 1);
  const Fields fields = in.fields(2);
  const auto chat_id = fields.text("chatId");
  const auto sandbox_id = fields.text("sandboxId");
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  options.chat_id = chat_id ? chat_id->c_str() : nullptr;
  options.sandbox_id = sandbox_id ? sandbox_id->c_str() : nullptr;
  const auto prepare = unwrap<PrepareHandle>(in.env(), fields.at("prepare"));
  options.prepare = prepare == nullptr ? nullptr : prepare->raw;
  in.limits(fields, options);
  return start_call<cove_workspace>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_acquire_start(handle->raw, &key.raw, &options, done, data, nullptr,
                                           error);
  });
}

napi_value remove_session(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  const Key key(in, 1);
  const Fields fields = in.fields(2);
  const auto chat_id = fields.text("chatId");
  const auto sandbox_id = fields.text("sandboxId");
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  options.chat_id = chat_id ? chat_id->c_str() : nullptr;
  options.sandbox_id = sandbox_id ? sandbox_id->c_str() : nullptr;
  in.limits(fields, options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_remove_session_start(handle->raw, &key.raw, &options, done, data,
                                                  nullptr, error);
  });
}

napi_value release(Arguments& in) {
  const auto handle = in.handle<WorkspaceHandle>(0);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(1), options);
  return start_call<Nothing>(in, handle, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_workspace_release_start(handle->raw, &options, done, data, nullptr,
                                                     error);
  });
}

}  // namespace cove_node
