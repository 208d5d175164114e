#include "runtime/first_look.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"
#include "base/text/display_text.hpp"
#include "providers/local/volume/tree_removal.hpp"
#include "runtime/assembly/state_directory.hpp"
#include "runtime/config/config_check.hpp"

namespace cove::runtime {
namespace {

constexpr const char* kSubject = "state directory";

bool is_there(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0;
}

/// The directory itself, or the nearest one above it that is there.
std::string nearest_existing(std::string path) {
  while (path.size() > 1 && !is_there(path)) {
    path.resize(std::max<std::size_t>(path.find_last_of('/'), 1));
  }
  return path;
}

class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> make(const std::string& parent) {
    std::string path = (parent == "/" ? "" : parent) + "/.cove-doctor-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return base::system_error(errno, "make a directory in " + base::quoted(parent));
    }
    return TemporaryDirectory(std::move(path));
  }
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory() {
    const std::size_t slash = path_.rfind('/');
    if (slash == std::string::npos) return;
    const std::string parent = path_.substr(0, slash + 1);
    const base::UniqueFd fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd) static_cast<void>(local::remove_tree(*fd, path_.substr(slash + 1)));
  }
  const std::string& path() const noexcept { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Finding cannot_be_made(const Error& error) {
  return {Finding::Level::kBroken, kSubject, error.message(),
          "let this user make it, or name another directory"};
}

Finding not_there_yet(const std::string& state_dir) {
  return {Finding::Level::kLimited, kSubject,
          "there is no Cove in " + base::quoted(state_dir) + " yet",
          "nothing, where this is meant to be new: the first use makes it; else correct the name"};
}

/// Opens a Cove in the temporary directory and asks that.
Result<std::vector<Finding>> examine_in(const std::string& directory, Config config) {
  config.state_dir = directory;
  config.metadata = {.type = "memory", .path = {}};
  config.objects = {.type = "memory", .path = {}};
  COVE_TRY(Cove cove, Cove::open(std::move(config)));
  std::vector<Finding> findings = cove.doctor();
  COVE_TRY_VOID(cove.close());
  std::erase_if(findings, [](const Finding& finding) {
    return finding.subject == kSubject && finding.level == Finding::Level::kGood;
  });
  return findings;
}

}  // namespace

bool has_cove(const std::string& state_dir) {
  struct stat info{};
  if (::stat((state_dir + "/owners").c_str(), &info) == 0) return true;
  return errno != ENOENT && errno != ENOTDIR;
}

Result<std::vector<Finding>> examine_before_first_use(Config config) {
  COVE_TRY_VOID(check_config(config));
  const std::string state_dir = config.state_dir;
  if (is_there(state_dir)) {
    const auto opened = open_state_directory(state_dir);
    if (!opened) return std::vector<Finding>{cannot_be_made(opened.error())};
  }
  const auto temporary = TemporaryDirectory::make(nearest_existing(state_dir));
  if (!temporary) return std::vector<Finding>{cannot_be_made(temporary.error())};
  COVE_TRY(std::vector<Finding> findings, examine_in(temporary->path(), std::move(config)));
  findings.insert(findings.begin(), not_there_yet(state_dir));
  return findings;
}

}  // namespace cove::runtime
