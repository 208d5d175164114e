// A directory that plays /workspace, and next to it one that nothing may reach.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "agent/files.hpp"

namespace cove::agent::testing {

namespace fs = std::filesystem;

inline base::UniqueFd open_directory_at(const fs::path& path) {
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(fd);
  return fd;
}

inline std::string text_of(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

inline ByteView bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The root of a tmpfs of `size` that is mounted nowhere; empty where this user may not make one.
inline base::UniqueFd make_disk(const char* size) {
  const base::UniqueFd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context || ::fsconfig(*context, FSCONFIG_SET_STRING, "size", size, 0) != 0 ||
      ::fsconfig(*context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return base::UniqueFd();
  }
  return base::UniqueFd(::fsmount(*context, FSMOUNT_CLOEXEC, 0));
}

class WorkspaceFixture {
 public:
  WorkspaceFixture()
      : top_(make_top()),
        workspace_(top_ / "workspace"),
        outside_(top_ / "outside"),
        files_(make_root(), "/workspace") {
    fs::create_directory(outside_);
    put(outside_ / "secret", "outside");
  }
  WorkspaceFixture(const WorkspaceFixture&) = delete;
  WorkspaceFixture& operator=(const WorkspaceFixture&) = delete;
  ~WorkspaceFixture() {
    std::error_code ignored;
    fs::remove_all(top_, ignored);
  }

  const Files& files() const { return files_; }
  const fs::path& workspace() const { return workspace_; }
  const fs::path& outside() const { return outside_; }

  static void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string get(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  Result<std::string> read(const std::string& path, const std::string& session = "") const {
    COVE_TRY(const OpenedFile file, files_.open_file({session, path}, {}));
    return text_of(*file.fd);
  }
  Result<FileInfo> write(const std::string& path, const std::string& text,
                         const WriteOptions& options = {}) const {
    COVE_TRY(const auto writer, files_.begin_write({"", path}, options));
    COVE_TRY_VOID(writer->write(bytes_of(text)));
    return writer->commit();
  }
  template <class T>
  static ErrorCode code_of(const Result<T>& result) {
    REQUIRE_FALSE(result);
    return result.error().code();
  }

  std::vector<std::string> names(const fs::path& below = {}) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(workspace_ / below)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  static fs::path make_top() {
    std::string name = (fs::temp_directory_path() / "cove-files-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    return name;
  }
  base::UniqueFd make_root() const {
    fs::create_directory(workspace_);
    return open_directory_at(workspace_);
  }

  fs::path top_;
  fs::path workspace_;
  fs::path outside_;
  Files files_;
};

}  // namespace cove::agent::testing
