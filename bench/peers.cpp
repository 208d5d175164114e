#include "peers.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace bench {
namespace {

constexpr const char* kImage = "cove-bench";

bool shell(const std::string& command) {
  return spawn_and_read({"/bin/sh", "-c", command + " && echo done"});
}

}  // namespace

bool spawn_and_read(const std::vector<std::string>& argv) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> raw;
  for (const auto& argument : argv) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, raw[0], &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::size_t total = 0;
  char buffer[4096];
  for (ssize_t got = 0; error == 0 && (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    total += static_cast<std::size_t>(got);
  }
  ::close(ends[0]);
  int status = -1;
  if (error != 0 || ::waitpid(pid, &status, 0) != pid) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && total > 0;
}

std::optional<Docker> Docker::find() {
  if (!shell("docker info >/dev/null 2>&1")) return std::nullopt;
  Docker docker;
  docker.container_ = "cove-bench-" + std::to_string(::getpid());
  const std::string make_image = "d=$(mktemp -d) && cp " BENCH_TRUE
                                 " $d/true && tar -C $d -c . | "
                                 "docker import - " +
                                 std::string(kImage) + " >/dev/null && rm -rf $d";
  // The container must stay up without a shell in the image: bench-true with an argument waits.
  if (!shell(make_image) || !shell("docker run -d --network none --name " + docker.container_ +
                                   " " + kImage + " /true wait >/dev/null")) {
    return std::nullopt;
  }
  return docker;
}

std::vector<std::string> Docker::exec_command() const {
  return {"docker", "exec", container_, "/true"};
}

std::vector<std::string> Docker::run_command() const {
  return {"docker", "run", "--rm", "--network", "none", kImage, "/true"};
}

void Docker::remove() const { shell("docker rm -f " + container_ + " >/dev/null 2>&1"); }

}  // namespace bench
