/// Watches of directories.
#include "followed.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {

struct FileEvent {
  int change = 0;
  std::string path;
  std::string old_path;
  bool is_directory = false;
};

/// The last of it ends the watch.
struct WatchRun {
  WatchRun(LibraryPtr its_library, std::shared_ptr<Pipe<FileEvent>> its_pipe)
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
  std::shared_ptr<Pipe<FileEvent>> pipe;
  cove_watch* raw = nullptr;
};

namespace {

using WatchFollower = Follower<FileEvent, Nothing>;

/// What a change costs beside its paths, about; and what may wait for its reader.
constexpr std::size_t kItemBytes = 256;
constexpr std::size_t kLimit = 8U << 20U;

constexpr const char* kChanges[] = {"",      "created",    "modified", "removed",
                                    "moved", "attributes", "overflow"};

void on_events(void* user_data, const cove_file_events* events) {
  const WatchFollower& follower = *WatchFollower::of(user_data);
  const Library& library = *follower.library;
  const std::size_t count = library.cove_file_events_count(events);
  for (std::size_t i = 0; i < count; ++i) {
    const cove_file_event* const event = library.cove_file_events_entry(events, i);
    FileEvent copy{library.cove_file_event_change(event), library.cove_file_event_path(event),
                   library.cove_file_event_old_path(event),
                   library.cove_file_event_is_directory(event) == 1};
    const std::size_t size = kItemBytes + copy.path.size() + copy.old_path.size();
    // A watch cannot be slowed down: what nobody reads becomes one "overflow".
    if (follower.pipe->push(std::move(copy), size)) {
      follower.pipe->replace(FileEvent{COVE_CHANGE_OVERFLOW, {}, {}, false}, kItemBytes);
    }
  }
}

void on_done(void* user_data, cove_error* error) {
  WatchFollower::of(user_data)->finish(nullptr, error);
}

const char* change_name(int change) noexcept {
  constexpr int kCount = static_cast<int>(sizeof kChanges / sizeof kChanges[0]);
  return change >= 0 && change < kCount ? kChanges[change] : "";
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
  auto pipe = make_pipe<FileEvent>(in.environment(), in.at(3), kLimit);
  if (pipe == nullptr) in.fail("argument 3 is no function");
  if (in.has_failed()) return nullptr;
  const auto run = std::make_shared<WatchRun>(in.environment().library, std::move(pipe));
  cove_watch_callbacks callbacks = COVE_WATCH_CALLBACKS_INIT;
  callbacks.on_events = &on_events;
  callbacks.on_done = &on_done;
  return follow<FileEvent, Nothing>(
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
  return taken_value(in.env(), run->pipe->take(most), [&in](List& list, const FileEvent& event) {
    Object made(in.env());
    made.text("change", change_name(event.change))
        .path("path", event.path)
        .path("oldPath", event.old_path)
        .truth("isDirectory", event.is_directory);
    list.add(made.value());
  });
}

napi_value cancel_watch(Arguments& in) {
  const auto run = in.handle<WatchRun>(0);
  if (run != nullptr && run->raw != nullptr) run->library->cove_watch_cancel(run->raw);
  return nullptr;
}

}  // namespace cove_node
