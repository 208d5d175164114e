#include "peers.hpp"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace bench {
namespace {

constexpr const char* kImage = "cove-bench";

/// The engine's socket: DOCKER_HOST where that is one, else the usual place.
std::string engine_socket() {
  const char* host = std::getenv("DOCKER_HOST");
  if (host == nullptr) return "/var/run/docker.sock";
  const std::string_view text = host;
  constexpr std::string_view kScheme = "unix://";
  return text.starts_with(kScheme) ? std::string(text.substr(kScheme.size())) : std::string();
}

/// One request on a connection of its own; the whole answer, headers too.
std::optional<std::string> ask_engine(const std::string& method, const std::string& path,
                                      const std::string& body) {
  const std::string socket_path = engine_socket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.empty() || socket_path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;
  const std::string request = method + " /v1.41" + path +
                              " HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\n"
                              "Connection: close\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  std::string answer;
  const bool sent =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size());
  char buffer[4096];
  for (ssize_t got = 0; sent && (got = ::read(fd, buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(fd);
  if (!answer.starts_with("HTTP/1.1 20") && !answer.starts_with("HTTP/1.1 101")) {
    return std::nullopt;
  }
  return answer;
}

std::optional<std::string> between(const std::string& text, const std::string& before,
                                   const std::string& after) {
  const auto at = text.find(before);
  if (at == std::string::npos) return std::nullopt;
  const auto start = at + before.size();
  return text.substr(start, text.find(after, start) - start);
}

}  // namespace

bool spawn_and_read(const std::vector<std::string>& argv,
                    const std::function<void(std::string_view)>& sink) {
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
  thread_local char buffer[64 * 1024];
  for (ssize_t got = 0; error == 0 && (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    sink({buffer, static_cast<std::size_t>(got)});
  }
  ::close(ends[0]);
  int status = -1;
  if (error != 0 || ::waitpid(pid, &status, 0) != pid) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool shell(const std::string& command) {
  return spawn_and_read({"/bin/sh", "-c", command + " && echo done"});
}

bool spawn_and_read(const std::vector<std::string>& argv) {
  std::size_t total = 0;
  return spawn_and_read(argv, [&](std::string_view piece) { total += piece.size(); }) && total > 0;
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

bool Docker::exec_by_api() const {
  const std::string command = R"({"AttachStdout":true,"AttachStderr":true,"Cmd":["/true"]})";
  const auto made = ask_engine("POST", "/containers/" + container_ + "/exec", command);
  const auto id = made ? between(*made, "\"Id\":\"", "\"") : std::nullopt;
  if (!id) return false;
  const auto output =
      ask_engine("POST", "/exec/" + *id + "/start", R"({"Detach":false,"Tty":false})");
  if (!output || output->find("ok\n") == std::string::npos) return false;
  const auto ended = ask_engine("GET", "/exec/" + *id + "/json", "");
  return ended && between(*ended, "\"ExitCode\":", ",") == "0";
}

void Docker::remove() const { shell("docker rm -f " + container_ + " >/dev/null 2>&1"); }

}  // namespace bench
