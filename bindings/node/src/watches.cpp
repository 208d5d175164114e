/// Watches of directories.
#include "followed.hpp"
#include "functions.hpp"
#include "json.hpp"
#include "results.hpp"

namespace cove_node {

/// The last of it ends the watch.
struct WatchRun {
  WatchRun(LibraryPtr its_library, std::shared_ptr<Pipe<std::string>> its_pipe)
      : library(std::move(its_library)), pipe(std::move(its_pipe)) {}
  WatchRun(const WatchRun&) = delete;
  WatchRun& operator=(const WatchRun&) = delete;
  ~WatchRun() {
    if (raw == nullptr) return;
    pipe->discard();
    library->cove_watch_cancel(raw);
    library->cove_watch_free(raw);
  }

  LibraryPtr library;
  std::shared_ptr<Pipe<std::string>> pipe;
  cove_watch* raw = nullptr;
};

namespace {

using WatchFollower = Follower<std::string, Nothing>;

/// What a change costs beside its text, about; and what may wait for its reader.
constexpr std::size_t kItemBytes = 256;
constexpr std::size_t kLimit = 8U << 20U;

constexpr const char* kChanges[] = {"",      "created",    "modified", "removed",
                                    "moved", "attributes", "overflow"};

const char* change_name(int change) noexcept {
  constexpr int kCount = static_cast<int>(sizeof kChanges / sizeof kChanges[0]);
  return change >= 0 && change < kCount ? kChanges[change] : "";
}

std::string event_json(int change, std::string_view path, std::string_view old_path,
                       bool is_directory) {
  return Json()
      .text("change", change_name(change))
      .path("path", path)
      .path("oldPath", old_path)
      .truth("isDirectory", is_directory)
      .done();
}

void on_events(void* user_data, const cove_file_events* events) {
  const WatchFollower& follower = *WatchFollower::of(user_data);
  const Library& library = *follower.library;
  const std::size_t count = library.cove_file_events_count(events);
  for (std::size_t i = 0; i < count; ++i) {
    const cove_file_event* const event = library.cove_file_events_entry(events, i);
    std::string json = event_json(
        library.cove_file_event_change(event), library.cove_file_event_path(event),
        library.cove_file_event_old_path(event), library.cove_file_event_is_directory(event) == 1);
    const std::size_t size = kItemBytes + json.size();
    // A watch cannot be slowed down: what nobody reads becomes one "overflow".
    if (follower.pipe->push(std::move(json), size)) {
      follower.pipe->replace(event_json(COVE_CHANGE_OVERFLOW, "", "", false), kItemBytes);
    }
  }
}

void on_done(void* user_data, cove_error* error) {
  WatchFollower::of(user_data)->finish(nullptr, error);
}

}  // namespace

napi_value watch(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  const Fields fields = in.fields(2);
  cove_watch_options options = COVE_WATCH_OPTIONS_INIT;
  options.flags = fields.flag("notRecursive", COVE_WATCH_NOT_RECURSIVE);
  options.max_directories = fields.u32("maxDirectories");
  in.limits(fields, options);
  auto pipe = make_pipe<std::string>(in.environment(), in.at(3), kLimit);
  if (pipe == nullptr) in.fail("argument 3 is no function");
  if (in.has_failed()) return nullptr;
  const auto run = std::make_shared<WatchRun>(in.environment().library, std::move(pipe));
  cove_watch_callbacks callbacks = COVE_WATCH_CALLBACKS_INIT;
  callbacks.on_events = &on_events;
  callbacks.on_done = &on_done;
  return follow<std::string, Nothing>(
      in, std::make_shared<Keep>(Keep{workspace, {}}), run, callbacks,
      [&](const cove_watch_callbacks* given, cove_watch** out, cove_error** error) {
        return in.library().cove_workspace_watch_start(workspace->raw, path.c_str(), &options,
                                                       given, out, error);
      });
}

napi_value take_events(Arguments& in) {
  const auto run = in.handle<WatchRun>(0);
  const std::uint64_t most = whole_number(in.number(1));
  if (in.has_failed()) return nullptr;
  return taken_json(in.env(), run->pipe->take(most));
}

napi_value cancel_watch(Arguments& in) {
  const auto run = in.handle<WatchRun>(0);
  if (run != nullptr && run->raw != nullptr) run->library->cove_watch_cancel(run->raw);
  return nullptr;
}

}  // namespace cove_node
