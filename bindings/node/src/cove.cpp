/// Opening and closing, acquiring and releasing, and what needs no open Cove.
#include <atomic>
#include <memory>
#include <optional>

#include "function_reference.hpp"
#include "functions.hpp"
#include "parts.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

/// A workspace's key as C takes it.
struct Key {
  Key(Arguments& in, std::size_t index) {
    const Fields fields = in.fields(index);
    source_type = fields.text("sourceType").value_or("");
    source_id = fields.text("sourceId").value_or("");
    user_id = fields.text("userId").value_or("");
    raw.source_type = source_type.c_str();
    raw.source_id = source_id.c_str();
    raw.user_id = user_id.c_str();
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  std::string source_type;
  std::string source_id;
  std::string user_id;
  cove_workspace_key raw = COVE_WORKSPACE_KEY_INIT;
};

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

/// Parts of JavaScript's on their way to cove_open, which takes them over; else they end here.
class OpenParts {
 public:
  explicit OpenParts(Arguments& in) {
    if (auto state = unwrap<ClockState>(in.env(), in.at(2))) clock_ = clock_slots(std::move(state));
    if (is_function(in.env(), in.at(3))) metadata_ = metadata_slots(in.environment(), in.at(3));
  }
  OpenParts(const OpenParts&) = delete;
  OpenParts& operator=(const OpenParts&) = delete;
  ~OpenParts() {
    if (is_handed_over_) return;
    if (clock_) clock_->destroy(clock_->self);
    if (metadata_) metadata_->destroy(metadata_->self);
  }

  /// Right before the call.
  void hand_over(cove_open_options& options) noexcept {
    is_handed_over_ = true;
    if (clock_) options.clock = &*clock_;
    if (metadata_) options.metadata = &*metadata_;
  }

 private:
  std::optional<cove_clock> clock_;
  std::optional<cove_metadata_store> metadata_;
  bool is_handed_over_ = false;
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
  if (const auto work = cancel->work.lock()) work->abandon();
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

napi_value open(Arguments& in) {
  std::string config = in.text(0);
  // Held twice: log_drop ends the inner one, which is C's from the call on.
  auto log = std::make_shared<std::unique_ptr<Log>>();
  if (is_function(in.env(), in.at(1))) *log = std::make_unique<Log>(in.environment(), in.at(1));
  auto parts = std::make_shared<OpenParts>(in);
  return run_call<cove>(in, std::make_shared<Keep>(),
                        [library = in.environment().library, config = std::move(config), log,
                         parts](cove** out, cove_error** error) {
                          cove_open_options options = COVE_OPEN_OPTIONS_INIT;
                          if (*log != nullptr) {
                            options.log = &Log::write;
                            options.log_user_data = log->release();
                            options.log_drop = &Log::drop;
                          }
                          parts->hand_over(options);
                          return library->cove_open(config.c_str(), &options, out, error);
                        });
}

napi_value close(Arguments& in) {
  auto handle = in.handle<CoveHandle>(0);
  const std::uint64_t timeout_ms = whole_number(in.number(1));
  return run_call<Nothing>(in, std::make_shared<Keep>(),
                           [handle = std::move(handle), timeout_ms](Nothing**, cove_error** error) {
                             return handle->library->cove_close(handle->raw, timeout_ms, error);
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

napi_value release(Arguments& in) {
  auto handle = in.handle<WorkspaceHandle>(0);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(1), options);
  return run_call<Nothing>(
      in, std::make_shared<Keep>(),
      [handle = std::move(handle), cancel = in.cancel(), options](Nothing**, cove_error** error) {
        return handle->library->cove_workspace_release(handle->raw, &options, error);
      });
}

}  // namespace cove_node
