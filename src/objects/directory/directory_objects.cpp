#include "objects/directory/directory_objects.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "objects/directory/object_tree.hpp"

namespace cove::objects {
namespace {

constexpr std::size_t kPiece = 256 * 1024;
constexpr std::uint32_t kMaxPage = 1000;

/// Says between pieces whether the call is over. The deadline comes from the scheduler's timer: the
/// store has no clock of its own.
class CallLimit {
 public:
  CallLimit(Scheduler& scheduler, const CallContext& call) : scheduler_(scheduler), call_(call) {
    if (!call.deadline) return;
    timer_ = scheduler.call_at(*call.deadline, [passed = passed_] { passed->store(true); });
  }
  ~CallLimit() {
    if (timer_ != TimerId::kNone) scheduler_.cancel(timer_);
  }
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;

  Result<void> check() const {
    if (call_.stop.stop_requested()) return Error(ErrorCode::kCancelled, "the call was cancelled");
    if (passed_->load()) return Error(ErrorCode::kTimeout, "the call's deadline passed");
    return {};
  }

 private:
  Scheduler& scheduler_;
  const CallContext& call_;
  std::shared_ptr<std::atomic<bool>> passed_ = std::make_shared<std::atomic<bool>>(false);
  TimerId timer_ = TimerId::kNone;
};

Result<void> check_stop(const CallContext& call) {
  if (call.stop.stop_requested()) return Error(ErrorCode::kCancelled, "the call was cancelled");
  return {};
}

class FileSource final : public ByteSource {
 public:
  FileSource(base::UniqueFd file, std::string key, base::BlockingExecutor& executor,
             Scheduler& scheduler)
      : file_(std::move(file)), key_(std::move(key)), executor_(executor), scheduler_(scheduler) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    COVE_CO_TRY_VOID(check_stop(call));
    const auto read = [this] { return read_piece(); };
    co_return co_await base::offload(executor_, scheduler_, read);
  }

 private:
  Result<Bytes> read_piece() {
    Bytes piece(kPiece);
    for (;;) {
      const ssize_t size = ::read(*file_, piece.data(), piece.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return base::system_error(errno, "read object '" + key_ + "'");
      piece.resize(static_cast<std::size_t>(size));
      return piece;
    }
  }

  base::UniqueFd file_;
  std::string key_;
  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
};

class DirectoryObjects final : public ObjectStore {
 public:
  DirectoryObjects(base::UniqueFd root, base::BlockingExecutor& executor, Scheduler& scheduler,
                   const DirectoryObjectsOptions& options)
      : tree_(std::move(root)), executor_(executor), scheduler_(scheduler), options_(options) {}

  Task<Result<ObjectInfo>> put_if_absent(const ObjectKey& key, ByteSource& content,
                                         const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    const CallLimit limit(scheduler_, call);
    COVE_CO_TRY_VOID(limit.check());
    const auto start = [this, &key] { return begin(key); };
    COVE_CO_TRY(StagedFile file, co_await base::offload(executor_, scheduler_, start));
    std::uint64_t size = 0;
    for (;;) {
      COVE_CO_TRY(const Bytes piece, co_await content.next(call));
      COVE_CO_TRY_VOID(limit.check());
      if (piece.empty()) break;
      size += piece.size();
      const auto append = [&file, &piece] { return file.append(piece); };
      COVE_CO_TRY_VOID(co_await base::offload(executor_, scheduler_, append));
    }
    const auto finish = [this, &key, &file]() -> Result<void> {
      COVE_TRY_VOID(file.sync());
      return tree_.publish(key, file);
    };
    COVE_CO_TRY_VOID(co_await base::offload(executor_, scheduler_, finish));
    co_return ObjectInfo{key, size};
  }

  Task<Result<std::unique_ptr<ByteSource>>> get(const ObjectKey& key,
                                                const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    COVE_CO_TRY_VOID(check_stop(call));
    const auto open = [this, &key] { return tree_.open(key, O_RDONLY); };
    COVE_CO_TRY(base::UniqueFd file, co_await base::offload(executor_, scheduler_, open));
    co_return std::make_unique<FileSource>(std::move(file), key.str(), executor_, scheduler_);
  }

  Task<Result<ObjectInfo>> stat(const ObjectKey& key, const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    COVE_CO_TRY_VOID(check_stop(call));
    const auto look = [this, &key] { return tree_.stat(key); };
    co_return co_await base::offload(executor_, scheduler_, look);
  }

  Task<Result<ObjectPage>> list(const std::string& prefix, const std::string& after,
                                std::uint32_t limit, const CallContext& call) override {
    COVE_CO_TRY_VOID(check_stop(call));
    if (limit < 1 || limit > kMaxPage) {
      co_return Error(ErrorCode::kInvalidArgument,
                      "a page of objects has 1 to 1000, not " + std::to_string(limit));
    }
    const auto read = [&] { return tree_.list(prefix, after, limit); };
    co_return co_await base::offload(executor_, scheduler_, read);
  }

  Task<Result<void>> remove(const ObjectKey& key, const CallContext& call) override {
    COVE_CO_TRY_VOID(validate(key));
    COVE_CO_TRY_VOID(check_stop(call));
    const auto erase = [this, &key] { return tree_.remove(key); };
    co_return co_await base::offload(executor_, scheduler_, erase);
  }

 private:
  /// A key that is taken is refused before its content is read; the publishing decides.
  Result<StagedFile> begin(const ObjectKey& key) const {
    const Result<ObjectInfo> taken = tree_.stat(key);
    if (taken) {
      return Error(ErrorCode::kAlreadyExists, "object '" + key.str() + "' exists already");
    }
    if (taken.error().code() != ErrorCode::kNotFound) return taken.error();
    return StagedFile::create(tree_.root(), options_.unnamed_files);
  }

  ObjectTree tree_;
  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
  DirectoryObjectsOptions options_;
};

Result<void> sync_directory(int directory, const std::string& path) {
  const base::UniqueFd readable(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable || ::fsync(*readable) != 0) {
    return base::system_error(errno, "sync the parent of '" + path + "'");
  }
  return {};
}

/// mkdir -p with a sync of every parent that got a new name. The path is the host's own: links in
/// it are followed. O_PATH, since a parent may be one that we may enter but not read.
Result<base::UniqueFd> make_root(std::string_view path) {
  base::UniqueFd current(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!current) return base::system_error(errno, "open '/'");
  std::string walked;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (name.empty()) continue;
    walked += "/" + name;
    const bool made = ::mkdirat(*current, name.c_str(), 0700) == 0;
    if (!made && errno != EEXIST) return base::system_error(errno, "make '" + walked + "'");
    if (made) {
      COVE_TRY_VOID(sync_directory(*current, walked));
    }
    base::UniqueFd child(::openat(*current, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!child) return base::system_error(errno, "open directory '" + walked + "'");
    current = std::move(child);
  }
  base::UniqueFd root(::openat(*current, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return base::system_error(errno, "open directory '" + walked + "'");
  return root;
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_directory_objects(
    const std::string& path, base::BlockingExecutor& executor, Scheduler& scheduler,
    const DirectoryObjectsOptions& options) {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument,
                 "the object store's directory must be an absolute path, not '" + path + "'");
  }
  COVE_TRY(base::UniqueFd root, make_root(path));
  remove_dead_staged_files(*root);
  return std::unique_ptr<ObjectStore>(
      std::make_unique<DirectoryObjects>(std::move(root), executor, scheduler, options));
}

}  // namespace cove::objects
