/// Reports of C's (progress, events) on their way to a function of JavaScript's.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "function_reference.hpp"
#include "values.hpp"

namespace cove_node {

/// The user_data of a cove_report_fn: deleted by its `drop`. The function gets the JSON, and how
/// many reports before it were lost since it did not take them.
class Reporter {
 public:
  Reporter(const Environment& environment, napi_value function)
      : mailbox_(environment.mailbox),
        state_(std::make_shared<State>(FunctionReference::make(environment, function))) {}

  static void hear(void* user_data, const char* json) {
    const Reporter& reporter = *static_cast<Reporter*>(user_data);
    State& state = *reporter.state_;
    if (state.waiting.fetch_add(1) >= kMostWaiting) {
      state.waiting.fetch_sub(1);
      state.lost.fetch_add(1);
      return;
    }
    reporter.mailbox_->post(std::make_unique<Report>(reporter.state_, json));
  }

  static void drop(void* user_data) { delete static_cast<Reporter*>(user_data); }

 private:
  static constexpr int kMostWaiting = 10'000;

  struct State {
    explicit State(std::shared_ptr<FunctionReference> its_function)
        : function(std::move(its_function)) {}
    std::shared_ptr<FunctionReference> function;
    std::atomic<int> waiting{0};
    std::atomic<int> lost{0};
  };

  struct Report final : Message {
    Report(std::shared_ptr<State> its_state, const char* its_json)
        : state(std::move(its_state)), json(its_json) {}

    void deliver(napi_env env) override {
      state->waiting.fetch_sub(1);
      const napi_value arguments[] = {text_value(env, json),
                                      number_value(env, state->lost.exchange(0))};
      state->function->call(env, 2, arguments);
    }

    std::shared_ptr<State> state;
    std::string json;
  };

  MailboxPtr mailbox_;
  std::shared_ptr<State> state_;
};

/// Fills the fields of an options struct by which C tells a function; none where it is no function.
template <class Options>
void report_to(const Environment& environment, napi_value function, Options& options) {
  if (!is_function(environment.env, function)) return;
  options.on_progress = &Reporter::hear;
  options.user_data = new Reporter(environment, function);
  options.drop = &Reporter::drop;
}

}  // namespace cove_node
