/// The native functions, one file per noun; module.cpp gives them their names in JavaScript.
/// Options objects come from TypeScript in full: numbers where C has numbers, no defaults here.
#pragma once

#include "arguments.hpp"

namespace cove_node {

// cove.cpp
napi_value version(Arguments& in);         // () => string
napi_value status_name(Arguments& in);     // (code) => string
napi_value cancel_create(Arguments& in);   // () => cancel
napi_value cancel_trigger(Arguments& in);  // (cancel)
napi_value sandbox_id_of(Arguments& in);   // (key) => string
napi_value config_schema(Arguments& in);   // () => string of JSON
napi_value open(Arguments& in);  // (json, log | undefined, clock | undefined, ask | undefined) =>
                                 // Promise<cove>
napi_value observe(Arguments& in);         // (cove, onEvent: (json, lost))
napi_value close(Arguments& in);           // (cove, timeoutMs) => Promise
napi_value close_all(Arguments& in);       // ()
napi_value let_go(Arguments& in);          // (cove, workspace, prepare or step)
napi_value acquire(Arguments& in);         // (cove, key, options) => Promise<{handle, ...}>
napi_value remove_session(Arguments& in);  // (cove, key, options) => Promise
napi_value release(Arguments& in);         // (workspace, options) => Promise

// parts.cpp
napi_value clock_create(Arguments& in);      // () => clock
napi_value clock_advance(Arguments& in);     // (clock, ms)
napi_value clock_moved(Arguments& in);       // (cove)
napi_value answer_done(Arguments& in);       // (done)
napi_value answer_failure(Arguments& in);    // (done, code, message, retryAfterMs)
napi_value answer_version(Arguments& in);    // (done, version)
napi_value answer_time(Arguments& in);       // (done, ms)
napi_value answer_document(Arguments& in);   // (done, document | null)
napi_value answer_documents(Arguments& in);  // (done, documents, isLast)
napi_value is_done_over(Arguments& in);      // (done) => boolean
napi_value write_agent(Arguments& in);       // (path) => Promise

// skills.cpp
napi_value prepare_skill(Arguments& in);               // (prepare, versionId, Buffer, sha256)
napi_value prepare_host_skill(Arguments& in);          // (prepare, versionId, path, sha256)
napi_value prepare_stored_skill(Arguments& in);        // (prepare, versionId)
napi_value prepare_builtin_skill(Arguments& in);       // (prepare, name, Buffer)
napi_value prepare_host_builtin_skill(Arguments& in);  // (prepare, name, path)
napi_value prepare_skill_init_timeout(Arguments& in);  // (prepare, milliseconds; 0 = none is run)
napi_value workspace_skills(Arguments& in);  // (workspace, options) => Promise<Buffer of JSON>
napi_value inspect_skill(Arguments& in);     // (versionId, Buffer) => Buffer of JSON
napi_value add_skill(
    Arguments& in);  // (cove, versionId, Buffer, options) => Promise<Buffer of JSON>
napi_value list_skills(Arguments& in);   // (cove, options) => Promise<Buffer of JSON>
napi_value remove_skill(Arguments& in);  // (cove, versionId, options) => Promise

// prepare.cpp
napi_value prepare_create(Arguments& in);     // () => prepare
napi_value prepare_mirror(Arguments& in);     // (prepare, mirror, url)
napi_value prepare_variable(Arguments& in);   // (prepare, name, value)
napi_value prepare_secret(Arguments& in);     // (prepare, name, value)
napi_value prepare_locale(Arguments& in);     // (prepare, timeZone, locale)
napi_value prepare_file(Arguments& in);       // (prepare, name, Buffer)
napi_value prepare_host_file(Arguments& in);  // (prepare, name, path)
napi_value prepare_init(Arguments& in);       // (prepare, text, options)
napi_value prepare_report(Arguments& in);     // (workspace) => Buffer of JSON

// steps.cpp
napi_value prepare_step(Arguments& in);  // (prepare, name, options, apply: (step, workspace, note))
napi_value prepare_observer(Arguments& in);  // (prepare, onEvent: (event, step, text))
napi_value is_step_over(Arguments& in);      // (step) => boolean
napi_value tell_step(Arguments& in);         // (step, text)
napi_value finish_step(Arguments& in);       // (step, result)
napi_value fail_step(Arguments& in);         // (step, code, message, output)

// lifecycle.cpp
napi_value stop(Arguments& in);             // (cove, sandboxId, options) => Promise
napi_value archive(Arguments& in);          // (cove, sandboxId, options) => Promise
napi_value relocate(Arguments& in);         // (cove, sandboxId, options) => Promise
napi_value destroy(Arguments& in);          // (cove, sandboxId, options) => Promise
napi_value destroy_source(Arguments& in);   // (cove, source, options) => Promise<Buffer of JSON>
napi_value revive_source(Arguments& in);    // (cove, source, options) => Promise
napi_value set_idle_policy(Arguments& in);  // (cove, source, policy, options) => Promise
napi_value idle_policy(Arguments& in);      // (cove, source, options) => Promise<Buffer of JSON>
napi_value recover(Arguments& in);  // (cove, deployment or "", options) => Promise<Buffer of JSON>
napi_value metrics(Arguments& in);  // (cove, options) => Promise<Buffer of text>
napi_value sweep(Arguments& in);    // (cove, options) => Promise<Buffer of JSON>
napi_value status(Arguments& in);   // (cove, sandboxId, options) => Promise<Buffer of JSON>
napi_value list_page(Arguments& in);  // (cove, options) => Promise<Buffer of JSON>
napi_value orphans(Arguments& in);    // (cove, options) => Promise<Buffer of JSON>
napi_value doctor(Arguments& in);     // (cove, options) => Promise<Buffer of JSON>

// commands.cpp
napi_value exec(Arguments& in);         // (workspace, argv, fields | undefined, limits, onWake |
                                        // undefined) => {run, done}
napi_value take_output(Arguments& in);  // (run, most) => [stream, Buffer, ...] | null at the end
napi_value cancel_run(Arguments& in);   // (run of exec)
napi_value detach_run(Arguments& in);   // (run of exec)
napi_value discard_run(Arguments& in);  // (run of exec)
napi_value buffered_of(Arguments& in);  // (run of exec) => bytes
napi_value write_stdin(Arguments& in);  // (run, Buffer, options) => Promise
napi_value close_stdin(Arguments& in);  // (run, options) => Promise
napi_value send_signal(Arguments& in);  // (run, signal, options) => Promise
napi_value resize(Arguments& in);       // (run, rows, columns, options) => Promise

// processes.cpp
napi_value start_process(Arguments& in);   // (workspace, argv, options) => Promise<ProcessInfo>
napi_value list_processes(Arguments& in);  // (workspace, options) => Promise<ProcessInfo[]>
napi_value find_process(Arguments& in);    // (workspace, id, options) => Promise<ProcessInfo>
napi_value end_process(Arguments& in);     // (workspace, id, options) => Promise<ProcessInfo>
napi_value wait_process(Arguments& in);    // (workspace, id, options) => Promise<ProcessInfo>
napi_value process_output(Arguments& in);  // (workspace, id, options) => Promise<OutputSlice>
napi_value write_process_stdin(Arguments& in);  // (workspace, id, Buffer, options) => Promise
napi_value close_process_stdin(Arguments& in);  // (workspace, id, options) => Promise
napi_value signal_process(Arguments& in);       // (workspace, id, signal, options) => Promise
napi_value resize_process(Arguments& in);  // (workspace, id, rows, columns, options) => Promise
napi_value remove_process(Arguments& in);  // (workspace, id, options) => Promise
napi_value attach_process(Arguments& in);  // (workspace, id, options, onWake) => {run, done}

// files.cpp
napi_value read_file(Arguments& in);   // (workspace, path, options) => Promise<Buffer>
napi_value read(Arguments& in);        // (workspace, path, options) => Promise<FileContent>
napi_value read_lines(Arguments& in);  // (workspace, path, options) => Promise<LineSlice>
napi_value write_file(Arguments& in);  // (workspace, path, Buffer, options) => Promise<FileInfo>
napi_value stat(Arguments& in);        // (workspace, path, options) => Promise<FileInfo>
napi_value list_files(
    Arguments& in);  // (workspace, path, options) => Promise<{entries: JSON, next}>
napi_value make_directory(Arguments& in);  // (workspace, path, options) => Promise
napi_value remove(Arguments& in);          // (workspace, path, options) => Promise
napi_value move(Arguments& in);            // (workspace, from, to, options) => Promise<FileInfo>
napi_value copy(Arguments& in);            // (workspace, from, to, options) => Promise<TreeCounts>
napi_value set_mode(Arguments& in);        // (workspace, path, mode, options) => Promise<FileInfo>
napi_value make_symlink(Arguments& in);  // (workspace, path, target, options) => Promise<FileInfo>

// edits.cpp
napi_value edit_file(Arguments& in);   // (workspace, path, edits, options) => Promise<EditResult>
napi_value edit_files(Arguments& in);  // (workspace, files, options) => Promise<(result | error)[]>

// downloads.cpp
napi_value download(Arguments& in);     // (workspace, path, isTree, options, onWake) => {run, done}
napi_value take_pieces(Arguments& in);  // (run, most) => [total | -1, Buffer, Buffer, ...] | null
napi_value end_download(Arguments& in);  // (run)

// uploads.cpp
napi_value upload(Arguments& in);         // (workspace, path, options) => {run, done}
napi_value upload_tree(Arguments& in);    // (workspace, path, options) => {run, done}
napi_value give_piece(Arguments& in);     // (run, Buffer) => Promise: it is on its way
napi_value finish_upload(Arguments& in);  // (run): nothing follows
napi_value cancel_upload(Arguments& in);  // (run)

// watches.cpp
napi_value watch(Arguments& in);         // (workspace, path, options, onWake) => {run, done}
napi_value take_events(Arguments& in);   // (run, most) => JSON | null at the end
napi_value cancel_watch(Arguments& in);  // (run)

// searches.cpp
napi_value grep(Arguments& in);        // (workspace, path, pattern, options, onWake) => {run, done}
napi_value find(Arguments& in);        // (workspace, path, options, onWake) => {run, done}
napi_value take_found(Arguments& in);  // (run, most) => JSON | null at the end
napi_value cancel_search(Arguments& in);  // (run)
napi_value discard_found(Arguments& in);  // (run)

// tools.cpp
napi_value describe_tools(Arguments& in);  // (format) => string of JSON
napi_value call_tool(Arguments& in);       // (workspace, name, json, options, makeLinks) => Promise
napi_value answer_links(Arguments& in);    // (request, urls)
napi_value refuse_links(Arguments& in);    // (request, code, message)
napi_value are_links_over(Arguments& in);  // (request) => boolean

}  // namespace cove_node
