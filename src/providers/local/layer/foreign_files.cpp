#include "providers/local/layer/foreign_files.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"
#include "providers/local/instance/process.hpp"
#include "providers/local/instance/quiet_start.hpp"
#include "providers/local/launcher/plan.hpp"
#include "providers/local/layer/subordinate_ids.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr std::chrono::milliseconds kBound = std::chrono::minutes(30);
constexpr const char* kDone = "done\n";

/// The volume as the program that is run finds it: the descriptor behind the plan's.
const std::string kVolume = "/proc/self/fd/4";
static_assert(kPlanFd == 3);

std::string plan_of(const SubordinateIds& ids, const std::string& script) {
  const std::array<std::string, 12> words = {"subordinate",
                                             ids.map_uids,
                                             ids.map_gids,
                                             std::to_string(ids.first_uid),
                                             std::to_string(ids.first_gid),
                                             std::to_string(SubordinateIds::kCount),
                                             "exec",
                                             "/bin/sh",
                                             "3",
                                             "sh",
                                             "-c",
                                             script};
  std::string plan;
  for (const std::string& word : words) plan.append(word.c_str(), word.size() + 1);
  return plan;
}

std::string text_in(int fd) {
  std::string text(4096, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Who reaps it is not known here, so that it worked is told by what it prints.
Result<void> run(int launcher, const SubordinateIds& ids, int volume, const std::string& commands) {
  const std::string script =
      "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; " + commands +
      " && echo done";
  COVE_TRY(const UniqueFd plan, sealed_memory("cove-plan", plan_of(ids, script)));
  const UniqueFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd output(::memfd_create("cove-output", MFD_CLOEXEC));
  const UniqueFd errors(::memfd_create("cove-errors", MFD_CLOEXEC));
  if (!input || !output || !errors) return system_error(errno, "make a file for output");
  const std::array descriptors = {*input, *output, *errors, *plan, volume};
  COVE_TRY(const UniqueFd started, start_quietly(launcher, {"cove-launcher"}, descriptors));
  COVE_TRY(const auto process, Process::behind(*started));
  if (process && !process->has_ended(kBound)) {
    process->send(SIGKILL);
    return Error(ErrorCode::kProvider, "work on the files of subordinate ids did not end");
  }
  reap_adopted(*started);
  if (text_in(*output) + "\n" == kDone) return ok();
  return Error(ErrorCode::kProvider,
               "files that belong to subordinate ids cannot be worked on: " + text_in(*errors));
}

std::string removal() {
  std::string command = "rm -rf --one-file-system";
  for (const char* part : {"workspace", "home", "system.new", "system"}) {
    command += " " + kVolume + "/" + part;
  }
  return command;
}

std::string taking_back() {
  return "find " + kVolume + "/workspace " + kVolume +
         "/home -xdev '(' ! -uid 0 -o ! -gid 0 ')' -execdir chown -h 0:0 '{}' +";
}

}  // namespace

ForeignWork foreign_work(LaunchToolbox& toolbox) {
  const auto as_root = [&toolbox](const std::string& commands, int volume) -> Result<void> {
    COVE_TRY(const LaunchTools* tools, toolbox.tools());
    COVE_TRY(const SubordinateIds ids, subordinate_ids());
    return run(*tools->image.launcher, ids, volume, commands);
  };
  return {.remove_parts = [as_root](int volume) { return as_root(removal(), volume); },
          .take_back = [as_root](int volume) { return as_root(taking_back(), volume); }};
}

}  // namespace cove::local
