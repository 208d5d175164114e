#include "objects/directory/object_tree.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"

namespace cove::objects {
namespace {

// A directory that another process prunes between our mkdir and our link is made again; so often
// in a row happens only where something is wrong.
constexpr int kMaxAttempts = 100;

struct KeyPath {
  std::string directory;  // "cove+/v1+"; empty = the root
  std::string name;

  std::string file() const { return directory.empty() ? name : directory + "/" + name; }
};

KeyPath path_of(const ObjectKey& key) {
  KeyPath path;
  std::string_view rest = key.str();
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos;
       slash = rest.find('/')) {
    if (!path.directory.empty()) path.directory += '/';
    path.directory += rest.substr(0, slash);
    path.directory += kDirectoryMark;
    rest.remove_prefix(slash + 1);
  }
  path.name = rest;
  return path;
}

Error failure(int error_number, const char* what, const ObjectKey& key) {
  return base::system_error(error_number, std::string(what) + " object '" + key.str() + "'");
}

base::BeneathResult open_directory(int parent, const std::string& name) {
  return base::open_in_volume(parent, name.c_str(), O_RDONLY | O_DIRECTORY);
}

/// Makes each directory on the way to an object and opens the last. Every parent is synced, also
/// where the child was there: whoever made it may have been killed before its sync.
base::BeneathResult make_directories(int root, std::string_view directory) {
  base::BeneathResult current = open_directory(root, ".");
  while (current.fd && !directory.empty()) {
    const std::size_t slash = directory.find('/');
    const std::string name(directory.substr(0, slash));
    directory.remove_prefix(slash == std::string_view::npos ? directory.size() : slash + 1);
    if (::mkdirat(*current.fd, name.c_str(), 0700) != 0 && errno != EEXIST) {
      return {base::UniqueFd(), errno};
    }
    if (::fsync(*current.fd) != 0) return {base::UniqueFd(), errno};
    current = open_directory(*current.fd, name);
  }
  return current;
}

/// One attempt; ENOENT = a directory was pruned meanwhile.
Result<int> try_publish(int root, const KeyPath& path, const ObjectKey& key, StagedFile& file) {
  const auto directory = make_directories(root, path.directory);
  if (!directory.fd && directory.error_number == ENOENT) return ENOENT;
  if (!directory.fd) return failure(directory.error_number, "make the directory of", key);
  const int error = file.publish(*directory.fd, path.name.c_str());
  if (error == ENOENT) return ENOENT;
  if (error == EEXIST) {
    return Error(ErrorCode::kAlreadyExists, "object '" + key.str() + "' exists already");
  }
  if (error != 0) return failure(error, "store", key);
  if (::fsync(*directory.fd) != 0) {
    const Error unsynced = failure(errno, "sync the directory of", key);
    if (::unlinkat(*directory.fd, path.name.c_str(), 0) == 0) return unsynced;
    return Error(ErrorCode::kUnavailable, "object '" + key.str() + "' is there, maybe not durable")
        .with_cause(unsynced);
  }
  return 0;
}

}  // namespace

Result<void> ObjectTree::publish(const ObjectKey& key, StagedFile& file) const {
  const KeyPath path = path_of(key);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const Result<int> published = try_publish(*root_, path, key, file);
    if (!published) {
      prune(path.directory);
      return published.error();
    }
    if (*published == 0) return {};
  }
  return Error(ErrorCode::kUnavailable, "the directories of object '" + key.str() +
                                            "' are removed as soon as they are made");
}

Result<base::UniqueFd> ObjectTree::open(const ObjectKey& key, int flags) const {
  auto opened = base::open_in_volume(*root_, path_of(key).file().c_str(), flags | O_NOFOLLOW);
  if (!opened.fd && opened.error_number == ENOENT) {
    return Error(ErrorCode::kNotFound, "no object '" + key.str() + "'");
  }
  if (!opened.fd) return failure(opened.error_number, "open", key);
  struct stat status{};
  if (::fstat(*opened.fd, &status) != 0) return failure(errno, "look at", key);
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::kIntegrity, "object '" + key.str() + "' is not a regular file");
  }
  return std::move(opened.fd);
}

Result<ObjectInfo> ObjectTree::stat(const ObjectKey& key) const {
  COVE_TRY(const base::UniqueFd file, open(key, O_PATH));
  struct stat status{};
  if (::fstat(*file, &status) != 0) return failure(errno, "look at", key);
  return ObjectInfo{key, static_cast<std::uint64_t>(status.st_size)};
}

Result<void> ObjectTree::remove(const ObjectKey& key) const {
  const KeyPath path = path_of(key);
  const auto directory =
      open_directory(*root_, path.directory.empty() ? std::string(".") : path.directory);
  if (!directory.fd && directory.error_number == ENOENT) return {};
  if (!directory.fd) return failure(directory.error_number, "open the directory of", key);
  if (::unlinkat(*directory.fd, path.name.c_str(), 0) != 0 && errno != ENOENT) {
    return failure(errno, "remove", key);
  }
  if (::fsync(*directory.fd) != 0) return failure(errno, "sync the directory of", key);
  prune(path.directory);
  return {};
}

/// Removes `directory` and its parents while they are empty. An empty one that stays is invisible,
/// so nothing here is an error.
void ObjectTree::prune(std::string directory) const {
  while (!directory.empty()) {
    const std::size_t slash = directory.rfind('/');
    const std::string parent =
        slash == std::string::npos ? std::string() : directory.substr(0, slash);
    const std::string name = slash == std::string::npos ? directory : directory.substr(slash + 1);
    const auto opened = open_directory(*root_, parent.empty() ? std::string(".") : parent);
    if (!opened.fd || ::unlinkat(*opened.fd, name.c_str(), AT_REMOVEDIR) != 0) return;
    directory = parent;
  }
}

}  // namespace cove::objects
