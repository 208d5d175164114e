/// The peers that Cove is measured against: plain process starts, bubblewrap, and Docker where it
/// runs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Starts a program with posix_spawn, gives what it writes to `sink` in pieces of at most 64 KiB,
/// waits. True: it exited 0.
bool spawn_and_read(const std::vector<std::string>& argv,
                    const std::function<void(std::string_view)>& sink);

/// The same; true: it exited 0 and wrote something.
bool spawn_and_read(const std::vector<std::string>& argv);

/// Runs a shell line; true: it exited 0.
bool shell(const std::string& command);

/// A Docker engine with an image that holds only bench-true, as /true, and a container of it that
/// runs. The engine is the one that the `docker` command reaches (DOCKER_HOST).
class Docker {
 public:
  /// Nothing where no engine answers. Makes the image by `docker import`; pulls nothing.
  static std::optional<Docker> find();

  std::vector<std::string> exec_command() const;  ///< docker exec <container> /true
  std::vector<std::string> run_command() const;   ///< docker run --rm --network none <image> /true

  /// The same as exec_command, asked of the engine itself over its socket: create, start and read,
  /// inspect. True: it exited 0 and wrote something. False also where the engine has no socket.
  bool exec_by_api() const;

  void remove() const;

 private:
  std::string container_;
};

}  // namespace bench
