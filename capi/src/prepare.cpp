#include "prepare.hpp"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "base/text/prepare_json.hpp"
#include "buffer.hpp"
#include "options.hpp"

using namespace cove;

static_assert(static_cast<int>(PrepareStage::kDirectories) == COVE_STAGE_DIRECTORIES);
static_assert(static_cast<int>(PrepareStage::kMirrors) == COVE_STAGE_MIRRORS);
static_assert(static_cast<int>(PrepareStage::kInputFiles) == COVE_STAGE_INPUT_FILES);
static_assert(static_cast<int>(PrepareStage::kSkills) == COVE_STAGE_SKILLS);
static_assert(static_cast<int>(PrepareStage::kBuiltinSkills) == COVE_STAGE_BUILTIN_SKILLS);
static_assert(static_cast<int>(PrepareStage::kAppInit) == COVE_STAGE_APP_INIT);
static_assert(static_cast<int>(PrepareStage::kSkillInit) == COVE_STAGE_SKILL_INIT);
static_assert(static_cast<int>(PrepareStage::kCapabilities) == COVE_STAGE_CAPABILITIES);
static_assert(static_cast<int>(StepPolicy::kRequired) == COVE_STEP_REQUIRED);
static_assert(static_cast<int>(StepPolicy::kBestEffort) == COVE_STEP_BEST_EFFORT);
static_assert(static_cast<int>(PrepareEvent::Kind::kWaiting) == COVE_PREPARE_WAITING);
static_assert(static_cast<int>(PrepareEvent::Kind::kStarted) == COVE_PREPARE_STARTED);
static_assert(static_cast<int>(PrepareEvent::Kind::kProgress) == COVE_PREPARE_PROGRESS);
static_assert(static_cast<int>(PrepareEvent::Kind::kFinished) == COVE_PREPARE_FINISHED);

namespace cove::capi {
namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

Result<std::string*> mirror_of(Mirrors& mirrors, std::int32_t mirror) {
  switch (mirror) {
    case COVE_MIRROR_NPM: return &mirrors.npm;
    case COVE_MIRROR_PYPI: return &mirrors.pypi;
    case COVE_MIRROR_APT: return &mirrors.apt;
    case COVE_MIRROR_GO: return &mirrors.go;
    case COVE_MIRROR_CARGO: return &mirrors.cargo;
    case COVE_MIRROR_MAVEN: return &mirrors.maven;
    case COVE_MIRROR_RUBYGEMS: return &mirrors.rubygems;
    default: break;
  }
  return Error(ErrorCode::kUnsupported,
               "this library knows no mirror of the number " + std::to_string(mirror));
}

using Variables = std::map<std::string, std::string>;

/// The body of both functions that set a variable.
cove_status set_variable(cove_prepare* prepare, Variables PrepareEnvironment::* which,
                         const char* name, const char* value, cove_error** out_error) {
  return guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(require(prepare, "prepare"));
    COVE_TRY_VOID(require(name, "name"));
    Variables& variables = prepare->inputs.environment.*which;
    if (value == nullptr) variables.erase(name);
    if (value != nullptr) variables[name] = value;
    return ok();
  });
}

Result<std::chrono::milliseconds> read_timeout(std::uint64_t count,
                                               std::chrono::milliseconds by_default) {
  return count == 0 ? by_default : milliseconds_of(count);
}

Result<PrepareStep> read_step(const char* name, const cove_step_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_step_options.reserved0"));
  PrepareStep step;
  step.name = text_of(name);
  step.fingerprint = text_of(read.fingerprint);
  COVE_TRY(step.timeout, read_timeout(read.timeout_ms, step.timeout));
  if (read.policy > COVE_STEP_BEST_EFFORT) {
    return Error(ErrorCode::kUnsupported,
                 "this library knows no policy of the number " + std::to_string(read.policy));
  }
  if (read.policy != 0) step.policy = static_cast<StepPolicy>(read.policy);
  if (read.after > COVE_STAGE_CAPABILITIES) {
    return Error(ErrorCode::kUnsupported,
                 "this library knows no stage of the number " + std::to_string(read.after));
  }
  if (read.after != 0) step.after = static_cast<PrepareStage>(read.after);
  return step;
}

/// What an observer of the host is called with.
struct ObserverCallback {
  ObserverCallback(cove_prepare_event_fn function, UserData its_user)
      : observe(function), user(std::move(its_user)) {}

  const cove_prepare_event_fn observe;
  const UserData user;
};

void tell_host(const ObserverCallback& callback, const PrepareEvent& event) {
  const std::string text =
      event.report ? base::dump_json(base::prepare_json(*event.report)) : event.text;
  const CallbackScope scope;
  callback.observe(callback.user.get(), static_cast<std::int32_t>(event.kind), event.step.c_str(),
                   text.c_str());
}

}  // namespace

PrepareInputs inputs_of(const cove_prepare* prepare, const LibraryPtr& library) {
  if (prepare == nullptr) return {};
  PrepareInputs inputs = prepare->inputs;
  for (const HostStep& step : prepare->steps) {
    PrepareStep ours = step.shape;
    // Weak: a call that is pending does not keep the Cove open.
    ours.apply = [callback = step.callback, weak = std::weak_ptr<Library>(library)](
                     PrepareContext& context) { return run_host_step(callback, weak, context); };
    inputs.steps.push_back(std::move(ours));
  }
  return inputs;
}

}  // namespace cove::capi

extern "C" {

cove_status cove_prepare_create(cove_prepare** out_prepare, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_prepare, "out_prepare"));
    *out_prepare = new cove_prepare();
    return ok();
  });
}

void cove_prepare_free(cove_prepare* prepare) { delete prepare; }

cove_status cove_prepare_set_mirror(cove_prepare* prepare, int32_t mirror, const char* url,
                                    cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    COVE_TRY(std::string* const which, capi::mirror_of(prepare->inputs.mirrors, mirror));
    *which = capi::text_of(url);
    return ok();
  });
}

cove_status cove_prepare_set_variable(cove_prepare* prepare, const char* name, const char* value,
                                      cove_error** out_error) {
  return capi::set_variable(prepare, &PrepareEnvironment::variables, name, value, out_error);
}

cove_status cove_prepare_set_secret(cove_prepare* prepare, const char* name, const char* value,
                                    cove_error** out_error) {
  return capi::set_variable(prepare, &PrepareEnvironment::secrets, name, value, out_error);
}

cove_status cove_prepare_set_locale(cove_prepare* prepare, const char* time_zone,
                                    const char* locale, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    prepare->inputs.environment.time_zone = capi::text_of(time_zone);
    prepare->inputs.environment.locale = capi::text_of(locale);
    return ok();
  });
}

cove_status cove_prepare_add_file(cove_prepare* prepare, const char* name, const void* data,
                                  size_t size, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    COVE_TRY_VOID(capi::require(name, "name"));
    COVE_TRY(const ByteView bytes, capi::read_data(data, size));
    InputFile file;
    file.name = name;
    file.content = Bytes(bytes.begin(), bytes.end());
    prepare->inputs.files.push_back(std::move(file));
    return ok();
  });
}

cove_status cove_prepare_add_host_file(cove_prepare* prepare, const char* name, const char* path,
                                       cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    COVE_TRY_VOID(capi::require(name, "name"));
    COVE_TRY_VOID(capi::require(path, "path"));
    InputFile file;
    file.name = name;
    file.content = HostPath{path};
    prepare->inputs.files.push_back(std::move(file));
    return ok();
  });
}

cove_status cove_prepare_set_init_script(cove_prepare* prepare, const char* text,
                                         const cove_init_options* options, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    COVE_TRY(const auto read, capi::read_options(options));
    COVE_TRY_VOID(capi::check_flags(read.reserved0, 0, "cove_init_options.reserved0"));
    prepare->inputs.init.reset();
    if (text == nullptr) return ok();
    InitScript script;
    script.text = text;
    script.version = capi::text_of(read.version);
    script.cwd = capi::text_of(read.cwd);
    COVE_TRY(script.timeout, capi::read_timeout(read.script_timeout_ms, script.timeout));
    prepare->inputs.init = std::move(script);
    return ok();
  });
}

cove_status cove_prepare_add_step(cove_prepare* prepare, const char* name,
                                  const cove_step_options* options, cove_step_fn apply,
                                  void* user_data, cove_drop_fn drop, cove_error** out_error) {
  capi::UserData user(user_data, drop);
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    COVE_TRY_VOID(capi::require(name, "name"));
    COVE_TRY_VOID(capi::require(reinterpret_cast<const void*>(apply), "apply"));
    COVE_TRY(PrepareStep shape, capi::read_step(name, options));
    auto callback = std::make_shared<const capi::StepCallback>(apply, std::move(user));
    prepare->steps.push_back({std::move(shape), std::move(callback)});
    return ok();
  });
}

cove_status cove_prepare_set_observer(cove_prepare* prepare, cove_prepare_event_fn observer,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error) {
  capi::UserData user(user_data, drop);
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(prepare, "prepare"));
    COVE_TRY_VOID(capi::require(reinterpret_cast<const void*>(observer), "observer"));
    const auto callback = std::make_shared<const capi::ObserverCallback>(observer, std::move(user));
    prepare->inputs.observer = [callback](const PrepareEvent& event) {
      capi::tell_host(*callback, event);
    };
    return ok();
  });
}

cove_status cove_workspace_prepare_report_json(cove_workspace* workspace, cove_buffer** out_json,
                                               cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::clear(out_json, "out_json"));
    COVE_TRY_VOID(capi::require(workspace, "workspace"));
    COVE_TRY_VOID(capi::check_usable(*workspace->library));
    const PrepareReport report = workspace->workspace.prepare_report();
    *out_json = capi::make_buffer(base::dump_json(base::prepare_json(report)));
    return ok();
  });
}

}  // extern "C"
