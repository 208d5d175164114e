#include "environment.hpp"

#include "values.hpp"

namespace cove_node {
namespace {

/// Runs before Node takes anything of the environment apart. JavaScript does not run any more.
void end_environment(void* data) {
  auto* const environment = static_cast<Environment*>(data);
  environment->live->end_all();
  environment->mailbox->close();
}

void destroy_environment(napi_env, void* data, void*) { delete static_cast<Environment*>(data); }

napi_value context_of(const Environment& environment, const cove_error* error) {
  const Library& library = *environment.library;
  Object context(environment.env);
  const std::size_t count = library.cove_error_context_count(error);
  for (std::size_t i = 0; i < count; ++i) {
    context.text(library.cove_error_context_key(error, i),
                 library.cove_error_context_value(error, i));
  }
  return context.value();
}

}  // namespace

bool Environment::install(napi_env env) {
  auto environment = std::make_unique<Environment>();
  environment->env = env;
  environment->live = std::make_shared<Live>();
  environment->mailbox = Mailbox::open(env);
  if (environment->mailbox == nullptr) return false;
  Environment* const raw = environment.get();
  if (napi_set_instance_data(env, raw, &destroy_environment, nullptr) != napi_ok) return false;
  (void)environment.release();
  return napi_add_env_cleanup_hook(env, &end_environment, raw) == napi_ok;
}

Environment* Environment::of(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return static_cast<Environment*>(data);
}

napi_value Environment::make(napi_ref maker, const napi_value* arguments, std::size_t count) const {
  napi_value function = nullptr;
  napi_value made = nullptr;
  if (napi_get_reference_value(env, maker, &function) != napi_ok ||
      napi_call_function(env, undefined_value(env), function, count, arguments, &made) != napi_ok) {
    return nullptr;
  }
  return made;
}

napi_value error_value(const Environment& environment, const cove_error* error) {
  const Library& library = *environment.library;
  napi_env env = environment.env;
  const cove_error* const cause = library.cove_error_cause(error);
  const std::array arguments = {
      number_value(env, library.cove_error_code(error)),
      text_value(env, library.cove_error_message(error)),
      text_value(env, library.cove_error_describe(error)),
      number_value(env, static_cast<double>(library.cove_error_retry_after_ms(error))),
      context_of(environment, error),
      cause == nullptr ? undefined_value(env) : error_value(environment, cause)};
  return environment.make(environment.make_error, arguments);
}

napi_value error_value(const Environment& environment, cove_status code,
                       const std::string& message) {
  napi_env env = environment.env;
  const std::array arguments = {number_value(env, code),  text_value(env, message),
                                text_value(env, message), number_value(env, -1),
                                Object(env).value(),      undefined_value(env)};
  return environment.make(environment.make_error, arguments);
}

}  // namespace cove_node
