#include "providers/local/instance/instance_record.hpp"

#include <cerrno>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/system/system_error.hpp"
#include "base/text/json.hpp"
#include "providers/local/small_files.hpp"
#include "providers/local/state_directory.hpp"

namespace cove::local {

namespace {

constexpr std::uint32_t kVersion = 1;

Error damaged() { return {ErrorCode::kIntegrity, "the record of an instance is damaged"}; }

}  // namespace

Result<PidSpace> this_pid_space() {
  COVE_TRY(std::string boot_id, read_small_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id"));
  while (!boot_id.empty() && boot_id.back() == '\n') boot_id.pop_back();
  struct stat info{};
  if (::stat("/proc/self/ns/pid", &info) != 0) {
    return base::system_error(errno, "inspect '/proc/self/ns/pid'");
  }
  return PidSpace{std::move(boot_id), info.st_ino};
}

std::string record_prefix(const InstanceRecord& record) {
  const nlohmann::json document = {
      {"version", kVersion},
      {"deployment", record.instance.volume.deployment.str()},
      {"sandbox", record.instance.volume.sandbox.str()},
      {"generation", record.instance.volume.generation.str()},
      {"epoch", number_of(record.instance.epoch)},
      {"cgroup", record.cgroup},
      {"boot_id", record.space.boot_id},
      {"pid_namespace", record.space.pid_namespace},
  };
  std::string text = base::dump_json(document);
  text.back() = ',';
  return text;
}

Result<InstanceRecord> parse_instance_record(std::string_view json) {
  const auto document = base::parse_json(json);
  if (!document || !document->is_object()) return damaged();
  const auto text = [&](const char* key) -> std::optional<std::string> {
    const auto found = document->find(key);
    if (found == document->end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  };
  const auto number = [&](const char* key) -> std::optional<std::uint64_t> {
    const auto found = document->find(key);
    if (found == document->end() || !found->is_number_unsigned()) return std::nullopt;
    return found->get<std::uint64_t>();
  };
  const auto deployment = text("deployment");
  const auto sandbox = text("sandbox");
  const auto generation = text("generation");
  const auto cgroup = text("cgroup");
  const auto boot_id = text("boot_id");
  const auto epoch = number("epoch");
  const auto pid_namespace = number("pid_namespace");
  const auto pid = number("pid");
  const auto start_time = number("start_time");
  if (number("version") != kVersion || !deployment || !sandbox || !generation || !cgroup ||
      !boot_id || !epoch || !pid_namespace || !pid || *pid > INT32_MAX || !start_time) {
    return damaged();
  }
  return InstanceRecord{
      {{DeploymentId(*deployment), SandboxId(*sandbox), Generation(*generation)}, Epoch{*epoch}},
      *cgroup,
      {*boot_id, *pid_namespace},
      static_cast<pid_t>(*pid),
      *start_time};
}

Result<std::optional<InstanceRecord>> read_record(int run, const VolumeRef& volume) {
  const auto text = read_small_file(run, run_name_of(volume) + "/" + kRecordName);
  if (!text && text.error().code() == ErrorCode::kNotFound) return std::optional<InstanceRecord>();
  if (!text) return text.error();
  Result<InstanceRecord> record = parse_instance_record(*text);
  if (!record || record->instance.volume != volume) return std::optional<InstanceRecord>();
  return std::optional<InstanceRecord>(*std::move(record));
}

Result<std::optional<Process>> find_process(const InstanceRecord& record, const PidSpace& here) {
  if (record.space != here) return std::optional<Process>();
  return Process::find(record.pid, record.start_time);
}

}  // namespace cove::local
