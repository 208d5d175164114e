#include "host_process.hpp"

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace bench {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

HostProcess::HostProcess(std::vector<std::string> argv, std::vector<std::string> environment) {
  std::signal(SIGPIPE, SIG_IGN);
  for (char** word = environ; *word != nullptr; ++word) environment.emplace_back(*word);
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return;
  if (::pipe2(out, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  const auto words = pointers(argv);
  const auto variables = pointers(environment);
  if (::posix_spawnp(&pid_, words[0], &actions, nullptr, words.data(), variables.data()) != 0) {
    pid_ = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = ::fdopen(in[1], "w");
  from_ = ::fdopen(out[0], "r");
}

HostProcess::~HostProcess() {
  if (to_ != nullptr) std::fclose(to_);
  if (from_ != nullptr) std::fclose(from_);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

std::optional<double> HostProcess::ask(const std::string& line) {
  if (pid_ < 0 || to_ == nullptr || from_ == nullptr) return std::nullopt;
  if (std::fprintf(to_, "%s\n", line.c_str()) < 0 || std::fflush(to_) != 0) return std::nullopt;
  char answer[64];
  if (std::fgets(answer, sizeof answer, from_) == nullptr) return std::nullopt;
  return std::atof(answer);
}

}  // namespace bench
