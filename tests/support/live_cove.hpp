/// A state directory of a test's own for a Cove with real sandboxes; all of them are ended with it.
#pragma once

#include <set>
#include <string>

#include <cove/cove.hpp>

#include "support/scratch_directory.hpp"

namespace cove::testing {

class LiveCove {
 public:
  LiveCove() = default;
  ~LiveCove();
  LiveCove(const LiveCove&) = delete;
  LiveCove& operator=(const LiveCove&) = delete;

  /// The least configuration: SQLite, a directory, bubblewrap.
  Config config() const;

  Cove open(const Config& config) const { return Cove::open(config).value(); }
  Cove open() const { return open(config()); }

  std::string state_directory() const { return scratch_ / "state"; }

  /// True where the volume's directory exists.
  bool has_volume(const Generation& generation) const;

  /// The directory of that volume; empty where there is none.
  std::string volume_path(const Generation& generation) const;

 private:
  ScratchDirectory scratch_;
};

/// What a command that must succeed wrote, without its last newline.
std::string output_of(const SandboxClient& client, std::vector<std::string> argv);

/// The same for a line of shell.
std::string shell(const SandboxClient& client, const std::string& line);

/// Names the PID namespace of the running instance: the same name is the same instance.
std::string instance_name(const SandboxClient& client);

/// Processes of this machine inside that namespace.
std::set<int> processes_in(const std::string& instance_name);

}  // namespace cove::testing
