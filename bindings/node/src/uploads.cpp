/// Files and directories that are sent piece by piece: each is given to C, and answered when it is
/// on its way.
#include "followed.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {

/// The last of it ends an upload that was not finished.
struct UploadRun {
  explicit UploadRun(LibraryPtr its_library) : library(std::move(its_library)) {}
  UploadRun(const UploadRun&) = delete;
  UploadRun& operator=(const UploadRun&) = delete;
  ~UploadRun() { library->cove_upload_free(raw); }

  LibraryPtr library;
  cove_upload* raw = nullptr;
};

namespace {

/// The body of both uploads: begin(done, data, &raw, &error) starts it. Gives {run, done}.
template <class Out, class Begin>
napi_value upload_by(Arguments& in, const std::shared_ptr<WorkspaceHandle>& workspace,
                     Begin begin) {
  if (in.has_failed()) return nullptr;
  auto made = promise<Out>(in.environment(), std::make_shared<Keep>(Keep{workspace, {}}));
  if (made.call == nullptr) return nullptr;
  const auto run = std::make_shared<UploadRun>(in.environment().library);
  Call<Out>* const raw = made.call.release();  // the callback's, unless the start fails
  cove_error* error = nullptr;
  if (begin(&Done<Out>::call, static_cast<void*>(raw), &run->raw, &error) != COVE_OK) {
    Call<Out>::refuse(std::unique_ptr<Call<Out>>(raw), in.env(), error);
  }
  return run_value(in.env(), wrap(in.env(), run), made.promise);
}

}  // namespace

napi_value upload(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  const Fields fields = in.fields(2);
  const auto etag = fields.text("ifUnchangedSince");
  cove_write_options options = COVE_WRITE_OPTIONS_INIT;
  options.flags = fields.flag("existingParents", COVE_WRITE_EXISTING_PARENTS) |
                  fields.flag("durable", COVE_WRITE_DURABLE) |
                  fields.flag("ifAbsent", COVE_WRITE_IF_ABSENT);
  options.mode = fields.u32("mode");
  options.if_unchanged_since = etag ? etag->c_str() : nullptr;
  in.limits(fields, options);
  return upload_by<cove_file_info>(
      in, workspace, [&](auto done, void* data, cove_upload** out, cove_error** error) {
        return in.library().cove_workspace_upload_start(workspace->raw, path.c_str(), &options,
                                                        done, data, nullptr, out, error);
      });
}

napi_value upload_tree(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return upload_by<cove_tree_counts>(
      in, workspace, [&](auto done, void* data, cove_upload** out, cove_error** error) {
        return in.library().cove_workspace_upload_tree_start(workspace->raw, path.c_str(), &options,
                                                             done, data, nullptr, out, error);
      });
}

napi_value give_piece(Arguments& in) {
  const auto run = in.handle<UploadRun>(0);
  const BytesView piece = in.bytes(1);
  return start_call<Nothing>(in, run, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_upload_write_start(run->raw, piece.data, piece.size, nullptr, done,
                                                data, nullptr, error);
  });
}

napi_value finish_upload(Arguments& in) {
  const auto run = in.handle<UploadRun>(0);
  if (run != nullptr) run->library->cove_upload_finish(run->raw);
  return nullptr;
}

napi_value cancel_upload(Arguments& in) {
  const auto run = in.handle<UploadRun>(0);
  if (run != nullptr) run->library->cove_upload_cancel(run->raw);
  return nullptr;
}

}  // namespace cove_node
