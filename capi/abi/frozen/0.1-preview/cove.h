/*
 * Cove: a persistent, isolated workspace for every user of an agent application.
 *
 *     cove *app = NULL;
 *     cove_workspace *workspace = NULL;
 *     cove_exec_result *result = NULL;
 *     cove_error *error = NULL;
 *     const cove_workspace_key ana = {sizeof ana, 0, "app", "shop", "ana"};
 *     const char *const argv[] = {"python3", "-c", "print(6 * 7)"};
 *
 *     if (cove_open("{\"state_dir\": \"/var/lib/app\"}", NULL, &app, &error) == COVE_OK &&
 *         cove_acquire(app, &ana, NULL, &workspace, &error) == COVE_OK &&
 *         cove_workspace_exec(workspace, argv, 3, NULL, &result, &error) == COVE_OK) {
 *       puts(cove_exec_result_text(result, COVE_STDOUT, NULL));
 *     } else {
 *       fprintf(stderr, "%s\n", cove_error_describe(error));
 *     }
 *     cove_error_free(error);
 *     cove_exec_result_free(result);
 *     cove_workspace_free(workspace);
 *     cove_free(app);
 *
 * This header is the manual of the C ABI, in order of use:
 *   1 status and errors   2 buffers   3 cancelling   4 opening and closing   5 acquiring
 *   6 commands   7 background processes   8 files   9 search   10 tools
 *   11 lifecycle and reports   12 bringing your own parts
 *
 * Rules that hold everywhere
 *
 * Status. A function that can fail returns a cove_status and takes `out_error` last. On entry every
 *   out parameter is set to NULL; on failure only *out_error is set, and the caller frees it.
 *   `out_error` may be NULL. Functions that return nothing cannot fail.
 * Ownership. What comes through an `out_x` parameter, or as an argument of a completion callback,
 *   belongs to the caller, who frees it by the function named after its type. What a getter
 *   returns is borrowed and valid until its object is freed. Every free accepts NULL. Freeing
 *   twice is an error of the caller, as with free(3). A child keeps what it needs of its parents
 *   alive, so handles may be freed in any order.
 * Strings in are NUL-terminated UTF-8; paths, arguments and environment are bytes without NUL.
 *   What a call is given is copied before it returns.
 * Options are structs that begin with `struct_size`; make them with the COVE_..._INIT macro or the
 *   init function, and set what differs. NULL = all defaults; 0 or NULL in a field = its default.
 *   A program built with an older header works with a newer library, and the other way round as
 *   long as it leaves unused what the library does not know; else the call is COVE_UNSUPPORTED.
 * Time limits. `timeout_ms` bounds the whole call, 0 = none; past it the call is COVE_TIMEOUT.
 * Threads. `cove`, `cove_workspace`, `cove_process`, `cove_watch`, `cove_search`, `cove_download`,
 *   `cove_upload`, `cove_link_request`, `cove_step_run` and `cove_cancel` may be used from any
 *   thread at once; freeing one needs that nobody uses it any more. Results, pages, infos, buffers
 *   and errors never change, so any thread may read them.
 * Callbacks come on a thread of Cove (on the caller's where the Cove is closed already), never
 * while a lock of Cove is held. They must not block, throw or longjmp. `user_data` is handed on as
 * it is; `drop`, where not NULL, is called with it exactly once, when nothing will use it any more:
 *   after the last callback, and also when the call that should have registered it failed. Inside a
 *   callback a call that waits is refused with COVE_FAILED_PRECONDITION: use the `_start` forms
 *   there. Frees are allowed. Only the functions of transfers and watches that wait are called on
 *   the caller's own thread, and may wait.
 * Start forms (`_start`) return at once; COVE_OK = the completion callback comes exactly once,
 *   possibly before the function returns; anything else = it never comes. `error` is NULL exactly
 * on success. Freeing the last handle ends what is pending with COVE_CANCELLED. Cancelling has a
 * grade, named in each doc: "nothing happened", "object still usable" or "only free it". A
 * cancelled call returns only when it has no effects any more. fork. In a child that was forked
 * without exec every call is COVE_FAILED_PRECONDITION, and frees do nothing; the parent goes on
 * undisturbed.
 *
 * Cove is a guest in its host's process: it installs no signal handler, reads no environment
 * variable, prints nothing, and changes neither directory nor masks.
 */
#ifndef COVE_H
#define COVE_H

#include <stddef.h>
#include <stdint.h>

/* In C++ the name `cove` is the namespace of the C++ API. A file that includes both APIs defines
 * COVE_BESIDE_CXX first; the handle's type is then spelled cove_handle. */
#if defined(__cplusplus) && defined(COVE_BESIDE_CXX)
#define cove cove_handle
#endif

#if defined(__GNUC__)
#define COVE_API __attribute__((visibility("default")))
#else
#define COVE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define COVE_VERSION_MAJOR 0
#define COVE_VERSION_MINOR 1
#define COVE_VERSION_PATCH 0

/* ============================ 1. Status and errors ============================ */

/* 0 or one of the codes below; the numbers never change. They are chosen by what the caller does
 * next; docs/errors.md has them as a table. */
typedef int32_t cove_status;

enum {
  COVE_OK = 0,
  COVE_INVALID_ARGUMENT = 1,    /* the call is wrong as written: correct it */
  COVE_NOT_FOUND = 2,           /* what was named does not exist */
  COVE_ALREADY_EXISTS = 3,      /* what was to be made is there already; it was not changed */
  COVE_PERMISSION_DENIED = 4,   /* the caller may not do this */
  COVE_PATH_ESCAPE = 5,         /* the path leads out of the workspace; nothing was touched */
  COVE_CONFLICT = 6,            /* somebody else changed it: read again and decide again */
  COVE_FAILED_PRECONDITION = 7, /* the state must change first (stopped, closed, forked) */
  COVE_UNAVAILABLE = 8,         /* not now: retry, after cove_error_retry_after_ms if given */
  COVE_TIMEOUT = 9,             /* the caller's time limit passed */
  COVE_CANCELLED = 10,          /* the caller asked for it */
  COVE_TOO_LARGE = 11,          /* over a limit of size: ask for less */
  COVE_QUOTA_EXCEEDED = 12,     /* no room: wait, free some, or raise the limit */
  COVE_INTEGRITY = 13,          /* stored bytes are not what they must be: stop and look */
  COVE_UNSUPPORTED = 14,        /* this build, machine or provider cannot do it */
  COVE_PROVIDER = 15,           /* the machinery below refused */
  COVE_INTERNAL = 16            /* a fault in Cove */
};

/* Why a call failed. Immutable; any thread may read it. */
typedef struct cove_error cove_error;

/* Returns the version of the library that runs, as "0.1.0". Never freed.
 * Since: 0.1 */
COVE_API const char* cove_version(void);

/* Returns a code's name as JSON and logs show it, as "not_found"; "unknown" for other numbers.
 * Since: 0.1 */
COVE_API const char* cove_status_name(cove_status status);

/* Returns the code; COVE_OK for NULL.
 * Since: 0.1 */
COVE_API cove_status cove_error_code(const cove_error* error);

/* Returns one line, lower case: the fact and its values; "" for NULL.
 * Since: 0.1 */
COVE_API const char* cove_error_message(const cove_error* error);

/* Returns the message, its context and its causes in one line, for logs; "" for NULL.
 * Since: 0.1 */
COVE_API const char* cove_error_describe(const cove_error* error);

/* Returns after how many milliseconds the same call may be tried again; -1 where no time is known.
 * Since: 0.1 */
COVE_API int64_t cove_error_retry_after_ms(const cove_error* error);

/* Returns the lower error that led to this one, borrowed; NULL where there is none.
 * Since: 0.1 */
COVE_API const cove_error* cove_error_cause(const cove_error* error);

/* Returns how many facts stand beside the message.
 * Since: 0.1 */
COVE_API size_t cove_error_context_count(const cove_error* error);

/* Returns the name of fact `index`, as "path"; NULL past the last.
 * Since: 0.1 */
COVE_API const char* cove_error_context_key(const cove_error* error, size_t index);

/* Returns the value of fact `index`; NULL past the last.
 * Since: 0.1 */
COVE_API const char* cove_error_context_value(const cove_error* error, size_t index);

/* Frees an error that a call or a callback handed out; never one that cove_error_cause returned.
 * Since: 0.1 */
COVE_API void cove_error_free(cove_error* error);

/* ================================= 2. Buffers ================================= */

/* Bytes that Cove hands out. Immutable; any thread may read them. */
typedef struct cove_buffer cove_buffer;

/* Returns the first byte, never NULL but for a NULL buffer. A NUL that does not count follows the
 * last byte, so text may be used as a C string.
 * Since: 0.1 */
COVE_API const char* cove_buffer_data(const cove_buffer* buffer);

/* Returns the number of bytes; 0 for NULL.
 * Since: 0.1 */
COVE_API size_t cove_buffer_size(const cove_buffer* buffer);

/* Frees a buffer.
 * Since: 0.1 */
COVE_API void cove_buffer_free(cove_buffer* buffer);

/* ================================ 3. Cancelling ================================ */

/* Calls off every call that it was given to, now and later. Any thread. */
typedef struct cove_cancel cove_cancel;

/* Makes a token that is not triggered.
 * Since: 0.1 */
COVE_API cove_status cove_cancel_create(cove_cancel** out_cancel, cove_error** out_error);

/* Calls off the calls that have the token; returns at once, they end soon after with
 * COVE_CANCELLED. Harmless when repeated, and for NULL. From any thread, also from a callback.
 * Since: 0.1 */
COVE_API void cove_cancel_trigger(cove_cancel* cancel);

/* Frees the token; calls that have it can then no longer be called off by it.
 * Since: 0.1 */
COVE_API void cove_cancel_free(cove_cancel* cancel);

/* What calls without options of their own take. */
typedef struct cove_call_options {
  uint32_t struct_size;
  uint32_t reserved0;  /* must be 0 */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
} cove_call_options;

#define COVE_CALL_OPTIONS_INIT {(uint32_t)sizeof(cove_call_options), 0, 0, NULL}

/* Fills `size` bytes with the defaults; size = sizeof *options. The same for each init function.
 * Since: 0.1 */
COVE_API void cove_call_options_init(cove_call_options* options, size_t size);

/* Completion of a call that gives nothing back. The callback frees `error`. */
typedef void (*cove_done_fn)(void* user_data, cove_error* error);

/* Hears how far something is, as a JSON object that is borrowed for the call, on a thread of
 * Cove. */
typedef void (*cove_report_fn)(void* user_data, const char* json);

/* Completion of a call that gives bytes or JSON. The callback frees both. */
typedef void (*cove_buffer_fn)(void* user_data, cove_buffer* buffer, cove_error* error);

/* Ends the use of user_data. */
typedef void (*cove_drop_fn)(void* user_data);

/* ============================ 4. Opening and closing ============================ */

/* One open Cove: its stores, its provider and its I/O thread. Any thread. */
typedef struct cove cove;

enum { COVE_LOG_DEBUG = 0, COVE_LOG_INFO = 1, COVE_LOG_WARNING = 2, COVE_LOG_ERROR = 3 };

/* Takes one line, without a newline and without secrets; level is a COVE_LOG_*. It comes on any of
 * Cove's threads and must neither block nor call Cove. `message` is borrowed for the call. */
typedef void (*cove_log_fn)(void* user_data, int32_t level, const char* message);

/* Parts that the host brings: section 12. */
struct cove_clock;
struct cove_metadata_store;
struct cove_object_store;
struct cove_provider;

typedef struct cove_open_options {
  uint32_t struct_size;
  uint32_t reserved0;             /* must be 0 */
  cove_log_fn log;                /* NULL = messages are not kept */
  void* log_user_data;            /* for log */
  cove_drop_fn log_drop;          /* called once with log_user_data, after the last message */
  const struct cove_clock* clock; /* NULL = the machine's */
  const struct cove_metadata_store* metadata; /* NULL = the configuration's, as the next two */
  const struct cove_object_store* objects;    /* instead of "objects" */
  const struct cove_provider* provider;       /* instead of "provider" */
} cove_open_options;

#define COVE_OPEN_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_open_options), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_open_options_init(cove_open_options* options, size_t size);

/* Opens the state directory and the stores, and starts the I/O thread.
 *
 * `config_json` is a JSON document; only "state_dir" is required, docs/config.schema.json has the
 * rest. The caller frees *out_cove. log_drop, and `destroy` of each part, are called exactly once,
 * also on failure; only options with a struct_size of no version are refused without being read.
 * Errors: COVE_INVALID_ARGUMENT - the configuration is wrong, and the key is named;
 * COVE_PERMISSION_DENIED - the state directory is open to others; COVE_UNAVAILABLE - a store cannot
 * be reached.
 * Since: 0.1 */
COVE_API cove_status cove_open(const char* config_json, const cove_open_options* options,
                               cove** out_cove, cove_error** out_error);

/* Completion of cove_open_start. The callback frees both. */
typedef void (*cove_opened_fn)(void* user_data, cove* cove, cove_error* error);

/* As cove_open, through a callback on a thread of its own. It cannot be called off. What is wrong
 * with configuration and options is said at once, and then the callback never comes. The options
 * and their structs are read before it returns; their slots are called before the callback comes.
 * Since: 0.1 */
COVE_API cove_status cove_open_start(const char* config_json, const cove_open_options* options,
                                     cove_opened_fn done, void* user_data, cove_drop_fn drop,
                                     cove_error** out_error);

/* Returns the JSON Schema that a configuration is checked against. Never freed.
 * Since: 0.1 */
COVE_API const char* cove_config_schema(void);

/* Sets who hears of every step that a sandbox's record takes, told after the step is true: a JSON
 * object with "sandbox_id", "state", "operation" ("provision", "resume", "stop", "archive",
 * "restore", "destroy", "relocate", or "lost": its instance was gone), "phase", "completed",
 * "error", "reason" ("acquire", "asked", "idle", "recovery", "source") and "duration_ms". Others
 * may come. Another observer replaces it, NULL ends it. It must not block. `drop` comes when it is
 * replaced or the Cove is closed. Since: 0.1 */
COVE_API cove_status cove_set_observer(cove* cove, cove_report_fn observer, void* user_data,
                                       cove_drop_fn drop, cove_error** out_error);

/* Lets go of everything and ends the I/O thread; ends no sandbox. Later calls through the handle
 * and its workspaces are COVE_FAILED_PRECONDITION. Success when it is closed already.
 *
 * Waits at most `timeout_ms`. Errors: COVE_TIMEOUT - something is still in a callback; it is left
 * with its own state. The handle must still be freed.
 * Since: 0.1 */
COVE_API cove_status cove_close(cove* cove, uint64_t timeout_ms, cove_error** out_error);

/* As cove_close, through a callback on a thread of its own.
 * Since: 0.1 */
COVE_API cove_status cove_close_start(cove* cove, uint64_t timeout_ms, cove_done_fn done,
                                      void* user_data, cove_drop_fn drop, cove_error** out_error);

/* Frees the handle. The last handle of a Cove closes it without waiting: what is pending ends with
 * COVE_CANCELLED, and its sandboxes count as in use until their leases run out (a minute). Call
 * cove_close before where that matters.
 * Since: 0.1 */
COVE_API void cove_free(cove* cove);

/* For a host whose callbacks need a runtime that is about to go, as an interpreter at its exit: no
 * callback and no `drop` begins any more, in the whole process and for good, and those that run are
 * waited for. Threads of Cove that would call one stand still until the process is gone; only the
 * calling thread may still be called back. What would answer through a callback is then refused
 * with COVE_FAILED_PRECONDITION. Close what is open before. Success when repeated.
 *
 * Waits at most `timeout_ms`. Errors: COVE_TIMEOUT - a callback has not returned.
 * Since: 0.1 */
COVE_API cove_status cove_end_callbacks(uint64_t timeout_ms, cove_error** out_error);

/* ================================ 5. Acquiring ================================ */

/* Who owns a workspace. A chat is not part of it: all chats of a user share the workspace. */
typedef struct cove_workspace_key {
  uint32_t struct_size;
  uint32_t reserved0;      /* must be 0 */
  const char* source_type; /* [A-Za-z][A-Za-z0-9]{0,23}, as "app" */
  const char* source_id;   /* 1 to 512 bytes: which app or skill */
  const char* user_id;     /* 1 to 512 bytes: whose */
} cove_workspace_key;

#define COVE_WORKSPACE_KEY_INIT {(uint32_t)sizeof(cove_workspace_key), 0, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_workspace_key_init(cove_workspace_key* key, size_t size);

/* Gives the sandbox id of a key, as "app-52b3bfdf3477b4e1a1bf8608dc581e36": always the same one.
 * Needs no open Cove. Errors: COVE_INVALID_ARGUMENT - names the part and its rule.
 * Since: 0.1 */
COVE_API cove_status cove_sandbox_id_of(const cove_workspace_key* key, cove_buffer** out_id,
                                        cove_error** out_error);

/* A workspace that runs and is held by this process, seen from one chat. Any thread. */
typedef struct cove_workspace cove_workspace;

/* What acquires are to prepare before a workspace is handed out (docs/prepare.md). It is filled by
 * one thread at a time and then given to any number of acquires, which take what it holds at that
 * moment. What is wrong with an input is said by the acquire, unless the function says it.
 * A workspace keeps the inputs while it lives: where it wakes on another instance, it is prepared
 * again. */
typedef struct cove_prepare cove_prepare;

/* Makes an empty one.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_create(cove_prepare** out_prepare, cove_error** out_error);

/* Frees it; workspaces that were acquired with it keep what they need.
 * Since: 0.1 */
COVE_API void cove_prepare_free(cove_prepare* prepare);

enum {
  COVE_MIRROR_NPM = 1,  /* npm, yarn, pnpm and bun */
  COVE_MIRROR_PYPI = 2, /* pip and uv */
  COVE_MIRROR_APT = 3,
  COVE_MIRROR_GO = 4,
  COVE_MIRROR_CARGO = 5,
  COVE_MIRROR_MAVEN = 6,
  COVE_MIRROR_RUBYGEMS = 7
};

/* Names the http(s) URL where a package manager gets its packages; NULL or "" = as the image has
 * it. `mirror` is a COVE_MIRROR_*.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_set_mirror(cove_prepare* prepare, int32_t mirror, const char* url,
                                             cove_error** out_error);

/* Sets a variable for every command of the workspace, over the sandbox's own; a command's own env
 * goes over it. `value` NULL removes it.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_set_variable(cove_prepare* prepare, const char* name,
                                               const char* value, cove_error** out_error);

/* As cove_prepare_set_variable, for a value that is never written to a disk, a log, an error or a
 * report. Empty, or at least 4 bytes.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_set_secret(cove_prepare* prepare, const char* name,
                                             const char* value, cove_error** out_error);

/* Sets time zone ("Europe/Berlin") and locale ("de_DE.UTF-8") of commands; NULL or "" = the
 * sandbox's own.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_set_locale(cove_prepare* prepare, const char* time_zone,
                                             const char* locale, cove_error** out_error);

/* Adds a file for user_files of the session, under a safe name that no other file has; the report
 * says where it is. `name` is as the user's machine called it.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_file(cove_prepare* prepare, const char* name,
                                           const void* data, size_t size, cove_error** out_error);

/* The same with a file of this machine, which is read when it is needed; no link at the path's end
 * is followed.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_host_file(cove_prepare* prepare, const char* name,
                                                const char* path, cove_error** out_error);

typedef struct cove_init_options {
  uint32_t struct_size;
  uint32_t reserved0;         /* must be 0 */
  const char* version;        /* another one, and the same text runs again; NULL = "" */
  const char* cwd;            /* absolute, or relative to /workspace; NULL = /workspace */
  uint64_t script_timeout_ms; /* 1000 to 600000; 0 = 30000 */
} cove_init_options;

#define COVE_INIT_OPTIONS_INIT {(uint32_t)sizeof(cove_init_options), 0, NULL, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_init_options_init(cove_init_options* options, size_t size);

/* Sets the init script: at most 96 KiB for bash (sh where there is none), run once for each text,
 * version and HOME. Its failure does not stop the acquire: the report has it. `text` NULL = none.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_set_init_script(cove_prepare* prepare, const char* text,
                                                  const cove_init_options* options,
                                                  cove_error** out_error);

/* Adds a published skill of bytes: a zip, tar, tar.gz or tar.zst with a SKILL.md. It comes to
 * /workspace/skills/<version id>, where `version_id` is [A-Za-z0-9_][A-Za-z0-9._-]{0,63} and never
 * has another content later. `sha256`: 64 hex of the bytes, which are then checked; NULL or "" =
 * not known.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_skill(cove_prepare* prepare, const char* version_id,
                                            const void* data, size_t size, const char* sha256,
                                            cove_error** out_error);

/* The same with a package file or a directory of this machine, which is read when it is needed; no
 * link at the path's end is followed. `sha256`: of a package file.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_host_skill(cove_prepare* prepare, const char* version_id,
                                                 const char* path, const char* sha256,
                                                 cove_error** out_error);

/* The same with what cove_add_skill_json keeps under the version id in the object store. Where it
 * was not added the acquire is COVE_NOT_FOUND.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_stored_skill(cove_prepare* prepare, const char* version_id,
                                                   cove_error** out_error);

/* Adds a skill that the platform brings: kept up to date outside of the workspace. `name` is as a
 * version id; the bytes as of cove_prepare_add_skill.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_builtin_skill(cove_prepare* prepare, const char* name,
                                                    const void* data, size_t size,
                                                    cove_error** out_error);

/* The same with a package file or a directory of this machine.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_host_builtin_skill(cove_prepare* prepare, const char* name,
                                                         const char* path, cove_error** out_error);

/* Sets how long the init script of a skill, its `entrypoint.sh`, may run: 1000 to 600000; 0 = none
 * is run. Without this it is 30000.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_set_skill_init_timeout(cove_prepare* prepare,
                                                         uint64_t script_timeout_ms,
                                                         cove_error** out_error);

enum {
  COVE_STAGE_DIRECTORIES = 1,
  COVE_STAGE_MIRRORS = 2,
  COVE_STAGE_INPUT_FILES = 3,
  COVE_STAGE_SKILLS = 4,
  COVE_STAGE_BUILTIN_SKILLS = 5,
  COVE_STAGE_APP_INIT = 6,
  COVE_STAGE_SKILL_INIT = 7,
  COVE_STAGE_CAPABILITIES = 8
};

enum {
  COVE_STEP_REQUIRED = 1,   /* its failure is the acquire's */
  COVE_STEP_BEST_EFFORT = 2 /* reported, and tried again by a later acquire, with back-off */
};

typedef struct cove_step_options {
  uint32_t struct_size;
  uint32_t policy;         /* COVE_STEP_*; 0 = required */
  const char* fingerprint; /* what its result depends on; NULL or "" = at every acquire */
  uint64_t timeout_ms;     /* 1000 to 600000; 0 = 30000 */
  uint32_t after;          /* COVE_STAGE_* behind which it stands; 0 = builtin skills */
  uint32_t reserved0;      /* must be 0 */
} cove_step_options;

#define COVE_STEP_OPTIONS_INIT {(uint32_t)sizeof(cove_step_options), 0, NULL, 0, 0, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_step_options_init(cove_step_options* options, size_t size);

/* A step that runs, until it was finished or failed. Any thread. While it is not freed it keeps the
 * Cove open. */
typedef struct cove_step_run cove_step_run;

/* Applies a step. The run belongs to the callback, which must not block: it may finish later and
 * from any thread, and frees it. Until then the acquire waits, as long as the step's time lasts. */
typedef void (*cove_step_fn)(void* user_data, cove_step_run* run);

/* Adds a step of the host's own, in the order of adding. `name` is [A-Za-z0-9_][A-Za-z0-9._-]{0,63}
 * and no other step's. It is applied where the sandbox's state file knows another fingerprint; what
 * it does may be repeated after a crash.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_add_step(cove_prepare* prepare, const char* name,
                                           const cove_step_options* options, cove_step_fn apply,
                                           void* user_data, cove_drop_fn drop,
                                           cove_error** out_error);

/* Returns the workspace that is prepared, borrowed: commands, files and searches, but no acquire.
 * Since: 0.1 */
COVE_API cove_workspace* cove_step_run_workspace(const cove_step_run* run);

/* Returns what the step kept when it was last done; "" where there is nothing. It can be written
 * from inside the sandbox.
 * Since: 0.1 */
COVE_API const char* cove_step_run_note(const cove_step_run* run);

/* Returns 1 where nobody waits for the step any more: its time is over, or the acquire ended.
 * Since: 0.1 */
COVE_API int32_t cove_step_run_is_over(const cove_step_run* run);

/* Tells the progress callback how far the step is. Ignored once it is over.
 * Since: 0.1 */
COVE_API cove_status cove_step_run_tell(cove_step_run* run, const char* text,
                                        cove_error** out_error);

typedef struct cove_step_result {
  uint32_t struct_size;
  uint32_t nothing_to_do; /* 1 = it is done, and reported as skipped */
  const char* reason;     /* a sentence for the report */
  const char* output;     /* what its programs wrote; the last 8 KiB are kept */
  const char* note;       /* kept for the next time: at most 16 KiB of UTF-8 */
} cove_step_result;

#define COVE_STEP_RESULT_INIT {(uint32_t)sizeof(cove_step_result), 0, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_step_result_init(cove_step_result* result, size_t size);

/* Says that the step is done. Once: then, and after a failure, COVE_FAILED_PRECONDITION. Where
 * nobody waits any more it is ignored.
 * Since: 0.1 */
COVE_API cove_status cove_step_run_finish(cove_step_run* run, const cove_step_result* result,
                                          cove_error** out_error);

/* Says that the step failed, by one of the codes of section 1. Once, as cove_step_run_finish.
 * Since: 0.1 */
COVE_API cove_status cove_step_run_fail(cove_step_run* run, cove_status code, const char* message,
                                        const char* output, cove_error** out_error);

/* Frees a run; a step that was not finished fails with COVE_UNAVAILABLE.
 * Since: 0.1 */
COVE_API void cove_step_run_free(cove_step_run* run);

enum {
  COVE_PREPARE_WAITING = 1,  /* another chat's preparation goes first */
  COVE_PREPARE_STARTED = 2,  /* a step begins */
  COVE_PREPARE_PROGRESS = 3, /* text = how far it is */
  COVE_PREPARE_FINISHED = 4  /* text = the step's part of the report, as JSON */
};

/* Hears what happens while a workspace is prepared; `event` is a COVE_PREPARE_*. `step` and `text`
 * are borrowed for the call, "" where there is none. */
typedef void (*cove_prepare_event_fn)(void* user_data, int32_t event, const char* step,
                                      const char* text);

/* Sets who hears of the progress of acquires; another one replaces it.
 * Since: 0.1 */
COVE_API cove_status cove_prepare_set_observer(cove_prepare* prepare,
                                               cove_prepare_event_fn observer, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

typedef struct cove_acquire_options {
  uint32_t struct_size;
  uint32_t flags;              /* must be 0 */
  const char* chat_id;         /* whose session directory; NULL or "" = /workspace itself */
  const char* sandbox_id;      /* adopts a record of another id; NULL or "" = the key's own */
  uint64_t timeout_ms;         /* of the whole call; 0 = none */
  cove_cancel* cancel;         /* NULL = cannot be called off */
  const cove_prepare* prepare; /* what is prepared; NULL = only the session's directory */
} cove_acquire_options;

#define COVE_ACQUIRE_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_acquire_options), 0, NULL, NULL, 0, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_acquire_options_init(cove_acquire_options* options, size_t size);

/* Brings a workspace up, from absent, stopped or archived, prepares it, and holds it.
 *
 * Waits for what another process does with it, and takes over from one that died. The caller frees
 * *out_workspace. Cancellation: object still usable; the next acquire goes on from where this one
 * was. Errors: COVE_UNAVAILABLE - not now, says what is going on; COVE_CONFLICT - the sandbox id
 * belongs to another key; COVE_INTEGRITY - volume or snapshot is not what it must be, nothing was
 * changed; COVE_INVALID_ARGUMENT - an input; that of a required step which failed, with the facts
 * "step" and "output"; COVE_TIMEOUT; COVE_CANCELLED.
 * Since: 0.1 */
COVE_API cove_status cove_acquire(cove* cove, const cove_workspace_key* key,
                                  const cove_acquire_options* options,
                                  cove_workspace** out_workspace, cove_error** out_error);

/* Completion of cove_acquire_start. The callback frees both. */
typedef void (*cove_acquired_fn)(void* user_data, cove_workspace* workspace, cove_error* error);

/* As cove_acquire, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_acquire_start(cove* cove, const cove_workspace_key* key,
                                        const cove_acquire_options* options, cove_acquired_fn done,
                                        void* user_data, cove_drop_fn drop, cove_error** out_error);

/* Removes a chat's session directory with all in it, on request: that a chat is deleted removes
 * nothing. Brings the workspace up; success where the directory is not there. Of `options` chat_id
 * is required and prepare must be NULL. Cancellation: object still usable; some may be gone.
 * Errors: COVE_INVALID_ARGUMENT - no chat id; as cove_acquire.
 * Since: 0.1 */
COVE_API cove_status cove_remove_session(cove* cove, const cove_workspace_key* key,
                                         const cove_acquire_options* options,
                                         cove_error** out_error);

/* As cove_remove_session, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_remove_session_start(cove* cove, const cove_workspace_key* key,
                                               const cove_acquire_options* options,
                                               cove_done_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* Returns the session's directory as commands see it: "/workspace/sessions/c1".
 * Since: 0.1 */
COVE_API const char* cove_workspace_directory(const cove_workspace* workspace);

/* Returns the sandbox id.
 * Since: 0.1 */
COVE_API const char* cove_workspace_sandbox_id(const cove_workspace* workspace);

enum {
  COVE_WORK_NONE = 0,
  COVE_WORK_PROVISIONED = 1,
  COVE_WORK_RESUMED = 2,
  COVE_WORK_RESTORED = 3
};

/* Returns what the acquire had to do, a COVE_WORK_*.
 * Since: 0.1 */
COVE_API int32_t cove_workspace_work(const cove_workspace* workspace);

/* Gives what the last preparation did, as JSON (docs/prepare.md, "The report"): the acquire's, or
 * that of a wake since.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_prepare_report_json(cove_workspace* workspace,
                                                        cove_buffer** out_json,
                                                        cove_error** out_error);

typedef struct cove_skills_options {
  uint32_t struct_size;
  uint32_t reserved0;      /* must be 0 */
  uint64_t max_characters; /* of "prompt", Unicode characters; 0 = 16000 */
  uint64_t timeout_ms;     /* of the whole call; 0 = none */
  cove_cancel* cancel;     /* NULL = cannot be called off */
} cove_skills_options;

#define COVE_SKILLS_OPTIONS_INIT {(uint32_t)sizeof(cove_skills_options), 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_skills_options_init(cove_skills_options* options, size_t size);

/* Gives the skills of the acquire's inputs that lie in the workspace as they were published, as a
 * JSON object: the list "skills", each with "name", "description", "location" (of its SKILL.md) and
 * "version_id" ("" of a builtin one); the list "problems", texts about those that are left out; and
 * "prompt", the block for a model's prompt, XML-escaped, whole skills only. Asks the sandbox once
 * for each start of it. Cancellation: nothing happened. Errors: those of section 8; those of
 * reading a package again.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_skills_json(cove_workspace* workspace,
                                                const cove_skills_options* options,
                                                cove_buffer** out_json, cove_error** out_error);

/* As cove_workspace_skills_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_skills_json_start(cove_workspace* workspace,
                                                      const cove_skills_options* options,
                                                      cove_buffer_fn done, void* user_data,
                                                      cove_drop_fn drop, cove_error** out_error);

/* Ends the use of the workspace and notes when; later calls through the handle are
 * COVE_FAILED_PRECONDITION. The sandbox goes on running until it is stopped or idle for long.
 * Cancellation: object still usable. The handle must still be freed.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_release(cove_workspace* workspace,
                                            const cove_call_options* options,
                                            cove_error** out_error);

/* As cove_workspace_release, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_release_start(cove_workspace* workspace,
                                                  const cove_call_options* options,
                                                  cove_done_fn done, void* user_data,
                                                  cove_drop_fn drop, cove_error** out_error);

/* Frees the handle; lets go of the workspace without waiting where it was not released.
 * Since: 0.1 */
COVE_API void cove_workspace_free(cove_workspace* workspace);

/* Reads a package of skills as cove_add_skill_json does, and gives what it holds, as a JSON object:
 * "version_id", "sha256", "content_hash", "packed_bytes", "content_bytes", "files" and the list
 * "skills", each with "name", "description" and "path". Needs no open Cove, and takes no longer
 * than to unpack it. Errors: COVE_INVALID_ARGUMENT - no package, or an entry or a SKILL.md that is
 * wrong, which the message names with its line; COVE_UNSUPPORTED - a device in it; COVE_TOO_LARGE.
 * Since: 0.1 */
COVE_API cove_status cove_inspect_skill_json(const char* version_id, const void* data, size_t size,
                                             cove_buffer** out_json, cove_error** out_error);

/* Checks a package and keeps it in the object store under a version id that it has for ever; the
 * same bytes again are a success. Gives what cove_inspect_skill_json gives. Cancellation: it may be
 * there, add it again. Errors: as cove_inspect_skill_json; COVE_ALREADY_EXISTS - the version id has
 * other bytes, or had before it was removed; those of the object store.
 * Since: 0.1 */
COVE_API cove_status cove_add_skill_json(cove* cove, const char* version_id, const void* data,
                                         size_t size, const cove_call_options* options,
                                         cove_buffer** out_json, cove_error** out_error);

/* As cove_add_skill_json, through a callback; the data is copied before it returns.
 * Since: 0.1 */
COVE_API cove_status cove_add_skill_json_start(cove* cove, const char* version_id, const void* data,
                                               size_t size, const cove_call_options* options,
                                               cove_buffer_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* Gives what was added, by version id, as a JSON object: the list "packages", each as of
 * cove_inspect_skill_json. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_list_skills_json(cove* cove, const cove_call_options* options,
                                           cove_buffer** out_json, cove_error** out_error);

/* As cove_list_skills_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_list_skills_json_start(cove* cove, const cove_call_options* options,
                                                 cove_buffer_fn done, void* user_data,
                                                 cove_drop_fn drop, cove_error** out_error);

/* Takes a package out of the object store; workspaces keep what they have. Cancellation: it may be
 * gone. Errors: COVE_NOT_FOUND - it was not added.
 * Since: 0.1 */
COVE_API cove_status cove_remove_skill(cove* cove, const char* version_id,
                                       const cove_call_options* options, cove_error** out_error);

/* As cove_remove_skill, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_remove_skill_start(cove* cove, const char* version_id,
                                             const cove_call_options* options, cove_done_fn done,
                                             void* user_data, cove_drop_fn drop,
                                             cove_error** out_error);

/* ================================= 6. Commands ================================= */

enum { COVE_STDOUT = 1, COVE_STDERR = 2 };

/* For the byte fields of cove_exec_options: keep none (0 = the default). */
#define COVE_BYTES_NONE UINT64_MAX

/* For orphan_grace_ms: to the command's own end. */
#define COVE_FOREVER UINT64_MAX

enum {
  COVE_EXEC_MERGE_OUTPUT = 1, /* stderr goes where stdout goes, in the order it was written */
  COVE_EXEC_SPILL = 2,        /* what is not kept goes to a file in the sandbox */
  COVE_EXEC_KEEP_STDIN = 4    /* of cove_workspace_exec_start: stdin stays open after stdin_data */
};

typedef struct cove_exec_options {
  uint32_t struct_size;
  uint32_t flags;              /* COVE_EXEC_*; 0 = none */
  const char* cwd;             /* relative to the session's directory; NULL = that directory */
  const char* const* env;      /* "NAME=value", over the sandbox's own, never the host's */
  size_t env_count;            /* entries of env */
  const void* stdin_data;      /* given to the command, then end of file */
  size_t stdin_size;           /* bytes of stdin_data */
  uint64_t command_timeout_ms; /* of the command: then its tree is killed; 0 = none */
  uint64_t kill_grace_ms;      /* from SIGTERM to SIGKILL; 0 = 2000 */
  uint64_t head_bytes;         /* kept of each stream's begin; 0 = 50 KiB, COVE_BYTES_NONE = 0 */
  uint64_t tail_bytes;         /* kept of each stream's end; 0 = 50 KiB, COVE_BYTES_NONE = 0 */
  uint64_t max_total_bytes;    /* of both streams, past it the tree is killed; 0 = 1 GiB */
  uint64_t timeout_ms;         /* of the whole call: the tree is killed; 0 = none */
  cove_cancel* cancel;         /* kills the tree; NULL = cannot be called off */
  const char* shell_line; /* instead of argv (argc 0): a line for the shell inside; NULL = argv */
  uint64_t quiet_timeout_ms; /* the longest time without output, then timed out; 0 = any */
  uint64_t orphan_grace_ms;  /* it goes on so long without this process; 0 = 5000, COVE_FOREVER */
  uint64_t head_lines;       /* of head_bytes at most so many lines; 0 = any */
  uint64_t tail_lines;       /* of tail_bytes at most so many lines; 0 = any */
  uint64_t memory_bytes;     /* of the command and all that it starts; 0 = the sandbox's limit */
  uint32_t cpu_seconds;      /* of all processors together; 0 = any */
  uint32_t process_limit;    /* processes and threads; 0 = the sandbox's limit */
  uint32_t niceness;         /* 0 to 19: the higher, the less of the processor */
  uint32_t terminal_rows;    /* with terminal_columns: runs it on a terminal; 0 = none */
  uint32_t terminal_columns; /* both 1 to 65535, or both 0 */
  uint32_t reserved1;        /* must be 0 */
} cove_exec_options;

#define COVE_EXEC_OPTIONS_INIT          \
  {(uint32_t)sizeof(cove_exec_options), \
   0,                                   \
   NULL,                                \
   NULL,                                \
   0,                                   \
   NULL,                                \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   NULL,                                \
   NULL,                                \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0,                                   \
   0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_exec_options_init(cove_exec_options* options, size_t size);

/* How a command ended and what was kept of its output. Immutable. */
typedef struct cove_exec_result cove_exec_result;

/* Runs a command to its end. That a command ends badly is no error: its result says how.
 *
 * A program without "/" is looked up in the PATH inside. `argc` is at least 1, or 0 with
 * options->shell_line. Ended = the started
 * process ended and what it wrote was drained; a background child does not hold the call. The
 * caller frees *out_result. Cancellation and time limits: the tree is killed, and the result says
 * so, with the output so far; where the command had not been started, the call itself is
 * COVE_CANCELLED or COVE_TIMEOUT. Errors: COVE_INVALID_ARGUMENT; COVE_NOT_FOUND - no such program
 * or directory; COVE_PERMISSION_DENIED - not executable; COVE_UNAVAILABLE.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_exec(cove_workspace* workspace, const char* const* argv,
                                         size_t argc, const cove_exec_options* options,
                                         cove_exec_result** out_result, cove_error** out_error);

enum {
  COVE_OUTCOME_EXITED = 1,   /* cove_exec_result_code = the exit code */
  COVE_OUTCOME_SIGNALED = 2, /* cove_exec_result_code = the signal */
  COVE_OUTCOME_TIMED_OUT = 3,
  COVE_OUTCOME_CANCELLED = 4,
  COVE_OUTCOME_OUTPUT_LIMIT = 5,
  COVE_OUTCOME_OUT_OF_MEMORY = 6,
  COVE_OUTCOME_CPU_LIMIT = 7 /* the processor time of its limits was used up */
};

/* Returns how the command ended, a COVE_OUTCOME_*; 0 for NULL.
 * Since: 0.1 */
COVE_API int32_t cove_exec_result_outcome(const cove_exec_result* result);

/* Returns the exit code or the signal, by the outcome; else 0.
 * Since: 0.1 */
COVE_API int32_t cove_exec_result_code(const cove_exec_result* result);

/* Returns what a shell would show: the exit code; 128 + n for a signal; 124 timed out; 130
 * cancelled; 137 killed for output or memory.
 * Since: 0.1 */
COVE_API int32_t cove_exec_result_shell_code(const cove_exec_result* result);

/* Returns how long the command ran, in microseconds.
 * Since: 0.1 */
COVE_API uint64_t cove_exec_result_duration_us(const cove_exec_result* result);

/* Returns the first bytes of a stream (COVE_STDOUT, COVE_STDERR), all of it where nothing was
 * dropped. A NUL that does not count follows. *out_size may be NULL.
 * Since: 0.1 */
COVE_API const char* cove_exec_result_head(const cove_exec_result* result, int32_t stream,
                                           size_t* out_size);

/* Returns the last bytes of a stream; empty where nothing was dropped.
 * Since: 0.1 */
COVE_API const char* cove_exec_result_tail(const cove_exec_result* result, int32_t stream,
                                           size_t* out_size);

/* Returns head and tail, with a line between them that says how much is missing where something is.
 * Since: 0.1 */
COVE_API const char* cove_exec_result_text(const cove_exec_result* result, int32_t stream,
                                           size_t* out_size);

/* Returns how many bytes the command wrote to a stream.
 * Since: 0.1 */
COVE_API uint64_t cove_exec_result_total_bytes(const cove_exec_result* result, int32_t stream);

/* Returns how many bytes between head and tail were not kept.
 * Since: 0.1 */
COVE_API uint64_t cove_exec_result_dropped_bytes(const cove_exec_result* result, int32_t stream);

/* Returns the file inside that holds all of a stream; "" where nothing was dropped, or
 * COVE_EXEC_SPILL was not asked for.
 * Since: 0.1 */
COVE_API const char* cove_exec_result_spill_path(const cove_exec_result* result, int32_t stream);

/* Returns 1 where COVE_OUTCOME_TIMED_OUT was quiet_timeout_ms; else 0.
 * Since: 0.1 */
COVE_API int32_t cove_exec_result_was_quiet(const cove_exec_result* result);

/* Returns the most memory that the command used, in bytes.
 * Since: 0.1 */
COVE_API uint64_t cove_exec_result_peak_memory_bytes(const cove_exec_result* result);

/* Returns the processor time outside of the kernel, of all its processes, in microseconds.
 * Since: 0.1 */
COVE_API uint64_t cove_exec_result_user_cpu_us(const cove_exec_result* result);

/* Returns the processor time in the kernel, of all its processes, in microseconds.
 * Since: 0.1 */
COVE_API uint64_t cove_exec_result_system_cpu_us(const cove_exec_result* result);

/* Returns 1 where limits and use were counted process by process, so that some may be missing; 0
 * where a cgroup of the command did it.
 * Since: 0.1 */
COVE_API int32_t cove_exec_result_best_effort(const cove_exec_result* result);

/* Frees a result.
 * Since: 0.1 */
COVE_API void cove_exec_result_free(cove_exec_result* result);

/* A command that was started, or attached to. Any thread. */
typedef struct cove_process cove_process;

/* What callbacks answer that are given something; each says which it knows. */
enum { COVE_CONTINUE = 0, COVE_PAUSE = 1, COVE_STOP = 2 };

/* Takes output of one stream, in order; `data` is borrowed for the call. Returns COVE_CONTINUE, or
 * COVE_PAUSE: then nothing more comes, and the command is slowed down, until cove_process_resume.
 */
typedef int32_t (*cove_output_fn)(void* user_data, int32_t stream, const void* data, size_t size);

/* The command's end, after the last output. The callback frees both. */
typedef void (*cove_exec_done_fn)(void* user_data, cove_exec_result* result, cove_error* error);

typedef struct cove_exec_callbacks {
  uint32_t struct_size;
  uint32_t reserved0;        /* must be 0 */
  cove_output_fn on_output;  /* NULL = output is only kept in the result */
  cove_exec_done_fn on_done; /* required */
  void* user_data;           /* for both */
  cove_drop_fn drop;         /* NULL = nothing to do */
} cove_exec_callbacks;

#define COVE_EXEC_CALLBACKS_INIT {(uint32_t)sizeof(cove_exec_callbacks), 0, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_exec_callbacks_init(cove_exec_callbacks* callbacks, size_t size);

/* Starts a command and returns at once; everything else comes through the callbacks, possibly
 * before this returns. The caller frees *out_process, at any time. Cancellation and errors as
 * cove_workspace_exec. `drop` is called exactly once, also on failure; only callbacks with a
 * struct_size of no version are refused without being read.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_exec_start(cove_workspace* workspace, const char* const* argv,
                                               size_t argc, const cove_exec_options* options,
                                               const cove_exec_callbacks* callbacks,
                                               cove_process** out_process, cove_error** out_error);

/* Lets output come again after COVE_PAUSE; harmless otherwise.
 * Since: 0.1 */
COVE_API void cove_process_resume(cove_process* process);

/* Kills the command's tree; on_done gets COVE_OUTCOME_CANCELLED and the output so far. Harmless
 * after the end.
 * Since: 0.1 */
COVE_API void cove_process_cancel(cove_process* process);

/* Lets go of an attached process, which goes on; on_done gets COVE_CANCELLED. Of a command of
 * cove_workspace_exec_start: as cove_process_cancel.
 * Since: 0.1 */
COVE_API void cove_process_detach(cove_process* process);

/* Gives bytes to the command's stdin, after those of earlier writes; waits until they are on their
 * way, for which a command that does not read makes it wait. Cancellation: object still usable, a
 * part may be written. Errors: COVE_FAILED_PRECONDITION - the command is over, its stdin is closed,
 * or it was started with neither on_output nor COVE_EXEC_KEEP_STDIN.
 * Since: 0.1 */
COVE_API cove_status cove_process_write_stdin(cove_process* process, const void* data, size_t size,
                                              const cove_call_options* options,
                                              cove_error** out_error);

/* As cove_process_write_stdin, through a callback; the data is copied before it returns.
 * Since: 0.1 */
COVE_API cove_status cove_process_write_stdin_start(cove_process* process, const void* data,
                                                    size_t size, const cove_call_options* options,
                                                    cove_done_fn done, void* user_data,
                                                    cove_drop_fn drop, cove_error** out_error);

/* Ends the command's stdin, after what was written; success where it is closed already. Errors: as
 * cove_process_write_stdin.
 * Since: 0.1 */
COVE_API cove_status cove_process_close_stdin(cove_process* process,
                                              const cove_call_options* options,
                                              cove_error** out_error);

/* As cove_process_close_stdin, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_process_close_stdin_start(cove_process* process,
                                                    const cove_call_options* options,
                                                    cove_done_fn done, void* user_data,
                                                    cove_drop_fn drop, cove_error** out_error);

/* Sends a signal to the command's process group. Errors: COVE_FAILED_PRECONDITION - it is over.
 * Since: 0.1 */
COVE_API cove_status cove_process_signal(cove_process* process, int32_t signal,
                                         const cove_call_options* options, cove_error** out_error);

/* As cove_process_signal, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_process_signal_start(cove_process* process, int32_t signal,
                                               const cove_call_options* options, cove_done_fn done,
                                               void* user_data, cove_drop_fn drop,
                                               cove_error** out_error);

/* Changes the size of the command's terminal, 1 to 65535 each. Errors: COVE_FAILED_PRECONDITION -
 * it has none, or is over.
 * Since: 0.1 */
COVE_API cove_status cove_process_resize(cove_process* process, uint32_t rows, uint32_t columns,
                                         const cove_call_options* options, cove_error** out_error);

/* As cove_process_resize, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_process_resize_start(cove_process* process, uint32_t rows,
                                               uint32_t columns, const cove_call_options* options,
                                               cove_done_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* Frees the handle; the command goes on, and its callbacks still come.
 * Since: 0.1 */
COVE_API void cove_process_free(cove_process* process);

/* =========================== 7. Background processes ===========================
 *
 * Commands that nobody waits for. They survive this process: any later one finds them by their id,
 * and they end with the sandbox's stop (SIGTERM, grace, SIGKILL). Of each stream the last 1 MiB is
 * kept, with COVE_EXEC_SPILL up to 64 MiB. All chats of a workspace see the same ones. Common
 * errors: COVE_NOT_FOUND - no process has this id, or it was removed, or the sandbox was stopped
 * since. */

/* What is known of one process. Immutable. */
typedef struct cove_process_info cove_process_info;

/* Returns the id, 32 hexadecimal digits.
 * Since: 0.1 */
COVE_API const char* cove_process_info_id(const cove_process_info* info);

/* Returns the name that cove_process_options gave it; "" = none.
 * Since: 0.1 */
COVE_API const char* cove_process_info_name(const cove_process_info* info);

/* Returns the command for people, cut at 1 KiB. Bytes, not always UTF-8.
 * Since: 0.1 */
COVE_API const char* cove_process_info_command(const cove_process_info* info);

/* Returns the directory that it runs in, as it sees it. Bytes, not always UTF-8.
 * Since: 0.1 */
COVE_API const char* cove_process_info_cwd(const cove_process_info* info);

/* Returns when it was started, by the sandbox's clock, in milliseconds since 1970.
 * Since: 0.1 */
COVE_API int64_t cove_process_info_started_at_ms(const cove_process_info* info);

/* Returns how long it keeps its sandbox from an idle stop, in seconds; 0 = not at all.
 * Since: 0.1 */
COVE_API uint64_t cove_process_info_keep_alive_s(const cove_process_info* info);

/* Returns 1 where it runs on a terminal, else 0.
 * Since: 0.1 */
COVE_API int32_t cove_process_info_has_terminal(const cove_process_info* info);

/* Returns 1 while its stdin can be written to, else 0.
 * Since: 0.1 */
COVE_API int32_t cove_process_info_stdin_open(const cove_process_info* info);

/* Returns how many bytes it has written to a stream so far.
 * Since: 0.1 */
COVE_API uint64_t cove_process_info_total_bytes(const cove_process_info* info, int32_t stream);

/* Returns how it ended, borrowed, without output; NULL while it runs.
 * Since: 0.1 */
COVE_API const cove_exec_result* cove_process_info_result(const cove_process_info* info);

/* Frees an info that a call handed out; never one that cove_process_list_entry returned.
 * Since: 0.1 */
COVE_API void cove_process_info_free(cove_process_info* info);

/* Several processes, in the order of their start. Immutable. */
typedef struct cove_process_list cove_process_list;

/* Returns how many there are.
 * Since: 0.1 */
COVE_API size_t cove_process_list_count(const cove_process_list* list);

/* Returns process `index`, borrowed; NULL past the last.
 * Since: 0.1 */
COVE_API const cove_process_info* cove_process_list_entry(const cove_process_list* list,
                                                          size_t index);

/* Frees a list.
 * Since: 0.1 */
COVE_API void cove_process_list_free(cove_process_list* list);

/* Completion that gives what is known of a process. The callback frees both. */
typedef void (*cove_process_info_fn)(void* user_data, cove_process_info* info, cove_error* error);

/* Completion of cove_workspace_list_processes_start. The callback frees both. */
typedef void (*cove_process_list_fn)(void* user_data, cove_process_list* list, cove_error* error);

typedef struct cove_process_options {
  uint32_t struct_size;
  uint32_t reserved0;    /* must be 0 */
  const char* name;      /* for people, at most 100 bytes of UTF-8; NULL = none */
  uint64_t keep_alive_s; /* keeps its sandbox from an idle stop, at most 24 h; 0 = not at all */
} cove_process_options;

#define COVE_PROCESS_OPTIONS_INIT {(uint32_t)sizeof(cove_process_options), 0, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_process_options_init(cove_process_options* options, size_t size);

/* Starts a process and gives what is known of it once the program runs; its stdin stays open. Of
 * `exec` timeout_ms and cancel are of the start alone: the process goes on. The caller frees
 * *out_info. Cancellation: it may have been started; list them. Errors: as cove_workspace_exec;
 * COVE_QUOTA_EXCEEDED - 256 are there, ended ones included.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_start_process(
    cove_workspace* workspace, const char* const* argv, size_t argc, const cove_exec_options* exec,
    const cove_process_options* options, cove_process_info** out_info, cove_error** out_error);

/* As cove_workspace_start_process, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_start_process_start(cove_workspace* workspace,
                                                        const char* const* argv, size_t argc,
                                                        const cove_exec_options* exec,
                                                        const cove_process_options* options,
                                                        cove_process_info_fn done, void* user_data,
                                                        cove_drop_fn drop, cove_error** out_error);

/* Lists all that were not removed. The caller frees *out_list. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_list_processes(cove_workspace* workspace,
                                                   const cove_call_options* options,
                                                   cove_process_list** out_list,
                                                   cove_error** out_error);

/* As cove_workspace_list_processes, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_list_processes_start(cove_workspace* workspace,
                                                         const cove_call_options* options,
                                                         cove_process_list_fn done, void* user_data,
                                                         cove_drop_fn drop, cove_error** out_error);

/* Says what is known of a process. The caller frees *out_info. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_find_process(cove_workspace* workspace, const char* id,
                                                 const cove_call_options* options,
                                                 cove_process_info** out_info,
                                                 cove_error** out_error);

/* As cove_workspace_find_process, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_find_process_start(cove_workspace* workspace, const char* id,
                                                       const cove_call_options* options,
                                                       cove_process_info_fn done, void* user_data,
                                                       cove_drop_fn drop, cove_error** out_error);

/* A part of what a process wrote. Immutable. */
typedef struct cove_output_slice cove_output_slice;

/* Returns the first byte; *out_size, which may be NULL, gets their number. No NUL follows them.
 * Since: 0.1 */
COVE_API const char* cove_output_slice_data(const cove_output_slice* slice, size_t* out_size);

/* Returns the offset of the first byte: above the one asked for where some are gone.
 * Since: 0.1 */
COVE_API uint64_t cove_output_slice_offset(const cove_output_slice* slice);

/* Returns the offset to ask for next.
 * Since: 0.1 */
COVE_API uint64_t cove_output_slice_next(const cove_output_slice* slice);

/* Returns how many bytes before it nobody has any more.
 * Since: 0.1 */
COVE_API uint64_t cove_output_slice_gone(const cove_output_slice* slice);

/* Returns 1 where the process has ended and nothing follows, else 0.
 * Since: 0.1 */
COVE_API int32_t cove_output_slice_at_end(const cove_output_slice* slice);

/* Frees a slice.
 * Since: 0.1 */
COVE_API void cove_output_slice_free(cove_output_slice* slice);

/* Completion of cove_workspace_process_output_start. The callback frees both. */
typedef void (*cove_output_slice_fn)(void* user_data, cove_output_slice* slice, cove_error* error);

typedef struct cove_output_options {
  uint32_t struct_size;
  uint32_t stream;     /* COVE_STDOUT or COVE_STDERR; 0 = COVE_STDOUT */
  uint64_t offset;     /* of the first byte wanted */
  uint64_t max_bytes;  /* at most 256 KiB; 0 = 50 KiB */
  uint64_t wait_ms;    /* waits so long for a byte or the end, at most 60 s; 0 = not at all */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
} cove_output_options;

#define COVE_OUTPUT_OPTIONS_INIT {(uint32_t)sizeof(cove_output_options), 0, 0, 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_output_options_init(cove_output_options* options, size_t size);

/* Reads a part of what a process wrote, also after its end. The caller frees *out_slice.
 * Cancellation: nothing happened. Errors: COVE_INVALID_ARGUMENT - an offset past what was written.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_process_output(cove_workspace* workspace, const char* id,
                                                   const cove_output_options* options,
                                                   cove_output_slice** out_slice,
                                                   cove_error** out_error);

/* As cove_workspace_process_output, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_process_output_start(cove_workspace* workspace, const char* id,
                                                         const cove_output_options* options,
                                                         cove_output_slice_fn done, void* user_data,
                                                         cove_drop_fn drop, cove_error** out_error);

/* Gives bytes to the stdin of a process; several pieces: cove_workspace_attach_process.
 * Cancellation: a part may be written. Errors: COVE_FAILED_PRECONDITION - its stdin is closed, or
 * it has ended.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_write_process_stdin(cove_workspace* workspace, const char* id,
                                                        const void* data, size_t size,
                                                        const cove_call_options* options,
                                                        cove_error** out_error);

/* As cove_workspace_write_process_stdin, through a callback; the data is copied before it returns.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_write_process_stdin_start(
    cove_workspace* workspace, const char* id, const void* data, size_t size,
    const cove_call_options* options, cove_done_fn done, void* user_data, cove_drop_fn drop,
    cove_error** out_error);

/* Ends the stdin of a process; success where it is closed already.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_close_process_stdin(cove_workspace* workspace, const char* id,
                                                        const cove_call_options* options,
                                                        cove_error** out_error);

/* As cove_workspace_close_process_stdin, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_close_process_stdin_start(
    cove_workspace* workspace, const char* id, const cove_call_options* options, cove_done_fn done,
    void* user_data, cove_drop_fn drop, cove_error** out_error);

/* Sends a signal to the process group of a process. Errors: COVE_FAILED_PRECONDITION - it has
 * ended.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_signal_process(cove_workspace* workspace, const char* id,
                                                   int32_t signal, const cove_call_options* options,
                                                   cove_error** out_error);

/* As cove_workspace_signal_process, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_signal_process_start(cove_workspace* workspace, const char* id,
                                                         int32_t signal,
                                                         const cove_call_options* options,
                                                         cove_done_fn done, void* user_data,
                                                         cove_drop_fn drop, cove_error** out_error);

/* Changes the size of a process's terminal, 1 to 65535 each. Errors: COVE_FAILED_PRECONDITION - it
 * has none, or has ended.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_resize_process(cove_workspace* workspace, const char* id,
                                                   uint32_t rows, uint32_t columns,
                                                   const cove_call_options* options,
                                                   cove_error** out_error);

/* As cove_workspace_resize_process, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_resize_process_start(cove_workspace* workspace, const char* id,
                                                         uint32_t rows, uint32_t columns,
                                                         const cove_call_options* options,
                                                         cove_done_fn done, void* user_data,
                                                         cove_drop_fn drop, cove_error** out_error);

/* Ends a process with all that it started (SIGTERM, its grace, SIGKILL) and waits for that; success
 * where it has ended. The caller frees *out_info. Cancellation: it ends all the same.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_end_process(cove_workspace* workspace, const char* id,
                                                const cove_call_options* options,
                                                cove_process_info** out_info,
                                                cove_error** out_error);

/* As cove_workspace_end_process, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_end_process_start(cove_workspace* workspace, const char* id,
                                                      const cove_call_options* options,
                                                      cove_process_info_fn done, void* user_data,
                                                      cove_drop_fn drop, cove_error** out_error);

/* Waits for the end of a process. The caller frees *out_info. Cancellation: nothing happened; the
 * process goes on.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_wait_process(cove_workspace* workspace, const char* id,
                                                 const cove_call_options* options,
                                                 cove_process_info** out_info,
                                                 cove_error** out_error);

/* As cove_workspace_wait_process, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_wait_process_start(cove_workspace* workspace, const char* id,
                                                       const cove_call_options* options,
                                                       cove_process_info_fn done, void* user_data,
                                                       cove_drop_fn drop, cove_error** out_error);

/* Forgets a process that has ended, with its output. Errors: COVE_FAILED_PRECONDITION - it runs.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_remove_process(cove_workspace* workspace, const char* id,
                                                   const cove_call_options* options,
                                                   cove_error** out_error);

/* As cove_workspace_remove_process, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_remove_process_start(cove_workspace* workspace, const char* id,
                                                         const cove_call_options* options,
                                                         cove_done_fn done, void* user_data,
                                                         cove_drop_fn drop, cove_error** out_error);

enum { COVE_ATTACH_ONLY_NEW = 1 /* output from now on, instead of the offsets */ };

typedef struct cove_attach_options {
  uint32_t struct_size;
  uint32_t flags;      /* COVE_ATTACH_*; 0 = none */
  uint64_t out_offset; /* of stdout's first byte that is wanted */
  uint64_t err_offset; /* of stderr's */
  uint64_t timeout_ms; /* then it is let go of, and goes on; 0 = none */
  cove_cancel* cancel; /* lets go of it, and it goes on; NULL = only cove_process_detach */
} cove_attach_options;

#define COVE_ATTACH_OPTIONS_INIT {(uint32_t)sizeof(cove_attach_options), 0, 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_attach_options_init(cove_attach_options* options, size_t size);

/* Takes hold of a process and returns at once: its output, stdin, signals and end, as of a command
 * of cove_workspace_exec_start. Several may; each gets everything, and the process waits for none
 * of them: what a slow reader missed is among the result's dropped bytes. cove_process_cancel ends
 * the process; cove_process_detach and the end of this program only let go of it. The caller frees
 * *out_process, which ends nothing. `drop` is called exactly once, also on failure; only callbacks
 * with a struct_size of no version are refused without being read.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_attach_process(cove_workspace* workspace, const char* id,
                                                   const cove_attach_options* options,
                                                   const cove_exec_callbacks* callbacks,
                                                   cove_process** out_process,
                                                   cove_error** out_error);

/* ================================== 8. Files ==================================
 *
 * Relative paths start at the session's directory; ".." is fine while the result stays in
 * /workspace, an absolute path must lie under it; else COVE_PATH_ESCAPE, enforced by the kernel.
 * Common errors: COVE_NOT_FOUND, COVE_PATH_ESCAPE, COVE_PERMISSION_DENIED, COVE_QUOTA_EXCEEDED. */

enum { COVE_FILE_REGULAR = 1, COVE_FILE_DIRECTORY = 2, COVE_FILE_SYMLINK = 3, COVE_FILE_OTHER = 4 };

/* What is known of one file. Immutable. */
typedef struct cove_file_info cove_file_info;

/* Returns the path: of a page, relative to the listed directory; else below /workspace. Bytes, not
 * always UTF-8.
 * Since: 0.1 */
COVE_API const char* cove_file_info_path(const cove_file_info* info);

/* Returns a COVE_FILE_*.
 * Since: 0.1 */
COVE_API int32_t cove_file_info_type(const cove_file_info* info);

/* Returns the size in bytes.
 * Since: 0.1 */
COVE_API uint64_t cove_file_info_size(const cove_file_info* info);

/* Returns the permission bits (07777).
 * Since: 0.1 */
COVE_API uint32_t cove_file_info_mode(const cove_file_info* info);

/* Returns when the content last changed, in nanoseconds since 1970.
 * Since: 0.1 */
COVE_API int64_t cove_file_info_modified_ns(const cove_file_info* info);

/* Returns where a symlink points; "" for others.
 * Since: 0.1 */
COVE_API const char* cove_file_info_link_target(const cove_file_info* info);

/* Returns opaque text that is another one after every change of content, mode or place, the same
 * from every machine; to be compared, and given as if_unchanged_since. "" where it is not known.
 * Since: 0.1 */
COVE_API const char* cove_file_info_etag(const cove_file_info* info);

/* Returns 1 for a directory that a list of several levels could not look into, else 0.
 * Since: 0.1 */
COVE_API int32_t cove_file_info_is_unreadable(const cove_file_info* info);

/* Frees an info that a call handed out; never one that another object returned.
 * Since: 0.1 */
COVE_API void cove_file_info_free(cove_file_info* info);

/* Completion that gives what is known of a file. The callback frees both. */
typedef void (*cove_file_info_fn)(void* user_data, cove_file_info* info, cove_error* error);

typedef struct cove_read_options {
  uint32_t struct_size;
  uint32_t reserved0;  /* must be 0 */
  uint64_t offset;     /* first byte; past the end there are none */
  uint64_t max_bytes;  /* 0 = to the end */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
} cove_read_options;

#define COVE_READ_OPTIONS_INIT {(uint32_t)sizeof(cove_read_options), 0, 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_read_options_init(cove_read_options* options, size_t size);

/* Reads a file, or a range of it, of at most 64 MiB. The caller frees *out_content. Cancellation:
 * nothing happened. Errors: COVE_TOO_LARGE - ask for a range; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_read_file(cove_workspace* workspace, const char* path,
                                              const cove_read_options* options,
                                              cove_buffer** out_content, cove_error** out_error);

/* As cove_workspace_read_file, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_read_file_start(cove_workspace* workspace, const char* path,
                                                    const cove_read_options* options,
                                                    cove_buffer_fn done, void* user_data,
                                                    cove_drop_fn drop, cove_error** out_error);

/* Bytes of a file and what was said of it at that moment. Immutable. */
typedef struct cove_file_content cove_file_content;

/* Returns the first byte; *out_size, which may be NULL, gets their number. No NUL follows.
 * Since: 0.1 */
COVE_API const char* cove_file_content_data(const cove_file_content* content, size_t* out_size);

/* Returns what the file is, told from its first bytes also where a range was read: "image/png",
 * "text/plain; charset=utf-8", ..., "application/octet-stream" where they say nothing.
 * Since: 0.1 */
COVE_API const char* cove_file_content_type(const cove_file_content* content);

/* Returns what is known of the file, borrowed.
 * Since: 0.1 */
COVE_API const cove_file_info* cove_file_content_info(const cove_file_content* content);

/* Frees a content.
 * Since: 0.1 */
COVE_API void cove_file_content_free(cove_file_content* content);

/* Completion that gives a file's bytes and info. The callback frees both. */
typedef void (*cove_file_content_fn)(void* user_data, cove_file_content* content,
                                     cove_error* error);

/* As cove_workspace_read_file, with what is said of the file. The caller frees *out_content.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_read(cove_workspace* workspace, const char* path,
                                         const cove_read_options* options,
                                         cove_file_content** out_content, cove_error** out_error);

/* As cove_workspace_read, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_read_start(cove_workspace* workspace, const char* path,
                                               const cove_read_options* options,
                                               cove_file_content_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* Lines of a file. Immutable. */
typedef struct cove_line_slice cove_line_slice;

/* Returns the lines' bytes as in the file, line ends too. A NUL that does not count follows.
 * *out_size may be NULL.
 * Since: 0.1 */
COVE_API const char* cove_line_slice_text(const cove_line_slice* slice, size_t* out_size);

/* Returns the number of the first line in it.
 * Since: 0.1 */
COVE_API uint64_t cove_line_slice_first(const cove_line_slice* slice);

/* Returns how many lines are in it.
 * Since: 0.1 */
COVE_API uint64_t cove_line_slice_count(const cove_line_slice* slice);

/* Returns the first line that was not given; 0 = the file ends here.
 * Since: 0.1 */
COVE_API uint64_t cove_line_slice_next(const cove_line_slice* slice);

/* Returns how many lines the file has; -1 where that was not cheap to know.
 * Since: 0.1 */
COVE_API int64_t cove_line_slice_total_lines(const cove_line_slice* slice);

/* Returns where in the file the text begins, in bytes.
 * Since: 0.1 */
COVE_API uint64_t cove_line_slice_offset(const cove_line_slice* slice);

/* Returns 1 where its only line is longer than max_bytes and goes on at the offset plus the text's
 * size; else 0. No UTF-8 character is cut.
 * Since: 0.1 */
COVE_API int32_t cove_line_slice_is_cut(const cove_line_slice* slice);

/* Returns what the file is, as cove_file_content_type.
 * Since: 0.1 */
COVE_API const char* cove_line_slice_content_type(const cove_line_slice* slice);

/* Returns what is known of the file, borrowed.
 * Since: 0.1 */
COVE_API const cove_file_info* cove_line_slice_info(const cove_line_slice* slice);

/* Frees a slice.
 * Since: 0.1 */
COVE_API void cove_line_slice_free(cove_line_slice* slice);

/* Completion that gives lines. The callback frees both. */
typedef void (*cove_line_slice_fn)(void* user_data, cove_line_slice* slice, cove_error* error);

typedef struct cove_read_lines_options {
  uint32_t struct_size;
  uint32_t reserved0;  /* must be 0 */
  uint64_t first;      /* from 1; 0 = 1 */
  uint64_t count;      /* lines at most; 0 = 2,000 */
  uint64_t max_bytes;  /* whole lines while they fit, 4 to 8 MiB; 0 = 50 KiB */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
} cove_read_lines_options;

#define COVE_READ_LINES_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_read_lines_options), 0, 0, 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_read_lines_options_init(cove_read_lines_options* options, size_t size);

/* Reads lines of a file of any size. The caller frees *out_slice. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_read_lines(cove_workspace* workspace, const char* path,
                                               const cove_read_lines_options* options,
                                               cove_line_slice** out_slice, cove_error** out_error);

/* As cove_workspace_read_lines, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_read_lines_start(cove_workspace* workspace, const char* path,
                                                     const cove_read_lines_options* options,
                                                     cove_line_slice_fn done, void* user_data,
                                                     cove_drop_fn drop, cove_error** out_error);

enum {
  COVE_WRITE_EXISTING_PARENTS = 1, /* a missing directory is COVE_NOT_FOUND, not made */
  COVE_WRITE_DURABLE = 2,          /* file and directory are synced before it counts */
  COVE_WRITE_APPEND = 4,           /* adds to the file's end instead, at most 16 MiB at once */
  COVE_WRITE_IF_ABSENT = 8         /* a name that is taken is COVE_ALREADY_EXISTS */
};

typedef struct cove_write_options {
  uint32_t struct_size;
  uint32_t flags;      /* COVE_WRITE_*; 0 = none */
  uint32_t mode;       /* permission bits; 0 = an existing file's, else 0644 */
  uint32_t reserved0;  /* must be 0 */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
  const char*
      if_unchanged_since; /* the etag that the file must still have; NULL = whatever it is */
} cove_write_options;

#define COVE_WRITE_OPTIONS_INIT {(uint32_t)sizeof(cove_write_options), 0, 0, 0, 0, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_write_options_init(cove_write_options* options, size_t size);

/* Creates a file or replaces it as a whole: others see the old content or the new. `out_info` may
 * be NULL; else the caller frees *out_info. Cancellation: the file is the old one or the new one.
 * Errors: COVE_CONFLICT - it is not what if_unchanged_since says, or is gone; COVE_ALREADY_EXISTS;
 * COVE_TOO_LARGE; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_write_file(cove_workspace* workspace, const char* path,
                                               const void* data, size_t size,
                                               const cove_write_options* options,
                                               cove_file_info** out_info, cove_error** out_error);

/* As cove_workspace_write_file, through a callback; the data is copied before it returns.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_write_file_start(cove_workspace* workspace, const char* path,
                                                     const void* data, size_t size,
                                                     const cove_write_options* options,
                                                     cove_file_info_fn done, void* user_data,
                                                     cove_drop_fn drop, cove_error** out_error);

enum {
  COVE_EDIT_REPLACE_ALL = 1, /* of cove_edit: wherever it is found, not exactly once */
  COVE_EDIT_DURABLE = 2      /* of the others: as COVE_WRITE_DURABLE */
};

/* One exact replacement. An LF in old_text matches the file's line end, and new_text is written
 * with the file's own; a byte order mark and a missing LF at the end stay. The elements of an array
 * have one struct_size. */
typedef struct cove_edit {
  uint32_t struct_size;
  uint32_t flags;       /* COVE_EDIT_REPLACE_ALL; 0 = found exactly once, or an error */
  const void* old_text; /* what is there, not empty */
  size_t old_size;      /* bytes of old_text */
  const void* new_text; /* what takes its place */
  size_t new_size;      /* bytes of new_text */
} cove_edit;

#define COVE_EDIT_INIT {(uint32_t)sizeof(cove_edit), 0, NULL, 0, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_edit_init(cove_edit* edit, size_t size);

/* What became of a file that was edited. Immutable. */
typedef struct cove_edit_result cove_edit_result;

/* Returns what is known of the file now, borrowed.
 * Since: 0.1 */
COVE_API const cove_file_info* cove_edit_result_info(const cove_edit_result* result);

/* Returns how many edits there were.
 * Since: 0.1 */
COVE_API size_t cove_edit_result_count(const cove_edit_result* result);

/* Returns in how many places edit `index` replaced; 0 past the last.
 * Since: 0.1 */
COVE_API uint64_t cove_edit_result_replaced(const cove_edit_result* result, size_t index);

/* Returns the line, from 1, where the first place of edit `index` begins, in the file as this edit
 * found it; 0 past the last.
 * Since: 0.1 */
COVE_API uint64_t cove_edit_result_first_line(const cove_edit_result* result, size_t index);

/* Frees a result that a call handed out; never one that cove_edit_results_entry returned.
 * Since: 0.1 */
COVE_API void cove_edit_result_free(cove_edit_result* result);

/* Completion that gives what became of a file. The callback frees both. */
typedef void (*cove_edit_result_fn)(void* user_data, cove_edit_result* result, cove_error* error);

typedef struct cove_edit_options {
  uint32_t struct_size;
  uint32_t flags;                 /* COVE_EDIT_DURABLE; 0 = none */
  const char* if_unchanged_since; /* as of cove_write_options */
  uint64_t timeout_ms;            /* of the whole call; 0 = none */
  cove_cancel* cancel;            /* NULL = cannot be called off */
} cove_edit_options;

#define COVE_EDIT_OPTIONS_INIT {(uint32_t)sizeof(cove_edit_options), 0, NULL, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_edit_options_init(cove_edit_options* options, size_t size);

/* Edits a file, one edit after the other, all of them or none. The caller frees *out_result.
 * Cancellation: the file is the old one or the new one. Errors: COVE_FAILED_PRECONDITION - an old
 * text is not there, with the nearest lines; COVE_INVALID_ARGUMENT - it is there more than once,
 * with the line numbers; COVE_CONFLICT - as cove_workspace_write_file; COVE_TOO_LARGE; the common
 * ones. Where one of several edits fails, the error's context "edit" is its number, from 1.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_edit_file(cove_workspace* workspace, const char* path,
                                              const cove_edit* edits, size_t edit_count,
                                              const cove_edit_options* options,
                                              cove_edit_result** out_result,
                                              cove_error** out_error);

/* As cove_workspace_edit_file, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_edit_file_start(cove_workspace* workspace, const char* path,
                                                    const cove_edit* edits, size_t edit_count,
                                                    const cove_edit_options* options,
                                                    cove_edit_result_fn done, void* user_data,
                                                    cove_drop_fn drop, cove_error** out_error);

/* The edits of one file within several. The elements of an array have one struct_size. */
typedef struct cove_file_edit {
  uint32_t struct_size;
  uint32_t flags;                 /* COVE_EDIT_DURABLE; 0 = none */
  const char* path;               /* which file */
  const cove_edit* edits;         /* in order */
  size_t edit_count;              /* entries of edits */
  const char* if_unchanged_since; /* as of cove_write_options */
} cove_file_edit;

#define COVE_FILE_EDIT_INIT {(uint32_t)sizeof(cove_file_edit), 0, NULL, NULL, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_file_edit_init(cove_file_edit* edit, size_t size);

/* What became of several files, in the order in which they were given. Immutable. */
typedef struct cove_edit_results cove_edit_results;

/* Returns how many there are.
 * Since: 0.1 */
COVE_API size_t cove_edit_results_count(const cove_edit_results* results);

/* Returns what became of file `index`, borrowed; NULL where it was not edited, and past the last.
 * Since: 0.1 */
COVE_API const cove_edit_result* cove_edit_results_entry(const cove_edit_results* results,
                                                         size_t index);

/* Returns why file `index` was not edited, borrowed; NULL where it was, and past the last.
 * Since: 0.1 */
COVE_API const cove_error* cove_edit_results_error(const cove_edit_results* results, size_t index);

/* Frees the results.
 * Since: 0.1 */
COVE_API void cove_edit_results_free(cove_edit_results* results);

/* Completion that gives what became of several files. The callback frees both. */
typedef void (*cove_edit_results_fn)(void* user_data, cove_edit_results* results,
                                     cove_error* error);

/* Edits several files, in order; each has its own result or error. Entries with the same path are
 * one change of that file, all of them or none. The caller frees *out_results. Cancellation: each
 * file is the old one or the new one.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_edit_files(cove_workspace* workspace,
                                               const cove_file_edit* files, size_t file_count,
                                               const cove_call_options* options,
                                               cove_edit_results** out_results,
                                               cove_error** out_error);

/* As cove_workspace_edit_files, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_edit_files_start(cove_workspace* workspace,
                                                     const cove_file_edit* files, size_t file_count,
                                                     const cove_call_options* options,
                                                     cove_edit_results_fn done, void* user_data,
                                                     cove_drop_fn drop, cove_error** out_error);

/* Says what a path is, of a symlink itself. The caller frees *out_info. Cancellation: nothing
 * happened.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_stat(cove_workspace* workspace, const char* path,
                                         const cove_call_options* options,
                                         cove_file_info** out_info, cove_error** out_error);

/* As cove_workspace_stat, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_stat_start(cove_workspace* workspace, const char* path,
                                               const cove_call_options* options,
                                               cove_file_info_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* One page of a directory, in the order of the names' bytes. Immutable. */
typedef struct cove_file_page cove_file_page;

/* Returns the number of entries.
 * Since: 0.1 */
COVE_API size_t cove_file_page_count(const cove_file_page* page);

/* Returns entry `index`, borrowed; NULL past the last.
 * Since: 0.1 */
COVE_API const cove_file_info* cove_file_page_entry(const cove_file_page* page, size_t index);

/* Returns what to give as `after` for the next page; "" = this was the last one.
 * Since: 0.1 */
COVE_API const char* cove_file_page_next(const cove_file_page* page);

/* Frees a page and its entries.
 * Since: 0.1 */
COVE_API void cove_file_page_free(cove_file_page* page);

/* Completion that gives a page. The callback frees both. */
typedef void (*cove_file_page_fn)(void* user_data, cove_file_page* page, cove_error* error);

/* For depth: the whole tree. */
#define COVE_DEPTH_ALL UINT32_MAX

typedef struct cove_file_list_options {
  uint32_t struct_size;
  uint32_t limit;      /* 1 to 10,000 entries; 0 = 1,000 */
  const char* after;   /* a page's next; NULL or "" = from the start */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
  uint32_t depth;      /* levels of directories; 0 = 1, its own entries; COVE_DEPTH_ALL */
  uint32_t reserved0;  /* must be 0 */
} cove_file_list_options;

#define COVE_FILE_LIST_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_file_list_options), 0, NULL, 0, NULL, 0, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_file_list_options_init(cove_file_list_options* options, size_t size);

/* Lists a directory, page by page, a directory before what is in it. The caller frees *out_page.
 * Cancellation: nothing happened. Errors: COVE_FAILED_PRECONDITION - not a directory; the common
 * ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_list(cove_workspace* workspace, const char* path,
                                         const cove_file_list_options* options,
                                         cove_file_page** out_page, cove_error** out_error);

/* As cove_workspace_list, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_list_start(cove_workspace* workspace, const char* path,
                                               const cove_file_list_options* options,
                                               cove_file_page_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* Makes a directory and the missing ones above it, 0755; success where it is one already.
 * Cancellation: object still usable. Errors: COVE_ALREADY_EXISTS - a file has that name.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_make_directory(cove_workspace* workspace, const char* path,
                                                   const cove_call_options* options,
                                                   cove_error** out_error);

/* As cove_workspace_make_directory, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_make_directory_start(cove_workspace* workspace,
                                                         const char* path,
                                                         const cove_call_options* options,
                                                         cove_done_fn done, void* user_data,
                                                         cove_drop_fn drop, cove_error** out_error);

enum { COVE_REMOVE_RECURSIVE = 1 };

typedef struct cove_remove_options {
  uint32_t struct_size;
  uint32_t flags;      /* COVE_REMOVE_RECURSIVE: a directory with all below it; 0 = none */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
} cove_remove_options;

#define COVE_REMOVE_OPTIONS_INIT {(uint32_t)sizeof(cove_remove_options), 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_remove_options_init(cove_remove_options* options, size_t size);

/* Removes a file, a symlink itself, or a directory. Cancellation: object still usable; of a
 * directory some may be gone. Errors: COVE_FAILED_PRECONDITION - the directory is not empty; the
 * common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_remove(cove_workspace* workspace, const char* path,
                                           const cove_remove_options* options,
                                           cove_error** out_error);

/* As cove_workspace_remove, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_remove_start(cove_workspace* workspace, const char* path,
                                                 const cove_remove_options* options,
                                                 cove_done_fn done, void* user_data,
                                                 cove_drop_fn drop, cove_error** out_error);

enum {
  COVE_MOVE_OVERWRITE = 1,       /* replaces a file; of a move, an empty directory by a directory */
  COVE_MOVE_EXISTING_PARENTS = 2 /* a missing directory is COVE_NOT_FOUND, not made */
};

typedef struct cove_move_options {
  uint32_t struct_size;
  uint32_t flags;      /* COVE_MOVE_*; 0 = none */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
} cove_move_options;

#define COVE_MOVE_OPTIONS_INIT {(uint32_t)sizeof(cove_move_options), 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_move_options_init(cove_move_options* options, size_t size);

/* Moves a file, a symlink itself, or a directory. `out_info` may be NULL; else the caller frees
 * *out_info. `to` is the new path itself, never a directory to move into. Cancellation: it is at
 * one of the two places. Errors: COVE_ALREADY_EXISTS - the name is taken; COVE_FAILED_PRECONDITION
 * - by a directory with something in it, or by another kind; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_move(cove_workspace* workspace, const char* from,
                                         const char* to, const cove_move_options* options,
                                         cove_file_info** out_info, cove_error** out_error);

/* As cove_workspace_move, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_move_start(cove_workspace* workspace, const char* from,
                                               const char* to, const cove_move_options* options,
                                               cove_file_info_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* What was copied, or placed from an archive. Immutable. */
typedef struct cove_tree_counts cove_tree_counts;

/* Returns how many files, directories and symlinks.
 * Since: 0.1 */
COVE_API uint64_t cove_tree_counts_entries(const cove_tree_counts* counts);

/* Returns how many bytes of files' content.
 * Since: 0.1 */
COVE_API uint64_t cove_tree_counts_bytes(const cove_tree_counts* counts);

/* Returns how many sockets and devices were passed over.
 * Since: 0.1 */
COVE_API uint64_t cove_tree_counts_skipped(const cove_tree_counts* counts);

/* Frees the counts.
 * Since: 0.1 */
COVE_API void cove_tree_counts_free(cove_tree_counts* counts);

/* Completion that gives counts. The callback frees both. */
typedef void (*cove_tree_counts_fn)(void* user_data, cove_tree_counts* counts, cove_error* error);

/* Copies a file, a symlink itself, or a directory with all below it. `out_counts` may be NULL; else
 * the caller frees *out_counts. It appears whole at the end: an error leaves nothing of it.
 * Cancellation: object still usable. Errors: as cove_workspace_move.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_copy(cove_workspace* workspace, const char* from,
                                         const char* to, const cove_move_options* options,
                                         cove_tree_counts** out_counts, cove_error** out_error);

/* As cove_workspace_copy, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_copy_start(cove_workspace* workspace, const char* from,
                                               const char* to, const cove_move_options* options,
                                               cove_tree_counts_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error);

/* Sets the permission bits (07777) of what a path leads to. `out_info` as of cove_workspace_move.
 * Cancellation: object still usable.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_set_mode(cove_workspace* workspace, const char* path,
                                             uint32_t mode, const cove_call_options* options,
                                             cove_file_info** out_info, cove_error** out_error);

/* As cove_workspace_set_mode, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_set_mode_start(cove_workspace* workspace, const char* path,
                                                   uint32_t mode, const cove_call_options* options,
                                                   cove_file_info_fn done, void* user_data,
                                                   cove_drop_fn drop, cove_error** out_error);

/* Makes a symlink at `path`; what it leads to need not be there. `out_info` as of
 * cove_workspace_move. Cancellation: object still usable. Errors: COVE_ALREADY_EXISTS - the name is
 * taken; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_make_symlink(cove_workspace* workspace, const char* path,
                                                 const char* target,
                                                 const cove_call_options* options,
                                                 cove_file_info** out_info, cove_error** out_error);

/* As cove_workspace_make_symlink, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_make_symlink_start(cove_workspace* workspace, const char* path,
                                                       const char* target,
                                                       const cove_call_options* options,
                                                       cove_file_info_fn done, void* user_data,
                                                       cove_drop_fn drop, cove_error** out_error);

/* The next four transfers and cove_workspace_watch call the host's functions on the calling thread
 * and only while the call lasts. These may take their time, and call what waits. Their `_start`
 * forms behind them are driven by callbacks. */

/* Takes the next piece of a download; `data` is borrowed for the call. Returns COVE_OK; anything
 * else ends the download and is its status. */
typedef cove_status (*cove_sink_fn)(void* user_data, const void* data, size_t size);

/* Gives the next piece of an upload: at most `capacity` bytes to `buffer`, and their number to
 * *out_size, which is 0 before; 0 = the end. Returns COVE_OK; anything else ends the upload and is
 * its status. */
typedef cove_status (*cove_feed_fn)(void* user_data, void* buffer, size_t capacity,
                                    size_t* out_size);

/* Is told after each piece how many bytes are done, and of how many; total -1 = not known. */
typedef void (*cove_progress_fn)(void* user_data, uint64_t done, int64_t total);

typedef struct cove_download_callbacks {
  uint32_t struct_size;
  uint32_t reserved0;           /* must be 0 */
  cove_sink_fn on_piece;        /* required */
  cove_progress_fn on_progress; /* NULL = nobody asks */
  void* user_data;              /* for both */
} cove_download_callbacks;

#define COVE_DOWNLOAD_CALLBACKS_INIT \
  {(uint32_t)sizeof(cove_download_callbacks), 0, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_download_callbacks_init(cove_download_callbacks* callbacks, size_t size);

typedef struct cove_upload_callbacks {
  uint32_t struct_size;
  uint32_t reserved0;           /* must be 0 */
  cove_feed_fn next_piece;      /* required */
  cove_progress_fn on_progress; /* NULL = nobody asks */
  void* user_data;              /* for both */
} cove_upload_callbacks;

#define COVE_UPLOAD_CALLBACKS_INIT {(uint32_t)sizeof(cove_upload_callbacks), 0, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_upload_callbacks_init(cove_upload_callbacks* callbacks, size_t size);

/* Gives a file of any size piece by piece. Cancellation: object still usable. Errors: what on_piece
 * answered; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_download(cove_workspace* workspace, const char* path,
                                             const cove_download_callbacks* callbacks,
                                             const cove_call_options* options,
                                             cove_error** out_error);

/* Gives a directory as a tar stream, as cove_workspace_download.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_download_tree(cove_workspace* workspace, const char* path,
                                                  const cove_download_callbacks* callbacks,
                                                  const cove_call_options* options,
                                                  cove_error** out_error);

/* Creates or replaces a file of any size from pieces, as a whole; an error leaves the old file.
 * `out_info` may be NULL; else the caller frees *out_info. Cancellation: the file is the old one or
 * the new one. Errors: what next_piece answered; those of cove_workspace_write_file.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_upload(cove_workspace* workspace, const char* path,
                                           const cove_upload_callbacks* callbacks,
                                           const cove_write_options* options,
                                           cove_file_info** out_info, cove_error** out_error);

/* Places a tar stream below a directory. `out_counts` may be NULL; else the caller frees
 * *out_counts. Cancellation: object still usable; a part may be there. Errors: what next_piece
 * answered; COVE_INVALID_ARGUMENT - no tar stream; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_upload_tree(cove_workspace* workspace, const char* path,
                                                const cove_upload_callbacks* callbacks,
                                                const cove_call_options* options,
                                                cove_tree_counts** out_counts,
                                                cove_error** out_error);

/* Takes the next piece of a download that was started; `data` is borrowed for the call. Returns
 * COVE_CONTINUE, or COVE_PAUSE: then nothing more comes, and nothing is read, until
 * cove_download_resume. */
typedef int32_t (*cove_piece_fn)(void* user_data, const void* data, size_t size);

typedef struct cove_piece_callbacks {
  uint32_t struct_size;
  uint32_t reserved0;           /* must be 0 */
  cove_piece_fn on_piece;       /* required */
  cove_progress_fn on_progress; /* told at the begin too, with 0; NULL = nobody asks */
  cove_done_fn on_done;         /* required */
  void* user_data;              /* for all three */
  cove_drop_fn drop;            /* NULL = nothing to do */
} cove_piece_callbacks;

#define COVE_PIECE_CALLBACKS_INIT \
  {(uint32_t)sizeof(cove_piece_callbacks), 0, NULL, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_piece_callbacks_init(cove_piece_callbacks* callbacks, size_t size);

/* A download that was started. Any thread. */
typedef struct cove_download cove_download;

/* Starts such a download and returns at once; everything else comes through the callbacks, on a
 * thread of Cove. The caller frees *out_download, at any time. `drop` is called exactly once, also
 * on failure; only callbacks with a struct_size of no version are refused without being read.
 * Cancellation and errors: as cove_workspace_download.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_download_start(cove_workspace* workspace, const char* path,
                                                   const cove_piece_callbacks* callbacks,
                                                   const cove_call_options* options,
                                                   cove_download** out_download,
                                                   cove_error** out_error);

/* Starts the download of a directory as a tar stream, as cove_workspace_download_start.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_download_tree_start(cove_workspace* workspace, const char* path,
                                                        const cove_piece_callbacks* callbacks,
                                                        const cove_call_options* options,
                                                        cove_download** out_download,
                                                        cove_error** out_error);

/* Lets pieces come again after COVE_PAUSE; harmless otherwise.
 * Since: 0.1 */
COVE_API void cove_download_resume(cove_download* download);

/* Ends the download, also where it is paused; harmless after its end.
 * Since: 0.1 */
COVE_API void cove_download_cancel(cove_download* download);

/* Frees the handle; the download goes on, and its callbacks still come.
 * Since: 0.1 */
COVE_API void cove_download_free(cove_download* download);

/* An upload that was started, and is given its pieces. Any thread. */
typedef struct cove_upload cove_upload;

/* Starts an upload and returns at once: then cove_upload_write gives the pieces, and
 * cove_upload_finish says that these were all. The caller frees *out_upload. Cancellation and
 * errors, which `done` gets: as cove_workspace_upload. `drop` is called exactly once, also on
 * failure.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_upload_start(cove_workspace* workspace, const char* path,
                                                 const cove_write_options* options,
                                                 cove_file_info_fn done, void* user_data,
                                                 cove_drop_fn drop, cove_upload** out_upload,
                                                 cove_error** out_error);

/* Starts the upload of a tar stream, as cove_workspace_upload_start. Cancellation and errors: as
 * cove_workspace_upload_tree.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_upload_tree_start(cove_workspace* workspace, const char* path,
                                                      const cove_call_options* options,
                                                      cove_tree_counts_fn done, void* user_data,
                                                      cove_drop_fn drop, cove_upload** out_upload,
                                                      cove_error** out_error);

/* Gives the next piece, behind those of earlier calls, and waits until it is on its way: so who
 * gives is as fast as the sandbox. 0 bytes are nothing. Cancellation and time limits: nothing of
 * the piece was written, the object is still usable. Errors: COVE_FAILED_PRECONDITION - after
 * cove_upload_finish, or the upload is over, and its own completion says why.
 * Since: 0.1 */
COVE_API cove_status cove_upload_write(cove_upload* upload, const void* data, size_t size,
                                       const cove_call_options* options, cove_error** out_error);

/* As cove_upload_write, through a callback; the data is copied before it returns.
 * Since: 0.1 */
COVE_API cove_status cove_upload_write_start(cove_upload* upload, const void* data, size_t size,
                                             const cove_call_options* options, cove_done_fn done,
                                             void* user_data, cove_drop_fn drop,
                                             cove_error** out_error);

/* Says that nothing follows what was given; the upload ends once that is written. Harmless when
 * repeated, and after its end.
 * Since: 0.1 */
COVE_API void cove_upload_finish(cove_upload* upload);

/* Ends the upload; harmless after its end.
 * Since: 0.1 */
COVE_API void cove_upload_cancel(cove_upload* upload);

/* Frees the handle. An upload that was not finished is cancelled, since nobody can give it the
 * rest; its completion still comes.
 * Since: 0.1 */
COVE_API void cove_upload_free(cove_upload* upload);

enum {
  COVE_CHANGE_CREATED = 1,  /* also each entry of a directory that appeared */
  COVE_CHANGE_MODIFIED = 2, /* content; also a file that Cove wrote, new or in place of one */
  COVE_CHANGE_REMOVED = 3,  /* also moved out of what is watched */
  COVE_CHANGE_MOVED = 4,    /* from the old path to the path, both below the watched directory */
  COVE_CHANGE_ATTRIBUTES = 5,
  COVE_CHANGE_OVERFLOW = 6 /* changes were lost, list again; without a path */
};

/* A change below a watched directory: where to look, not what happened in detail. Two may come as
 * one, and one twice. Immutable. */
typedef struct cove_file_event cove_file_event;

/* Returns a COVE_CHANGE_*; 0 for NULL.
 * Since: 0.1 */
COVE_API int32_t cove_file_event_change(const cove_file_event* event);

/* Returns the path below the watched directory; "" = that directory itself. Bytes.
 * Since: 0.1 */
COVE_API const char* cove_file_event_path(const cove_file_event* event);

/* Returns where it was before COVE_CHANGE_MOVED; else "". Bytes.
 * Since: 0.1 */
COVE_API const char* cove_file_event_old_path(const cove_file_event* event);

/* Returns 1 for a directory, else 0.
 * Since: 0.1 */
COVE_API int32_t cove_file_event_is_directory(const cove_file_event* event);

/* Changes in the order in which they were seen. Immutable. */
typedef struct cove_file_events cove_file_events;

/* Returns how many there are.
 * Since: 0.1 */
COVE_API size_t cove_file_events_count(const cove_file_events* events);

/* Returns change `index`, borrowed; NULL past the last.
 * Since: 0.1 */
COVE_API const cove_file_event* cove_file_events_entry(const cove_file_events* events,
                                                       size_t index);

enum { COVE_WATCH_NOT_RECURSIVE = 1 /* only the directory's own entries */ };

typedef struct cove_watch_options {
  uint32_t struct_size;
  uint32_t flags;           /* COVE_WATCH_*; 0 = also directories below, and that appear later */
  uint32_t max_directories; /* more end it with COVE_QUOTA_EXCEEDED, at most 100,000; 0 = 20,000 */
  uint32_t reserved0;       /* must be 0 */
  uint64_t timeout_ms;      /* then it ends with COVE_TIMEOUT; 0 = none */
  cove_cancel* cancel;      /* ends it with COVE_CANCELLED; NULL = cannot be called off */
} cove_watch_options;

#define COVE_WATCH_OPTIONS_INIT {(uint32_t)sizeof(cove_watch_options), 0, 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_watch_options_init(cove_watch_options* options, size_t size);

/* Takes a change, borrowed for the call. Returns COVE_CONTINUE, or COVE_STOP to end the watch. */
typedef int32_t (*cove_file_event_fn)(void* user_data, const cove_file_event* event);

/* Gives what changes below a directory to `on_event`, until that answers COVE_STOP (COVE_OK), the
 * call ends or the watch fails. While it lasts the workspace does not go idle. Cancellation:
 * nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_watch(cove_workspace* workspace, const char* path,
                                          const cove_watch_options* options,
                                          cove_file_event_fn on_event, void* user_data,
                                          cove_error** out_error);

/* A watch that was started. Any thread. */
typedef struct cove_watch cove_watch;

/* Takes changes, borrowed for the call. */
typedef void (*cove_file_events_fn)(void* user_data, const cove_file_events* events);

typedef struct cove_watch_callbacks {
  uint32_t struct_size;
  uint32_t reserved0;            /* must be 0 */
  cove_file_events_fn on_events; /* required */
  cove_done_fn on_done;          /* required; always with an error, COVE_CANCELLED after a cancel */
  void* user_data;               /* for both */
  cove_drop_fn drop;             /* NULL = nothing to do */
} cove_watch_callbacks;

#define COVE_WATCH_CALLBACKS_INIT \
  {(uint32_t)sizeof(cove_watch_callbacks), 0, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_watch_callbacks_init(cove_watch_callbacks* callbacks, size_t size);

/* Starts a watch and returns at once; everything else comes through the callbacks. The caller frees
 * *out_watch, at any time. `drop` is called exactly once, also on failure; only callbacks with a
 * struct_size of no version are refused without being read.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_watch_start(cove_workspace* workspace, const char* path,
                                                const cove_watch_options* options,
                                                const cove_watch_callbacks* callbacks,
                                                cove_watch** out_watch, cove_error** out_error);

/* Ends the watch; harmless after its end.
 * Since: 0.1 */
COVE_API void cove_watch_cancel(cove_watch* watch);

/* Frees the handle; the watch goes on, and its callbacks still come.
 * Since: 0.1 */
COVE_API void cove_watch_free(cove_watch* watch);

/* ================================= 9. Search ==================================
 *
 * Lines that match a pattern (grep) and names that match a glob (find), below a directory: depth
 * first, in the order of the names' bytes within each directory, the first results before the walk
 * is over. Links are not followed, FIFOs and devices not opened, `.git` is always passed over.
 *
 * Globs are bytes. `*` and `?` stop at "/"; `**` as a whole part of a path stands for any number of
 * directories; [a-z], [!a-z]; {one,two}; a backslash makes the next byte plain. A glob without "/"
 * is held against the last name, one with "/" against the path below the searched directory.
 *
 * Common errors: those of section 8; COVE_INVALID_ARGUMENT - a pattern or glob is wrong, and where.
 */

/* For limit: no limit. */
#define COVE_NO_LIMIT UINT64_MAX

enum {
  COVE_SEARCH_COMPLETE = 1,
  COVE_SEARCH_LIMIT = 2,    /* there may be more: the limit was reached */
  COVE_SEARCH_DEADLINE = 3, /* the call's time was over: what was found by then */
  COVE_SEARCH_CANCELLED = 4 /* the search was called off: what was found by then */
};

/* How a search ended, and what it passed. Immutable. */
typedef struct cove_search_summary cove_search_summary;

/* Returns how it ended, a COVE_SEARCH_*; 0 for NULL.
 * Since: 0.1 */
COVE_API int32_t cove_search_summary_ended(const cove_search_summary* summary);

/* Returns how many matching lines or entries were given.
 * Since: 0.1 */
COVE_API uint64_t cove_search_summary_matches(const cove_search_summary* summary);

/* Returns how many files were searched; of find, how many entries were looked at.
 * Since: 0.1 */
COVE_API uint64_t cove_search_summary_files_searched(const cove_search_summary* summary);

/* Returns how many files had a match.
 * Since: 0.1 */
COVE_API uint64_t cove_search_summary_files_matched(const cove_search_summary* summary);

/* Returns how many files were passed over since they hold a NUL byte.
 * Since: 0.1 */
COVE_API uint64_t cove_search_summary_files_binary(const cove_search_summary* summary);

/* Returns how many files were passed over for cove_grep_options.max_file_bytes.
 * Since: 0.1 */
COVE_API uint64_t cove_search_summary_files_too_large(const cove_search_summary* summary);

/* Returns how many files and directories could not be read.
 * Since: 0.1 */
COVE_API uint64_t cove_search_summary_problem_total(const cove_search_summary* summary);

/* Returns of how many of them more is known: the first 16.
 * Since: 0.1 */
COVE_API size_t cove_search_summary_problem_count(const cove_search_summary* summary);

/* Returns the path of problem `index`, below the searched directory; NULL past the last. Bytes.
 * Since: 0.1 */
COVE_API const char* cove_search_summary_problem_path(const cove_search_summary* summary,
                                                      size_t index);

/* Returns the code of problem `index`; COVE_OK past the last.
 * Since: 0.1 */
COVE_API cove_status cove_search_summary_problem_code(const cove_search_summary* summary,
                                                      size_t index);

/* Returns what was wrong; NULL past the last.
 * Since: 0.1 */
COVE_API const char* cove_search_summary_problem_message(const cove_search_summary* summary,
                                                         size_t index);

/* Frees a summary that a callback was given; never one that a result returned.
 * Since: 0.1 */
COVE_API void cove_search_summary_free(cove_search_summary* summary);

/* A search that was started. Any thread. */
typedef struct cove_search cove_search;

/* The end of a search, after its last results. The callback frees both. */
typedef void (*cove_search_done_fn)(void* user_data, cove_search_summary* summary,
                                    cove_error* error);

/* Lets results come again after COVE_PAUSE; harmless otherwise.
 * Since: 0.1 */
COVE_API void cove_search_resume(cove_search* search);

/* Ends the search; on_done gets a summary with COVE_SEARCH_CANCELLED, or COVE_CANCELLED where it
 * had not begun. Harmless after the end.
 * Since: 0.1 */
COVE_API void cove_search_cancel(cove_search* search);

/* Frees the handle; the search goes on, and its callbacks still come.
 * Since: 0.1 */
COVE_API void cove_search_free(cove_search* search);

/* A matching line, or a line beside one. Immutable; borrowed from its lines. */
typedef struct cove_grep_line cove_grep_line;

/* Returns the path below the searched directory; of a single file its name. Bytes.
 * Since: 0.1 */
COVE_API const char* cove_grep_line_path(const cove_grep_line* line);

/* Returns the line's number, from 1.
 * Since: 0.1 */
COVE_API uint64_t cove_grep_line_number(const cove_grep_line* line);

/* Returns where the first match begins, in bytes from 1; 0 for a context line.
 * Since: 0.1 */
COVE_API uint64_t cove_grep_line_column(const cove_grep_line* line);

/* Returns the line's bytes without its end. A NUL that does not count follows. *out_size may be
 * NULL.
 * Since: 0.1 */
COVE_API const char* cove_grep_line_text(const cove_grep_line* line, size_t* out_size);

/* Returns how many bytes of the line come before the text: above 0 only where it is cut.
 * Since: 0.1 */
COVE_API uint64_t cove_grep_line_text_offset(const cove_grep_line* line);

/* Returns how many matches lie within the text, at most 64.
 * Since: 0.1 */
COVE_API size_t cove_grep_line_span_count(const cove_grep_line* line);

/* Returns where in the text match `index` begins, in bytes; 0 past the last.
 * Since: 0.1 */
COVE_API uint32_t cove_grep_line_span_offset(const cove_grep_line* line, size_t index);

/* Returns how many bytes match `index` has; 0 past the last.
 * Since: 0.1 */
COVE_API uint32_t cove_grep_line_span_length(const cove_grep_line* line, size_t index);

/* Returns 1 for a line that is there for its neighbour's sake, else 0.
 * Since: 0.1 */
COVE_API int32_t cove_grep_line_is_context(const cove_grep_line* line);

/* Returns 1 where the text is a part of the line, with its first match in view; else 0.
 * Since: 0.1 */
COVE_API int32_t cove_grep_line_is_cut(const cove_grep_line* line);

enum {
  COVE_TEXT_BYTES = 1,   /* whatever is not UTF-16 */
  COVE_TEXT_UTF16LE = 2, /* by its byte order mark; text and columns are of its UTF-8 form */
  COVE_TEXT_UTF16BE = 3
};

/* Returns how the file was read, a COVE_TEXT_*; 0 for NULL.
 * Since: 0.1 */
COVE_API int32_t cove_grep_line_encoding(const cove_grep_line* line);

/* Lines in the order in which they were found. Immutable. */
typedef struct cove_grep_lines cove_grep_lines;

/* Returns how many there are.
 * Since: 0.1 */
COVE_API size_t cove_grep_lines_count(const cove_grep_lines* lines);

/* Returns line `index`, borrowed; NULL past the last.
 * Since: 0.1 */
COVE_API const cove_grep_line* cove_grep_lines_entry(const cove_grep_lines* lines, size_t index);

/* What a grep found. Immutable. */
typedef struct cove_grep_result cove_grep_result;

/* Returns its lines, borrowed.
 * Since: 0.1 */
COVE_API const cove_grep_lines* cove_grep_result_lines(const cove_grep_result* result);

/* Returns how it ended, borrowed.
 * Since: 0.1 */
COVE_API const cove_search_summary* cove_grep_result_summary(const cove_grep_result* result);

/* Frees a result with its lines and its summary.
 * Since: 0.1 */
COVE_API void cove_grep_result_free(cove_grep_result* result);

enum {
  COVE_GREP_LITERAL = 1,         /* the pattern is plain bytes */
  COVE_GREP_IGNORE_CASE = 2,     /* of ASCII letters in an ASCII literal, else as Unicode folds */
  COVE_GREP_WHOLE_WORD = 4,      /* no letter, digit or "_" right before or after a match */
  COVE_GREP_HIDDEN = 8,          /* also what begins with "." */
  COVE_GREP_NO_IGNORE_FILES = 16 /* .gitignore, .ignore and .coveignore hide nothing */
};

typedef struct cove_grep_options {
  uint32_t struct_size;
  uint32_t flags;             /* COVE_GREP_*; 0 = none */
  uint32_t context_before;    /* lines before each match, at most 1,000 */
  uint32_t context_after;     /* lines after each match, at most 1,000 */
  const char* const* include; /* globs: only files that match one; none = all files */
  size_t include_count;       /* entries of include */
  const char* const* exclude; /* globs of files and directories to pass over */
  size_t exclude_count;       /* entries of exclude */
  uint64_t max_file_bytes;    /* larger files are passed over and counted; 0 = any */
  uint64_t limit;             /* matching lines; 0 = 100, COVE_NO_LIMIT only of the start form */
  uint32_t max_line_bytes;    /* of a longer line a part is given, 16 to 65,536; 0 = 500 */
  uint32_t reserved0;         /* must be 0 */
  uint64_t timeout_ms;        /* then the search ends with what it has; 0 = none */
  cove_cancel* cancel;        /* the same; NULL = cannot be called off */
} cove_grep_options;

#define COVE_GREP_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_grep_options), 0, 0, 0, NULL, 0, NULL, 0, 0, 0, 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_grep_options_init(cove_grep_options* options, size_t size);

/* Searches the files below a directory, or one file, for lines that match a pattern (RE2's syntax)
 * and collects at most 10,000 (64 MiB). The caller frees *out_result. Cancellation and time limits:
 * what was found by then, and the summary says so. Errors: COVE_TOO_LARGE - ask for fewer, or use
 * the start form; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_grep(cove_workspace* workspace, const char* path,
                                         const char* pattern, const cove_grep_options* options,
                                         cove_grep_result** out_result, cove_error** out_error);

/* Takes the next lines, borrowed for the call. Returns COVE_CONTINUE, or COVE_PAUSE: then nothing
 * more comes, and the search waits, until cove_search_resume. */
typedef int32_t (*cove_grep_lines_fn)(void* user_data, const cove_grep_lines* lines);

typedef struct cove_grep_callbacks {
  uint32_t struct_size;
  uint32_t reserved0;          /* must be 0 */
  cove_grep_lines_fn on_lines; /* NULL = they are only counted */
  cove_search_done_fn on_done; /* required */
  void* user_data;             /* for both */
  cove_drop_fn drop;           /* NULL = nothing to do */
} cove_grep_callbacks;

#define COVE_GREP_CALLBACKS_INIT {(uint32_t)sizeof(cove_grep_callbacks), 0, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_grep_callbacks_init(cove_grep_callbacks* callbacks, size_t size);

/* Starts such a search and returns at once; lines come some at a time, as they are found, and are
 * held nowhere. The caller frees *out_search, at any time. `drop` is called exactly once, also on
 * failure; only callbacks with a struct_size of no version are refused without being read.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_grep_start(cove_workspace* workspace, const char* path,
                                               const char* pattern,
                                               const cove_grep_options* options,
                                               const cove_grep_callbacks* callbacks,
                                               cove_search** out_search, cove_error** out_error);

/* Something found by its name. Immutable; borrowed from its entries. */
typedef struct cove_find_entry cove_find_entry;

/* Returns the path below the searched directory. Bytes.
 * Since: 0.1 */
COVE_API const char* cove_find_entry_path(const cove_find_entry* entry);

/* Returns a COVE_FILE_*; 0 for NULL.
 * Since: 0.1 */
COVE_API int32_t cove_find_entry_type(const cove_find_entry* entry);

/* Returns what else is known, borrowed, its path ""; NULL without COVE_FIND_FACTS.
 * Since: 0.1 */
COVE_API const cove_file_info* cove_find_entry_facts(const cove_find_entry* entry);

/* Entries in the order in which they were found. Immutable. */
typedef struct cove_find_entries cove_find_entries;

/* Returns how many there are.
 * Since: 0.1 */
COVE_API size_t cove_find_entries_count(const cove_find_entries* entries);

/* Returns entry `index`, borrowed; NULL past the last.
 * Since: 0.1 */
COVE_API const cove_find_entry* cove_find_entries_entry(const cove_find_entries* entries,
                                                        size_t index);

/* What a find found. Immutable. */
typedef struct cove_find_result cove_find_result;

/* Returns its entries, borrowed.
 * Since: 0.1 */
COVE_API const cove_find_entries* cove_find_result_entries(const cove_find_result* result);

/* Returns how it ended, borrowed.
 * Since: 0.1 */
COVE_API const cove_search_summary* cove_find_result_summary(const cove_find_result* result);

/* Frees a result with its entries and its summary.
 * Since: 0.1 */
COVE_API void cove_find_result_free(cove_find_result* result);

enum {
  COVE_FIND_HIDDEN = 1,          /* also what begins with "." */
  COVE_FIND_NO_IGNORE_FILES = 2, /* .gitignore, .ignore and .coveignore hide nothing */
  COVE_FIND_NEWEST_FIRST = 4,    /* the `limit` newest of all, newest first, after the walk */
  COVE_FIND_FACTS = 8            /* size, mode and times too; they cost a system call each */
};

typedef struct cove_find_options {
  uint32_t struct_size;
  uint32_t flags;             /* COVE_FIND_*; 0 = none */
  const char* glob;           /* NULL or "" = everything */
  uint32_t type;              /* a COVE_FILE_*; 0 = of every type */
  uint32_t max_depth;         /* 1 = the directory's own entries; 0 = any */
  const char* const* exclude; /* globs of files and directories to pass over */
  size_t exclude_count;       /* entries of exclude */
  uint64_t min_bytes;         /* only files of so many bytes and more; 0 = of any size */
  uint64_t max_bytes;         /* only files of so many and less; 0 = any, COVE_BYTES_NONE = empty */
  int64_t modified_from_ns;   /* last changed then or later, nanoseconds since 1970; 0 = any */
  int64_t modified_until_ns;  /* last changed before; 0 = any */
  uint64_t limit;             /* entries; 0 = 1,000, COVE_NO_LIMIT only of the start form */
  uint64_t timeout_ms;        /* then the search ends with what it has; 0 = none */
  cove_cancel* cancel;        /* the same; NULL = cannot be called off */
} cove_find_options;

#define COVE_FIND_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_find_options), 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_find_options_init(cove_find_options* options, size_t size);

/* Looks for names below a directory and collects at most 10,000. The caller frees *out_result.
 * Cancellation and errors: as cove_workspace_grep.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_find(cove_workspace* workspace, const char* path,
                                         const cove_find_options* options,
                                         cove_find_result** out_result, cove_error** out_error);

/* Takes the next entries; as cove_grep_lines_fn. */
typedef int32_t (*cove_find_entries_fn)(void* user_data, const cove_find_entries* entries);

typedef struct cove_find_callbacks {
  uint32_t struct_size;
  uint32_t reserved0;              /* must be 0 */
  cove_find_entries_fn on_entries; /* NULL = they are only counted */
  cove_search_done_fn on_done;     /* required */
  void* user_data;                 /* for both */
  cove_drop_fn drop;               /* NULL = nothing to do */
} cove_find_callbacks;

#define COVE_FIND_CALLBACKS_INIT {(uint32_t)sizeof(cove_find_callbacks), 0, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_find_callbacks_init(cove_find_callbacks* callbacks, size_t size);

/* Starts such a search, as cove_workspace_grep_start. COVE_FIND_NEWEST_FIRST needs a limit.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_find_start(cove_workspace* workspace, const char* path,
                                               const cove_find_options* options,
                                               const cove_find_callbacks* callbacks,
                                               cove_search** out_search, cove_error** out_error);

/* ================================= 10. Tools ==================================
 *
 * What a language model calls to work in a workspace; docs/tools.md has the tools, their parameters
 * and the members of their data. */

enum {
  COVE_TOOLS_OPENAI = 1, /* [{"type": "function", "function": {"name", "description", ...}}] */
  COVE_TOOLS_MCP = 2,    /* [{"name", "title", "description", "inputSchema", "annotations"}] */
  COVE_TOOLS_PLAIN = 3   /* [{"name", "description", "parameters"}] */
};

/* Gives the tools as a JSON array in a COVE_TOOLS_* form, always in the same order; arguments are
 * checked against the very schemas in it. Needs no open Cove. Errors: COVE_INVALID_ARGUMENT - no
 * such form.
 * Since: 0.1 */
COVE_API cove_status cove_tools_describe_json(int32_t format, cove_buffer** out_json,
                                              cove_error** out_error);

/* What a tool answered. Immutable. */
typedef struct cove_tool_result cove_tool_result;

/* Returns what the model is to see: UTF-8, at most 2,000 lines or 50 KiB of content, with notices
 * in square brackets that say what is missing. A NUL that does not count follows. *out_size may be
 * NULL.
 * Since: 0.1 */
COVE_API const char* cove_tool_result_text(const cove_tool_result* result, size_t* out_size);

/* Returns what the host may want to know, a JSON object of the tool's own form, with "error" where
 * there is one and "notes" where arguments were not taken as they stood; "" for NULL.
 * Since: 0.1 */
COVE_API const char* cove_tool_result_data_json(const cove_tool_result* result);

/* Returns 1 where the tool could not do what was asked, which the text tells the model; else 0. A
 * command that ran to its end is no error, whatever its exit code.
 * Since: 0.1 */
COVE_API int32_t cove_tool_result_is_error(const cove_tool_result* result);

/* Frees a result.
 * Since: 0.1 */
COVE_API void cove_tool_result_free(cove_tool_result* result);

/* Completion that gives a tool's answer. The callback frees both. */
typedef void (*cove_tool_result_fn)(void* user_data, cove_tool_result* result, cove_error* error);

/* Files that a tool wants links to, and the way to give them. Any thread; it may outlive the call
 * and the Cove. */
typedef struct cove_link_request cove_link_request;

/* Returns how many files there are, at least 1.
 * Since: 0.1 */
COVE_API size_t cove_link_request_count(const cove_link_request* request);

/* Returns file `index`, borrowed, its path below /workspace ("sessions/c1/out/report.html"); NULL
 * past the last. It was there a moment ago.
 * Since: 0.1 */
COVE_API const cove_file_info* cove_link_request_file(const cove_link_request* request,
                                                      size_t index);

/* Returns what file `index` is, told from its first bytes: "image/png", "text/plain;
 * charset=utf-8", ...; NULL past the last.
 * Since: 0.1 */
COVE_API const char* cove_link_request_content_type(const cove_link_request* request, size_t index);

/* Returns 1 where nobody waits for the answer any more: the call was cancelled, its time is over,
 * or the Cove closes; else 0.
 * Since: 0.1 */
COVE_API int32_t cove_link_request_is_over(const cove_link_request* request);

/* Gives the links, one for each file and in their order, that whoever the model talks to can open.
 * Once: then, and after a refusal, COVE_FAILED_PRECONDITION. Where nobody waits any more it is
 * ignored. Errors: COVE_INVALID_ARGUMENT - another number of links than of files, or one is NULL;
 * the request can still be answered.
 * Since: 0.1 */
COVE_API cove_status cove_link_request_answer(cove_link_request* request, const char* const* urls,
                                              size_t url_count, cove_error** out_error);

/* Says that there are no links: the tool's answer is an error of this code (one of the codes of
 * section 1, not COVE_OK) and message, which the model sees. Once, as cove_link_request_answer.
 * Since: 0.1 */
COVE_API cove_status cove_link_request_refuse(cove_link_request* request, cove_status code,
                                              const char* message, cove_error** out_error);

/* Frees a request; one that was not answered is refused with COVE_UNAVAILABLE.
 * Since: 0.1 */
COVE_API void cove_link_request_free(cove_link_request* request);

/* Wants links. The request belongs to the callback, which must not block: it may answer later and
 * from any thread, and frees it. Until then the tool waits, as long as its call lasts. */
typedef void (*cove_link_fn)(void* user_data, cove_link_request* request);

typedef struct cove_tool_options {
  uint32_t struct_size;
  uint32_t reserved0;      /* must be 0 */
  cove_link_fn make_links; /* of sandbox_get_file_url; NULL = the tool says that there are none */
  void* link_user_data;    /* for make_links */
  cove_drop_fn link_drop;  /* called once with link_user_data, when the call needs it no more */
  uint64_t timeout_ms;     /* of the whole call; 0 = none */
  cove_cancel* cancel;     /* NULL = cannot be called off */
} cove_tool_options;

#define COVE_TOOL_OPTIONS_INIT {(uint32_t)sizeof(cove_tool_options), 0, NULL, NULL, NULL, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_tool_options_init(cove_tool_options* options, size_t size);

/* Calls a tool. `arguments_json` is what the model gave, as it stands; what models commonly get
 * wrong is taken as it was meant, and the answer says so.
 *
 * What the model can do something about is a result with cove_tool_result_is_error, also an unknown
 * name or wrong arguments. The caller frees *out_result. link_drop is called exactly once, also on
 * failure; only options with a struct_size of no version are refused without being read.
 * Cancellation and time limits: a command or a search gives what it had by then, else the call is
 * COVE_CANCELLED or COVE_TIMEOUT; object still usable.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_tool_call(cove_workspace* workspace, const char* name,
                                              const char* arguments_json,
                                              const cove_tool_options* options,
                                              cove_tool_result** out_result,
                                              cove_error** out_error);

/* As cove_workspace_tool_call, through a callback. link_drop may come before or after it.
 * Since: 0.1 */
COVE_API cove_status cove_workspace_tool_call_start(cove_workspace* workspace, const char* name,
                                                    const char* arguments_json,
                                                    const cove_tool_options* options,
                                                    cove_tool_result_fn done, void* user_data,
                                                    cove_drop_fn drop, cove_error** out_error);

/* ========================== 11. Lifecycle and reports =========================
 *
 * Each names a sandbox by its id: cove_workspace_sandbox_id, or cove_sandbox_id_of.
 * Common errors: COVE_NOT_FOUND - no such sandbox; COVE_UNAVAILABLE; COVE_INTEGRITY. */

enum {
  COVE_DRAIN_REFUSE = 0, /* COVE_FAILED_PRECONDITION while it is in use */
  COVE_DRAIN_CANCEL = 1  /* ends what runs */
};

typedef struct cove_stop_options {
  uint32_t struct_size;
  uint32_t drain;      /* COVE_DRAIN_*: what to do with use that is going on */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
  uint64_t wait_ms;    /* how long what runs may finish before `drain` decides, while acquires wait;
                          at most an hour */
} cove_stop_options;

#define COVE_STOP_OPTIONS_INIT {(uint32_t)sizeof(cove_stop_options), 0, 0, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_stop_options_init(cove_stop_options* options, size_t size);

/* Ends the sandbox's processes and keeps its files; success where it does not run. The next acquire
 * starts it again. Cancellation: object still usable; the stop is finished or taken back later.
 * Errors: COVE_FAILED_PRECONDITION - in use, or being archived; the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_stop(cove* cove, const char* sandbox_id, const cove_stop_options* options,
                               cove_error** out_error);

/* As cove_stop, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_stop_start(cove* cove, const char* sandbox_id,
                                     const cove_stop_options* options, cove_done_fn done,
                                     void* user_data, cove_drop_fn drop, cove_error** out_error);

/* Stops the sandbox, moves its workspace into the object store, checks it there, and removes it
 * from this machine; success where it is archived. The next acquire brings it back.
 * Cancellation: object still usable, nothing is lost. Errors: as cove_stop; COVE_QUOTA_EXCEEDED -
 * no room in the object store, the workspace is as it was.
 * Since: 0.1 */
COVE_API cove_status cove_archive(cove* cove, const char* sandbox_id,
                                  const cove_stop_options* options, cove_error** out_error);

/* As cove_archive, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_archive_start(cove* cove, const char* sandbox_id,
                                        const cove_stop_options* options, cove_done_fn done,
                                        void* user_data, cove_drop_fn drop, cove_error** out_error);

typedef struct cove_relocate_options {
  uint32_t struct_size;
  uint32_t drain;       /* COVE_DRAIN_*: what to do with use that is going on */
  const char* provider; /* the name of one that this process has; not NULL */
  uint64_t timeout_ms;  /* of the whole call; 0 = none */
  cove_cancel* cancel;  /* NULL = cannot be called off */
  uint64_t wait_ms;     /* as of cove_stop_options */
} cove_relocate_options;

#define COVE_RELOCATE_OPTIONS_INIT {(uint32_t)sizeof(cove_relocate_options), 0, NULL, 0, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_relocate_options_init(cove_relocate_options* options, size_t size);

/* Moves the sandbox to another provider of the configuration, so to another image, where it then
 * runs: stops it, archives it, deletes it there and restores it here; success where it is there
 * already. HOME and what else an archive does not keep stay behind. Before the upload a failure
 * leaves it where it was; from then on the next acquire gets it in the new place, and the sweep
 * goes on with what failed. Cancellation: object still usable, what was begun goes on. Errors: as
 * cove_archive; COVE_INVALID_ARGUMENT - this process has no such provider; COVE_QUOTA_EXCEEDED -
 * also where it may not run; those of the new provider.
 * Since: 0.1 */
COVE_API cove_status cove_relocate(cove* cove, const char* sandbox_id,
                                   const cove_relocate_options* options, cove_error** out_error);

/* As cove_relocate, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_relocate_start(cove* cove, const char* sandbox_id,
                                         const cove_relocate_options* options, cove_done_fn done,
                                         void* user_data, cove_drop_fn drop,
                                         cove_error** out_error);

/* Deletes the sandbox with its files and its archive, for ever, also while it is in use; success
 * where it is gone. Cancellation: it is deleted later. Errors: the common ones.
 * Since: 0.1 */
COVE_API cove_status cove_destroy(cove* cove, const char* sandbox_id,
                                  const cove_call_options* options, cove_error** out_error);

/* As cove_destroy, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_destroy_start(cove* cove, const char* sandbox_id,
                                        const cove_call_options* options, cove_done_fn done,
                                        void* user_data, cove_drop_fn drop, cove_error** out_error);

typedef struct cove_destroy_source_options {
  uint32_t struct_size;
  uint32_t reserved0;  /* must be 0 */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
  cove_report_fn
      on_progress;   /* after each: {"sandbox_id", "destroyed", "failed"}; must not block */
  void* user_data;   /* for on_progress */
  cove_drop_fn drop; /* called once with user_data, when the call needs it no more */
} cove_destroy_source_options;

#define COVE_DESTROY_SOURCE_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_destroy_source_options), 0, 0, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_destroy_source_options_init(cove_destroy_source_options* options, size_t size);

/* Deletes every sandbox of a source ("source_type/source_id") for ever and forbids new ones; call
 * it again where it failed or was cut off: it goes on. Gives the JSON object {"destroyed": how
 * many}. options->drop is called exactly once, also on failure; only options with a struct_size of
 * no version are refused without being read. Cancellation: the source stays deleted. Errors: the
 * first of those that could not be deleted (COVE_UNAVAILABLE - one is on another node); the common
 * ones. Since: 0.1 */
COVE_API cove_status cove_destroy_source_json(cove* cove, const char* source,
                                              const cove_destroy_source_options* options,
                                              cove_buffer** out_json, cove_error** out_error);

/* As cove_destroy_source_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_destroy_source_json_start(cove* cove, const char* source,
                                                    const cove_destroy_source_options* options,
                                                    cove_buffer_fn done, void* user_data,
                                                    cove_drop_fn drop, cove_error** out_error);

/* Allows a deleted source to have sandboxes again; success where it was not deleted. Cancellation:
 * object still usable.
 * Since: 0.1 */
COVE_API cove_status cove_revive_source(cove* cove, const char* source,
                                        const cove_call_options* options, cove_error** out_error);

/* As cove_revive_source, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_revive_source_start(cove* cove, const char* source,
                                              const cove_call_options* options, cove_done_fn done,
                                              void* user_data, cove_drop_fn drop,
                                              cove_error** out_error);

enum {
  COVE_ARCHIVE_WHEN_IDLE = 0, /* after archive_after_ms */
  COVE_ARCHIVE_AT_ONCE = 1,   /* in the sweep that stopped it, or that finds it stopped */
  COVE_ARCHIVE_NEVER = 2      /* only where it is asked for */
};

/* For stop_after_ms and archive_after_ms: no time at all (0 = the configuration's). */
#define COVE_NO_TIME UINT64_MAX

/* What a source wants instead of the configuration's times. */
typedef struct cove_idle_policy {
  uint32_t struct_size;
  uint32_t archive;          /* COVE_ARCHIVE_*; 0 = when idle */
  uint64_t stop_after_ms;    /* idle while it runs; 0 = as configured, COVE_NO_TIME */
  uint64_t archive_after_ms; /* idle while it is stopped; 0 = as configured, COVE_NO_TIME */
} cove_idle_policy;

#define COVE_IDLE_POLICY_INIT {(uint32_t)sizeof(cove_idle_policy), 0, 0, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_idle_policy_init(cove_idle_policy* policy, size_t size);

/* Sets when the sweep stops and archives the sandboxes of a source ("source_type/source_id"); NULL
 * = as the configuration says. Cancellation: the old policy, or the new one.
 * Since: 0.1 */
COVE_API cove_status cove_set_idle_policy(cove* cove, const char* source,
                                          const cove_idle_policy* policy,
                                          const cove_call_options* options, cove_error** out_error);

/* As cove_set_idle_policy, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_set_idle_policy_start(cove* cove, const char* source,
                                                const cove_idle_policy* policy,
                                                const cove_call_options* options, cove_done_fn done,
                                                void* user_data, cove_drop_fn drop,
                                                cove_error** out_error);

/* Gives the policy of a source as a JSON object: "stop_after_ms" and "archive_after_ms", null = as
 * configured, and "archive": "when_idle", "at_once" or "never". Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_idle_policy_json(cove* cove, const char* source,
                                           const cove_call_options* options, cove_buffer** out_json,
                                           cove_error** out_error);

/* As cove_idle_policy_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_idle_policy_json_start(cove* cove, const char* source,
                                                 const cove_call_options* options,
                                                 cove_buffer_fn done, void* user_data,
                                                 cove_drop_fn drop, cove_error** out_error);

/* Makes the records again after the metadata was lost: archived with the newest snapshot, or
 * stopped where this node has the sandbox's volume. Overwrites nothing; may be repeated.
 * `deployment` = which one, NULL or "" = the only one in the object store. Gives a JSON object:
 * "deployment", the counts "archived", "stopped", "kept", "destroyed" and the list "problems".
 * Cancellation: object still usable. Errors: COVE_FAILED_PRECONDITION - the store has records of
 * another deployment; COVE_NOT_FOUND - there are no snapshots; COVE_INVALID_ARGUMENT - of several
 * deployments: name one. Since: 0.1 */
COVE_API cove_status cove_recover_json(cove* cove, const char* deployment,
                                       const cove_call_options* options, cove_buffer** out_json,
                                       cove_error** out_error);

/* As cove_recover_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_recover_json_start(cove* cove, const char* deployment,
                                             const cove_call_options* options, cove_buffer_fn done,
                                             void* user_data, cove_drop_fn drop,
                                             cove_error** out_error);

/* Gives what there is, and what this process did since it opened the Cove, in Prometheus's text
 * form. Reads every record. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_metrics_text(cove* cove, const cove_call_options* options,
                                       cove_buffer** out_text, cove_error** out_error);

/* As cove_metrics_text, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_metrics_text_start(cove* cove, const cove_call_options* options,
                                             cove_buffer_fn done, void* user_data,
                                             cove_drop_fn drop, cove_error** out_error);

enum { COVE_SWEEP_DRY_RUN = 1 /* decides, and does nothing */ };

typedef struct cove_sweep_options {
  uint32_t struct_size;
  uint32_t flags;             /* COVE_SWEEP_*; 0 = none */
  uint64_t timeout_ms;        /* of the whole call; 0 = none */
  cove_cancel* cancel;        /* NULL = cannot be called off */
  uint32_t at_once;           /* sandboxes worked on at a time, 1 to 64; 0 = 4 */
  uint32_t reserved0;         /* must be 0 */
  cove_report_fn on_progress; /* after each that something was done about; must not block */
  void* user_data;            /* for on_progress */
  cove_drop_fn drop;          /* called once with user_data, when the call needs it no more */
} cove_sweep_options;

#define COVE_SWEEP_OPTIONS_INIT \
  {(uint32_t)sizeof(cove_sweep_options), 0, 0, NULL, 0, 0, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_sweep_options_init(cove_sweep_options* options, size_t size);

/* Stops and archives what is idle, finishes what a dead process left, and removes garbage, once:
 * oldest first, no source holding up others. Safe on many hosts at once. Gives a JSON object: the
 * counts "examined", "stopped", "archived", "recovered", "lost", "deleted", "skipped" and "failed",
 * the list "errors" (at most 1,000), and of a dry run the list "planned" (the same), each with
 * "sandbox_id" and "action" ("stop", "archive", "recover"). on_progress gets "sandbox_id",
 * "action", "error" ("" = it succeeded) and the counts so far. options->drop is called exactly
 * once, also on failure; only options with a struct_size of no version are refused without being
 * read. Cancellation: object still usable. Since: 0.1 */
COVE_API cove_status cove_sweep_json(cove* cove, const cove_sweep_options* options,
                                     cove_buffer** out_json, cove_error** out_error);

/* As cove_sweep_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_sweep_json_start(cove* cove, const cove_sweep_options* options,
                                           cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                           cove_error** out_error);

/* Gives what is known of a sandbox as a JSON object; docs/c-api.md has its fields ("sandbox_id",
 * "state", "operation", ...). New fields may come. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_status_json(cove* cove, const char* sandbox_id,
                                      const cove_call_options* options, cove_buffer** out_json,
                                      cove_error** out_error);

/* As cove_status_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_status_json_start(cove* cove, const char* sandbox_id,
                                            const cove_call_options* options, cove_buffer_fn done,
                                            void* user_data, cove_drop_fn drop,
                                            cove_error** out_error);

typedef struct cove_list_options {
  uint32_t struct_size;
  uint32_t limit;      /* 1 to 1,000 sandboxes; 0 = 100 */
  const char* source;  /* "source_type/source_id"; NULL or "" = of all */
  const char* after;   /* the last page's "next"; NULL or "" = from the start */
  uint64_t timeout_ms; /* of the whole call; 0 = none */
  cove_cancel* cancel; /* NULL = cannot be called off */
} cove_list_options;

#define COVE_LIST_OPTIONS_INIT {(uint32_t)sizeof(cove_list_options), 0, NULL, NULL, 0, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_list_options_init(cove_list_options* options, size_t size);

/* Gives a page of sandboxes, by id, as a JSON object: "sandboxes", each as cove_status_json, and
 * "next", "" on the last page. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_list_json(cove* cove, const cove_list_options* options,
                                    cove_buffer** out_json, cove_error** out_error);

/* As cove_list_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_list_json_start(cove* cove, const cove_list_options* options,
                                          cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                          cove_error** out_error);

/* Gives what exists on this machine and no record names, as a JSON object: the lists "volumes" and
 * "instances", each with "deployment", "sandbox_id", "generation", "provider" (at which it is) and,
 * of an instance, "epoch"; and the same of other deployments, "foreign_volumes" and
 * "foreign_instances". Nothing is removed. Cancellation: nothing happened.
 * Since: 0.1 */
COVE_API cove_status cove_orphans_json(cove* cove, const cove_call_options* options,
                                       cove_buffer** out_json, cove_error** out_error);

/* As cove_orphans_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_orphans_json_start(cove* cove, const cove_call_options* options,
                                             cove_buffer_fn done, void* user_data,
                                             cove_drop_fn drop, cove_error** out_error);

/* Says what this machine can isolate and what is missing, as a JSON object: the list "findings",
 * each with "level" ("good", "limited" or "broken"), "subject", "detail" and "remedy".
 * Since: 0.1 */
COVE_API cove_status cove_doctor_json(cove* cove, const cove_call_options* options,
                                      cove_buffer** out_json, cove_error** out_error);

/* As cove_doctor_json, through a callback.
 * Since: 0.1 */
COVE_API cove_status cove_doctor_json_start(cove* cove, const cove_call_options* options,
                                            cove_buffer_fn done, void* user_data, cove_drop_fn drop,
                                            cove_error** out_error);

/* ========================= 12. Bringing your own parts ========================
 *
 * A host may bring its clock, its metadata store, its object store and its provider, each as a
 * struct of functions ("slots") that cove_open or cove_open_start is given.
 *
 * A slot is called with the struct's `self`. What it is given but for `done` and `content` is
 * borrowed for that call: what is needed later is copied. It answers through `done`, once, at once
 * or later, from any thread, and frees it once; until then the work of Cove that asked waits, as
 * long as its own call lasts, and no longer. The first answer counts: a second one is
 * COVE_FAILED_PRECONDITION and is logged, one that nobody waits for any more is ignored, and one
 * that does not belong to the slot, or makes no sense, is an error of the call that asked
 * (COVE_INTERNAL). An answer takes what it is given by copy, but for descriptors and structs with a
 * function that ends them: these are Cove's from then on, also where the answer is refused or
 * ignored.
 *
 * Slots are called on Cove's thread, several while earlier ones are unanswered, and must not block;
 * with COVE_PART_BLOCKING on threads of their own, at most `threads` at once, where they may. The
 * next question may come before a slot that has answered returns. They
 * must not throw or longjmp, and not call the Cove that they are a part of, but for the functions
 * of this section. `destroy`, where not NULL, is called with `self` exactly once: after the last
 * slot returned, when the Cove is closed, or when the open fails. In a child of fork answers are
 * COVE_FAILED_PRECONDITION. Only a struct with a struct_size of no version is refused without being
 * read. */

enum { COVE_PART_BLOCKING = 1 /* slots may take their time: they have threads of their own */ };

/* A question to a part of the host. Any thread; freed once by who answers it. */
typedef struct cove_done cove_done;

/* Returns 1 where nobody waits for the answer any more: it was given, the call that asked has
 * ended, or the Cove closes; else 0.
 * Since: 0.1 */
COVE_API int32_t cove_done_is_over(const cove_done* done);

/* Returns how long the answer is waited for, in milliseconds; 0 = no more, -1 = without a limit.
 * Since: 0.1 */
COVE_API int64_t cove_done_remaining_ms(const cove_done* done);

/* Answers that it is done, where a slot says nothing else. Errors, as of every answer:
 * COVE_FAILED_PRECONDITION - it was answered before; COVE_INVALID_ARGUMENT - it is no answer to
 * this slot, or wrong, and so an error for who asked. Since: 0.1 */
COVE_API cove_status cove_done_ok(cove_done* done, cove_error** out_error);

/* Answers that it cannot be: by one of the codes of section 1 (not COVE_OK), and a sentence.
 * `retry_after_ms`: when it may be tried again; -1 = no time is known.
 * Since: 0.1 */
COVE_API cove_status cove_done_fail(cove_done* done, cove_status code, const char* message,
                                    int64_t retry_after_ms, cove_error** out_error);

/* Lets go of a question; one that was not answered fails with COVE_UNAVAILABLE.
 * Since: 0.1 */
COVE_API void cove_done_free(cove_done* done);

/* Reads a clock; any thread, never blocks. */
typedef int64_t (*cove_clock_fn)(void* self);

/* The clock that a Cove goes by instead of the machine's: for its time limits, pauses and leases,
 * and for the time of the stores that come with Cove. Commands keep the machine's own. For tests:
 * no other process uses the stores meanwhile. It may jump ahead, and must not stand still, since
 * Cove's own pauses would not end then. */
typedef struct cove_clock {
  uint32_t struct_size;
  uint32_t reserved0;    /* must be 0 */
  void* self;            /* for the slots */
  cove_drop_fn destroy;  /* see above */
  cove_clock_fn now_ns;  /* required: nanoseconds since the machine started (CLOCK_BOOTTIME); what
                            goes back is taken as standing */
  cove_clock_fn wall_ms; /* required: milliseconds since 1970 */
} cove_clock;

#define COVE_CLOCK_INIT {(uint32_t)sizeof(cove_clock), 0, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_clock_init(cove_clock* clock, size_t size);

/* Says that the clock jumped ahead: what waited for a time that has come goes on now. Harmless
 * otherwise, and for a Cove that is closed. From any thread.
 * Since: 0.1 */
COVE_API void cove_clock_moved(cove* cove);

/* The kinds of documents; a store may keep the numbers. */
enum {
  COVE_DOCUMENT_DEPLOYMENT = 1,
  COVE_DOCUMENT_SANDBOX = 2,
  COVE_DOCUMENT_SOURCE = 3,
  COVE_DOCUMENT_LEASE = 4,
  COVE_DOCUMENT_QUOTA = 5,
  COVE_DOCUMENT_TOMBSTONE = 6
};

/* Of `times`: which of the two times there are. */
enum { COVE_TIME_ACTIVE = 1, COVE_TIME_HEARTBEAT = 2 };

/* A document: text, and the few values that it is found by. The elements of an array have one
 * struct_size. */
typedef struct cove_document {
  uint32_t struct_size;
  uint32_t kind;        /* a COVE_DOCUMENT_* */
  const char* name;     /* with `kind` the document's id: 1 to 512 bytes, compared as bytes */
  uint64_t version;     /* only grows, never used again; of what is to be written: ignored */
  const void* body;     /* at most 1 MiB; a store does not look inside */
  size_t body_size;     /* bytes of body */
  const char* state;    /* NULL or "" = none, which no filter matches; also of the next two */
  const char* source;   /* "source_type/source_id" */
  const char* node;     /* the node's name */
  int64_t active_at_ms; /* since 1970 by the store's time; with COVE_TIME_ACTIVE */
  int64_t heartbeat_ms; /* the same; with COVE_TIME_HEARTBEAT */
  uint32_t times;       /* COVE_TIME_*: which of the two it has */
  uint32_t reserved0;   /* must be 0 */
} cove_document;

#define COVE_DOCUMENT_INIT \
  {(uint32_t)sizeof(cove_document), 0, NULL, 0, NULL, 0, NULL, NULL, NULL, 0, 0, 0, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_document_init(cove_document* document, size_t size);

enum {
  COVE_ORDER_NAME = 0,     /* by the bytes of the name */
  COVE_ORDER_ACTIVE = 1,   /* by active_at_ms, then name; without documents that have none */
  COVE_ORDER_HEARTBEAT = 2 /* by heartbeat_ms, then name; the same */
};

/* Which documents are wanted: those of a kind that match every filter given, in an order, behind a
 * place in that order. Made by Cove, of its struct_size. */
typedef struct cove_document_query {
  uint32_t struct_size;
  uint32_t kind;               /* a COVE_DOCUMENT_* */
  uint32_t order;              /* a COVE_ORDER_* */
  uint32_t limit;              /* 1 to 1001 documents at most */
  const char* state;           /* equal to it; NULL = any; "" matches nothing */
  const char* source;          /* the same */
  const char* node;            /* the same */
  int64_t active_before_ms;    /* with COVE_TIME_ACTIVE: active_at_ms is less */
  int64_t heartbeat_before_ms; /* with COVE_TIME_HEARTBEAT: heartbeat_ms is less */
  uint32_t times;              /* COVE_TIME_*: which of the two filters hold */
  uint32_t reserved0;          /* 0 */
  const char* after_name;      /* only documents behind this name; NULL = from the start */
  int64_t after_ms;            /* of an order by a time: behind (after_ms, after_name) */
} cove_document_query;

enum {
  COVE_DURABILITY_RELAXED = 0, /* lasts over the end of any process; a crash of the machine may lose
                                  it */
  COVE_DURABILITY_DURABLE = 1  /* lasts over a crash of the machine when it is answered */
};

/* Adds a document that is not there: cove_done_version. COVE_ALREADY_EXISTS: it is, and was not
 * changed. `durability` is a COVE_DURABILITY_*. */
typedef void (*cove_insert_document_fn)(void* self, const cove_document* document,
                                        int32_t durability, cove_done* done);

/* Reads a document: cove_done_document, with NULL where it is absent. */
typedef void (*cove_find_document_fn)(void* self, uint32_t kind, const char* name, cove_done* done);

/* Replaces a document if its version is still `expected`: cove_done_version, with a greater one.
 * COVE_CONFLICT: the version differs, or it is gone. */
typedef void (*cove_swap_document_fn)(void* self, const cove_document* next, uint64_t expected,
                                      int32_t durability, cove_done* done);

/* Removes a document if its version is still `expected`, durably: cove_done_ok. COVE_CONFLICT: the
 * version differs, or it is gone. */
typedef void (*cove_remove_document_fn)(void* self, uint32_t kind, const char* name,
                                        uint64_t expected, cove_done* done);

/* Reads documents: cove_done_documents. */
typedef void (*cove_query_documents_fn)(void* self, const cove_document_query* query,
                                        cove_done* done);

/* Reads the store's time, the same for all who use it: cove_done_time. */
typedef void (*cove_store_time_fn)(void* self, cove_done* done);

/* Where records live. One document changes as a whole and in an order that all see alike; what was
 * answered is seen by every later call of anybody; nothing is promised across two documents. */
typedef struct cove_metadata_store {
  uint32_t struct_size;
  uint32_t flags;                 /* COVE_PART_BLOCKING; 0 = none */
  uint32_t threads;               /* with COVE_PART_BLOCKING, 1 to 64; 0 = 4 */
  uint32_t reserved0;             /* must be 0 */
  void* self;                     /* for the slots */
  cove_drop_fn destroy;           /* see the section's begin */
  cove_insert_document_fn insert; /* required, as all */
  cove_find_document_fn find;
  cove_swap_document_fn compare_and_swap;
  cove_remove_document_fn remove;
  cove_query_documents_fn query;
  cove_store_time_fn now;
} cove_metadata_store;

#define COVE_METADATA_STORE_INIT \
  {(uint32_t)sizeof(cove_metadata_store), 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_metadata_store_init(cove_metadata_store* store, size_t size);

/* Answers with the version that was written.
 * Since: 0.1 */
COVE_API cove_status cove_done_version(cove_done* done, uint64_t version, cove_error** out_error);

/* Answers with a document, or with NULL: there is none.
 * Since: 0.1 */
COVE_API cove_status cove_done_document(cove_done* done, const cove_document* document,
                                        cove_error** out_error);

/* Answers with documents in the query's order, no more than its limit. `is_last`: 1 where no more
 * follow them; with 0 there is at least one, and Cove asks again from behind it.
 * Since: 0.1 */
COVE_API cove_status cove_done_documents(cove_done* done, const cove_document* documents,
                                         size_t document_count, int32_t is_last,
                                         cove_error** out_error);

/* Answers with a time, in milliseconds since 1970. One that goes back is taken as standing.
 * Since: 0.1 */
COVE_API cove_status cove_done_time(cove_done* done, int64_t time_ms, cove_error** out_error);

/* The bytes of an object that is to be stored. They belong to the slot, which frees them once; one
 * thread at a time, and any. */
typedef struct cove_content cove_content;

/* Gives the next bytes, at most `capacity`, and their number to *out_size; 0 = the end. Waits, so
 * only where slots may block. Errors: COVE_CANCELLED - nobody waits for the object any more; what
 * went wrong with its making: then the put is failed, and nothing of it is kept.
 * Since: 0.1 */
COVE_API cove_status cove_content_read(cove_content* content, void* buffer, size_t capacity,
                                       size_t* out_size, cove_error** out_error);

/* The same through a callback: the next piece as it comes, some 256 KiB; an empty one = the end.
 * One at a time.
 * Since: 0.1 */
COVE_API cove_status cove_content_read_start(cove_content* content, cove_buffer_fn done,
                                             void* user_data, cove_drop_fn drop,
                                             cove_error** out_error);

/* Frees a content.
 * Since: 0.1 */
COVE_API void cove_content_free(cove_content* content);

/* An object's name and size. The elements of an array have one struct_size. */
typedef struct cove_object {
  uint32_t struct_size;
  uint32_t reserved0; /* must be 0 */
  const char* key;    /* segments of [A-Za-z0-9._-] with "/" between, at most 1024 bytes */
  uint64_t size;      /* bytes */
} cove_object;

#define COVE_OBJECT_INIT {(uint32_t)sizeof(cove_object), 0, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_object_init(cove_object* object, size_t size);

/* Gives the next piece of an object, some 256 KiB and at most 4 MiB: cove_done_bytes; no bytes =
 * the end. */
typedef void (*cove_next_piece_fn)(void* self, cove_done* done);

/* An object that is read, from front to end, one piece at a time. */
typedef struct cove_byte_source {
  uint32_t struct_size;
  uint32_t reserved0;      /* must be 0 */
  void* self;              /* for both */
  cove_drop_fn destroy;    /* called once, when nobody reads any more; NULL = nothing to do */
  cove_next_piece_fn next; /* required; called as the store's slots are */
} cove_byte_source;

#define COVE_BYTE_SOURCE_INIT {(uint32_t)sizeof(cove_byte_source), 0, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_byte_source_init(cove_byte_source* source, size_t size);

/* Stores all of `content` as a new object, durably: cove_done_ok, after its end was read. It is
 * seen whole or not at all. COVE_ALREADY_EXISTS: the key is taken, and was not changed. */
typedef void (*cove_put_object_fn)(void* self, const char* key, cove_content* content,
                                   cove_done* done);

/* Opens an object: cove_done_source. COVE_NOT_FOUND. */
typedef void (*cove_get_object_fn)(void* self, const char* key, cove_done* done);

/* Says how large an object is: cove_done_size. COVE_NOT_FOUND. */
typedef void (*cove_stat_object_fn)(void* self, const char* key, cove_done* done);

/* Lists the keys that begin with `prefix` and are greater than `after` ("" = all), by their bytes,
 * at most `limit` (1 to 1001): cove_done_objects. */
typedef void (*cove_list_objects_fn)(void* self, const char* prefix, const char* after,
                                     uint32_t limit, cove_done* done);

/* Removes an object: cove_done_ok, also where it is not there. */
typedef void (*cove_remove_object_fn)(void* self, const char* key, cove_done* done);

/* Where snapshots live: named objects that are never changed. */
typedef struct cove_object_store {
  uint32_t struct_size;
  uint32_t flags;         /* COVE_PART_BLOCKING; 0 = none */
  uint32_t threads;       /* with COVE_PART_BLOCKING, 1 to 64; 0 = 4 */
  uint32_t reserved0;     /* must be 0 */
  void* self;             /* for the slots */
  cove_drop_fn destroy;   /* see the section's begin */
  cove_put_object_fn put; /* required, as all */
  cove_get_object_fn get;
  cove_stat_object_fn stat;
  cove_list_objects_fn list;
  cove_remove_object_fn remove;
} cove_object_store;

#define COVE_OBJECT_STORE_INIT \
  {(uint32_t)sizeof(cove_object_store), 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_object_store_init(cove_object_store* store, size_t size);

/* Answers with the size of an object in bytes.
 * Since: 0.1 */
COVE_API cove_status cove_done_size(cove_done* done, uint64_t size, cove_error** out_error);

/* Answers with an opened object, whose `destroy` is Cove's to call from then on.
 * Since: 0.1 */
COVE_API cove_status cove_done_source(cove_done* done, const cove_byte_source* source,
                                      cove_error** out_error);

/* Answers with bytes.
 * Since: 0.1 */
COVE_API cove_status cove_done_bytes(cove_done* done, const void* data, size_t size,
                                     cove_error** out_error);

/* Answers with objects by the bytes of their keys; `is_last` as of cove_done_documents.
 * Since: 0.1 */
COVE_API cove_status cove_done_objects(cove_done* done, const cove_object* objects,
                                       size_t object_count, int32_t is_last,
                                       cove_error** out_error);

/* A volume (a sandbox's disk) by its generation, or an instance on it (what runs) by its epoch.
 * Each text is safe as a file's name. The elements of an array have one struct_size. */
typedef struct cove_instance_ref {
  uint32_t struct_size;
  uint32_t reserved0;     /* must be 0 */
  const char* deployment; /* 32 hex digits */
  const char* sandbox;    /* the sandbox id */
  const char* generation; /* 32 hex digits: names one volume, never used again */
  uint64_t epoch;         /* counts the starts of the sandbox; of a volume 0 */
} cove_instance_ref;

#define COVE_INSTANCE_REF_INIT {(uint32_t)sizeof(cove_instance_ref), 0, NULL, NULL, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_instance_ref_init(cove_instance_ref* ref, size_t size);

/* Does something with a volume or an instance; each slot says what, and what it answers. */
typedef void (*cove_instance_fn)(void* self, const cove_instance_ref* ref, cove_done* done);

/* Starts an instance. `policy_json` is what it may do and use, as "policy" of the configuration:
 * {"network": "none", "root_tree": "", "limits": {"memory_bytes": ..., "processes": ...,
 * "cpu_percent": ...}}; 0 = a default. */
typedef void (*cove_start_instance_fn)(void* self, const cove_instance_ref* ref,
                                       const char* policy_json, cove_done* done);

/* Lists what exists of a deployment on this node: cove_done_inventory. */
typedef void (*cove_list_instances_fn)(void* self, const char* deployment, cove_done* done);

/* Ends with cove_done_ok when everything of a volume is on the disk. */
typedef void (*cove_sync_volume_fn)(void* self, cove_done* done);

enum { COVE_VOLUME_ONE_USER = 1 /* every file belongs to the host's user, inside to uid 1000 */ };

/* A volume that is opened while nothing runs on it. */
typedef struct cove_offline_volume {
  uint32_t struct_size;
  uint32_t flags;           /* COVE_VOLUME_ONE_USER; 0 = none */
  int32_t directory;        /* a descriptor of the workspace's root; open until `close` */
  uint32_t id_offset;       /* ids inside = ids outside - this, */
  uint32_t id_count;        /* for so many; without COVE_VOLUME_ONE_USER */
  uint32_t reserved0;       /* must be 0 */
  void* self;               /* for both */
  cove_drop_fn close;       /* required: called once, then an instance may start again */
  cove_sync_volume_fn sync; /* required; called as the provider's slots are */
} cove_offline_volume;

#define COVE_OFFLINE_VOLUME_INIT \
  {(uint32_t)sizeof(cove_offline_volume), 0, 0, 0, 0, 0, NULL, NULL, NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_offline_volume_init(cove_offline_volume* volume, size_t size);

/* What exists of a deployment on a node. */
typedef struct cove_inventory {
  uint32_t struct_size;
  uint32_t reserved0;                 /* must be 0 */
  const cove_instance_ref* volumes;   /* with epoch 0 */
  size_t volume_count;                /* entries of volumes */
  const cove_instance_ref* instances; /* those that run */
  size_t instance_count;              /* entries of instances */
  const char* const* others;          /* other deployments that have volumes here */
  size_t other_count;                 /* entries of others */
} cove_inventory;

#define COVE_INVENTORY_INIT {(uint32_t)sizeof(cove_inventory), 0, NULL, 0, NULL, 0, NULL, 0}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_inventory_init(cove_inventory* inventory, size_t size);

enum { COVE_PROVIDER_LIMITS = 2 /* of `flags`: the limits of policy_json are enforced */ };

/* What gives compute and disks. Every slot may be repeated, also by another process after a crash,
 * and then ends in the same state; none touches what has another deployment, sandbox, generation
 * or, where it says so, epoch. Where a volume is missing, or is not the one that is named:
 * COVE_INTEGRITY, and nothing was changed. */
typedef struct cove_provider {
  uint32_t struct_size;
  uint32_t flags;       /* COVE_PART_BLOCKING, COVE_PROVIDER_LIMITS; 0 = none */
  uint32_t threads;     /* with COVE_PART_BLOCKING, 1 to 64; 0 = 4 */
  uint32_t reserved0;   /* must be 0 */
  void* self;           /* for the slots */
  cove_drop_fn destroy; /* see the section's begin */
  const char* name;     /* as records keep it: [a-z][a-z0-9_-]{0,31} */
  const char* node;     /* from where its volumes can be reached; NULL or "" = from everywhere */
  /* Creates an empty volume, or completes a half made one: cove_done_ok. Required, as the others
   * but for open_volume. COVE_QUOTA_EXCEEDED: no room. */
  cove_instance_fn create_volume;
  /* Deletes a volume: cove_done_ok, also where it is gone. COVE_FAILED_PRECONDITION: an instance
   * runs on it, or it is open. */
  cove_instance_fn delete_volume;
  /* Opens a volume on which nothing runs: cove_done_volume. NULL = it cannot: archives are then
   * COVE_UNSUPPORTED. COVE_FAILED_PRECONDITION: an instance runs on it, or it is open. */
  cove_instance_fn open_volume;
  /* Starts an instance: cove_done_ok when connect can reach it, also where this epoch runs already.
   * An older epoch that runs is ended first. COVE_CONFLICT: a newer one runs, or this one was
   * stopped before (a request may arrive again, long after it was answered). */
  cove_start_instance_fn start_instance;
  /* Ends everything of the epoch and of older ones: cove_done_ok, also where nothing runs. */
  cove_instance_fn stop_instance;
  /* Says what runs: cove_done_instance. */
  cove_instance_fn inspect;
  /* Connects to the cove-agent of a running instance: cove_done_socket. COVE_UNAVAILABLE: nothing
   * answers. */
  cove_instance_fn connect;
  cove_list_instances_fn list;
} cove_provider;

#define COVE_PROVIDER_INIT          \
  {(uint32_t)sizeof(cove_provider), \
   0,                               \
   0,                               \
   0,                               \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL,                            \
   NULL}

/* See cove_call_options_init.
 * Since: 0.1 */
COVE_API void cove_provider_init(cove_provider* provider, size_t size);

/* Answers with an opened volume, whose `close` is Cove's to call from then on.
 * Since: 0.1 */
COVE_API cove_status cove_done_volume(cove_done* done, const cove_offline_volume* volume,
                                      cove_error** out_error);

/* Answers whether anything of the epoch runs (0 = the provider is certain that nothing does), and
 * whether its volume is there.
 * Since: 0.1 */
COVE_API cove_status cove_done_instance(cove_done* done, int32_t is_running, int32_t has_volume,
                                        cove_error** out_error);

/* Answers with a connected Unix stream socket to a cove-agent. The descriptor is Cove's from then
 * on.
 * Since: 0.1 */
COVE_API cove_status cove_done_socket(cove_done* done, int32_t socket, cove_error** out_error);

/* Answers with what exists.
 * Since: 0.1 */
COVE_API cove_status cove_done_inventory(cove_done* done, const cove_inventory* inventory,
                                         cove_error** out_error);

/* Writes the cove-agent of this library, a static program, to a file that anybody may run;
 * docs/formats.md says how it is started. What has the name is replaced as a whole. Needs no open
 * Cove. Errors: COVE_UNSUPPORTED - the library was built without it; those of the file system.
 * Since: 0.1 */
COVE_API cove_status cove_agent_write(const char* path, cove_error** out_error);

/* As cove_agent_write, through a callback on a thread of its own. It cannot be called off.
 * Since: 0.1 */
COVE_API cove_status cove_agent_write_start(const char* path, cove_done_fn done, void* user_data,
                                            cove_drop_fn drop, cove_error** out_error);

#ifdef __cplusplus
}
#endif

#if defined(__cplusplus) && defined(COVE_BESIDE_CXX)
#undef cove
#endif

#endif /* COVE_H */
