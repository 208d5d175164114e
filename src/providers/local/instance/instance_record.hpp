/// The record of a running instance: run/<short>/instance.json.
///
/// The launcher writes it just before it becomes bubblewrap, so an instance never runs without one,
/// even where the host dies in the middle of a start. It says how to find and end the instance; the
/// volume's lock says whether it lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "providers/local/instance/process.hpp"

namespace cove::local {

inline constexpr const char* kRecordName = "instance.json";
inline constexpr const char* kSocketName = "agent.sock";

/// Where pids mean something: one boot of one kernel, one pid namespace.
struct PidSpace {
  std::string boot_id;
  std::uint64_t pid_namespace = 0;

  friend bool operator==(const PidSpace&, const PidSpace&) = default;
};
Result<PidSpace> this_pid_space();

struct InstanceRecord {
  InstanceRef instance;
  std::string cgroup;  ///< name of its group; empty = none
  PidSpace space;
  pid_t pid = 0;                 ///< of bubblewrap
  std::uint64_t start_time = 0;  ///< of bubblewrap, ticks since boot
};

/// All of the record but the process, which the launcher adds: ends before `"pid":`.
std::string record_prefix(const InstanceRecord& record);

/// kIntegrity: no record of a version known here.
Result<InstanceRecord> parse_instance_record(std::string_view json);

/// Reads the record of a volume's run directory; none where there is none, or where a crash of the
/// machine left half of one (then nothing of it runs).
Result<std::optional<InstanceRecord>> read_record(int run, const VolumeRef& volume);

/// The recorded bubblewrap while it lives. None where it ended, or the machine was started anew.
Result<std::optional<Process>> find_process(const InstanceRecord& record, const PidSpace& here);

}  // namespace cove::local
