/// The peers that Cove is measured against: plain process starts, bubblewrap, and Docker where it
/// runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

/// Starts a program with posix_spawn, reads its output to the end, waits. True: it exited 0 and
/// wrote something.
bool spawn_and_read(const std::vector<std::string>& argv);

/// A Docker engine with an image that holds only bench-true, as /true, and a container of it that
/// runs.
class Docker {
 public:
  /// Nothing where no engine answers. Makes the image by `docker import`; pulls nothing.
  static std::optional<Docker> find();

  std::vector<std::string> exec_command() const;  ///< docker exec <container> /true
  std::vector<std::string> run_command() const;   ///< docker run --rm --network none <image> /true
  void remove() const;

 private:
  std::string container_;
};

}  // namespace bench
