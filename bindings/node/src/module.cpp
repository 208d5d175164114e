/// The addon: a thin loader of libcove.so and the names of its functions in JavaScript.
#include "functions.hpp"

namespace cove_node {
namespace {

struct Named {
  const char* name;
  napi_callback function;
};

/// (path, makeError, makeExecResult): null where it was loaded, else why not. Another call changes
/// nothing.
napi_value load(napi_env env, napi_callback_info info) {
  std::size_t count = 3;
  napi_value given[3] = {};
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  Environment& environment = *Environment::of(env);
  if (environment.library != nullptr) return null_value(env);
  std::string problem;
  LibraryPtr library = Library::load(read_text(env, given[0]).value_or(""), &problem);
  if (library == nullptr) return text_value(env, problem);
  if (napi_create_reference(env, given[1], 1, &environment.make_error) != napi_ok ||
      napi_create_reference(env, given[2], 1, &environment.make_exec_result) != napi_ok) {
    return nullptr;
  }
  environment.library = std::move(library);
  return null_value(env);
}

const Named kFunctions[] = {
    {"load", &load},
    {"version", &method<version>},
    {"statusName", &method<status_name>},
    {"cancelCreate", &method<cancel_create>},
    {"cancelTrigger", &method<cancel_trigger>},
    {"sandboxIdOf", &method<sandbox_id_of>},
    {"configSchema", &method<config_schema>},
    {"open", &method<open>},
    {"observe", &method<observe>},
    {"close", &method<close>},
    {"closeAll", &method<close_all>},
    {"letGo", &method<let_go>},
    {"clockCreate", &method<clock_create>},
    {"clockAdvance", &method<clock_advance>},
    {"clockMoved", &method<clock_moved>},
    {"answerDone", &method<answer_done>},
    {"answerFailure", &method<answer_failure>},
    {"answerVersion", &method<answer_version>},
    {"answerTime", &method<answer_time>},
    {"answerDocument", &method<answer_document>},
    {"answerDocuments", &method<answer_documents>},
    {"isDoneOver", &method<is_done_over>},
    {"writeAgent", &method<write_agent>},
    {"prepareCreate", &method<prepare_create>},
    {"prepareMirror", &method<prepare_mirror>},
    {"prepareVariable", &method<prepare_variable>},
    {"prepareSecret", &method<prepare_secret>},
    {"prepareLocale", &method<prepare_locale>},
    {"prepareFile", &method<prepare_file>},
    {"prepareHostFile", &method<prepare_host_file>},
    {"prepareInit", &method<prepare_init>},
    {"prepareSkill", &method<prepare_skill>},
    {"prepareHostSkill", &method<prepare_host_skill>},
    {"prepareStoredSkill", &method<prepare_stored_skill>},
    {"prepareBuiltinSkill", &method<prepare_builtin_skill>},
    {"prepareHostBuiltinSkill", &method<prepare_host_builtin_skill>},
    {"prepareSkillInitTimeout", &method<prepare_skill_init_timeout>},
    {"prepareStep", &method<prepare_step>},
    {"prepareObserver", &method<prepare_observer>},
    {"prepareReport", &method<prepare_report>},
    {"isStepOver", &method<is_step_over>},
    {"tellStep", &method<tell_step>},
    {"finishStep", &method<finish_step>},
    {"failStep", &method<fail_step>},
    {"acquire", &method<acquire>},
    {"removeSession", &method<remove_session>},
    {"release", &method<release>},
    {"workspaceSkills", &method<workspace_skills>},
    {"inspectSkill", &method<inspect_skill>},
    {"addSkill", &method<add_skill>},
    {"listSkills", &method<list_skills>},
    {"removeSkill", &method<remove_skill>},
    {"stop", &method<stop>},
    {"archive", &method<archive>},
    {"relocate", &method<relocate>},
    {"destroy", &method<destroy>},
    {"destroySource", &method<destroy_source>},
    {"reviveSource", &method<revive_source>},
    {"setIdlePolicy", &method<set_idle_policy>},
    {"idlePolicy", &method<idle_policy>},
    {"recover", &method<recover>},
    {"metrics", &method<metrics>},
    {"sweep", &method<sweep>},
    {"status", &method<status>},
    {"listPage", &method<list_page>},
    {"orphans", &method<orphans>},
    {"doctor", &method<doctor>},
    {"exec", &method<exec>},
    {"takeOutput", &method<take_output>},
    {"cancelRun", &method<cancel_run>},
    {"detachRun", &method<detach_run>},
    {"discardRun", &method<discard_run>},
    {"bufferedOf", &method<buffered_of>},
    {"writeStdin", &method<write_stdin>},
    {"closeStdin", &method<close_stdin>},
    {"sendSignal", &method<send_signal>},
    {"resize", &method<resize>},
    {"startProcess", &method<start_process>},
    {"listProcesses", &method<list_processes>},
    {"findProcess", &method<find_process>},
    {"endProcess", &method<end_process>},
    {"waitProcess", &method<wait_process>},
    {"processOutput", &method<process_output>},
    {"writeProcessStdin", &method<write_process_stdin>},
    {"closeProcessStdin", &method<close_process_stdin>},
    {"signalProcess", &method<signal_process>},
    {"resizeProcess", &method<resize_process>},
    {"removeProcess", &method<remove_process>},
    {"attachProcess", &method<attach_process>},
    {"readFile", &method<read_file>},
    {"read", &method<read>},
    {"readLines", &method<read_lines>},
    {"writeFile", &method<write_file>},
    {"stat", &method<stat>},
    {"listFiles", &method<list_files>},
    {"makeDirectory", &method<make_directory>},
    {"remove", &method<remove>},
    {"move", &method<move>},
    {"copy", &method<copy>},
    {"setMode", &method<set_mode>},
    {"makeSymlink", &method<make_symlink>},
    {"editFile", &method<edit_file>},
    {"editFiles", &method<edit_files>},
    {"download", &method<download>},
    {"takePieces", &method<take_pieces>},
    {"endDownload", &method<end_download>},
    {"upload", &method<upload>},
    {"uploadTree", &method<upload_tree>},
    {"givePiece", &method<give_piece>},
    {"finishUpload", &method<finish_upload>},
    {"cancelUpload", &method<cancel_upload>},
    {"watch", &method<watch>},
    {"takeEvents", &method<take_events>},
    {"cancelWatch", &method<cancel_watch>},
    {"grep", &method<grep>},
    {"find", &method<find>},
    {"takeFound", &method<take_found>},
    {"cancelSearch", &method<cancel_search>},
    {"discardFound", &method<discard_found>},
    {"describeTools", &method<describe_tools>},
    {"callTool", &method<call_tool>},
    {"answerLinks", &method<answer_links>},
    {"refuseLinks", &method<refuse_links>},
    {"areLinksOver", &method<are_links_over>},
};

napi_value init(napi_env env, napi_value exports) {
  if (!Environment::install(env)) return nullptr;
  for (const Named& named : kFunctions) {
    napi_value function = nullptr;
    if (napi_create_function(env, named.name, NAPI_AUTO_LENGTH, named.function, nullptr,
                             &function) != napi_ok ||
        napi_set_named_property(env, exports, named.name, function) != napi_ok) {
      return nullptr;
    }
  }
  return exports;
}

}  // namespace
}  // namespace cove_node

// Node finds it by this symbol, in every environment anew.
NAPI_MODULE_INIT() { return cove_node::init(env, exports); }
