// cove-torture: eight processes use thirty workspaces of one state directory at random, and every
// second one of them is killed (SIGKILL) and another takes its place. Afterwards no acknowledged
// file may be missing, and nothing may be left on the machine.
//
//   cove-torture [--seconds N] [--seed N] [--json]
//
// Exit code 0: all is well. 1: something is wrong, and is named. 2: wrong arguments.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aftermath.hpp"
#include "notes.hpp"
#include "worker.hpp"

namespace {

using namespace torture;
using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

struct Options {
  long seconds = 60;
  std::uint64_t seed = 1;
  bool json = false;
};

struct Child {
  pid_t pid = -1;
  int notes = -1;
};

class Torture {
 public:
  Torture(const Options& options, Place place)
      : options_(options), place_(std::move(place)), random_(options.seed) {}

  /// Returns how much was wrong while it lasted.
  std::size_t run() {
    const Time end = std::chrono::steady_clock::now() + std::chrono::seconds(options_.seconds);
    Time next_kill = std::chrono::steady_clock::now() + 1s;
    for (Child& child : children_) child = start(end);
    while (std::chrono::steady_clock::now() < end) {
      listen(next_kill);
      if (std::chrono::steady_clock::now() < next_kill) continue;
      next_kill += 1s;
      Child& victim = children_[random_() % children_.size()];
      kill_one(victim);
      victim = start(end);
    }
    for (Child& child : children_) finish(child);
    return wrong_;
  }

  const Written& written() const { return written_; }

  std::string summary() const {
    std::size_t files = 0;
    for (const auto& [user, all] : written_) files += all.size();
    return std::to_string(files) + " files written, " + std::to_string(done_) +
           " other calls done, " + std::to_string(refused_) + " refused, " +
           std::to_string(killed_) + " processes killed";
  }

  std::string json() const {
    std::size_t files = 0;
    for (const auto& [user, all] : written_) files += all.size();
    return "\"files\": " + std::to_string(files) + ", \"other_calls\": " + std::to_string(done_) +
           ", \"refused\": " + std::to_string(refused_) +
           ", \"killed\": " + std::to_string(killed_);
  }

 private:
  Child start(Time end) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    const std::uint64_t number = ++started_;
    const std::uint64_t seed = random_();
    std::fflush(stdout);
    const pid_t pid = ::fork();
    if (pid < 0) std::abort();
    if (pid == 0) {
      // Nobody listens where the one who kills has died; the worker then ends by its time.
      ::signal(SIGPIPE, SIG_IGN);
      for (const Child& other : children_) ::close(other.notes);
      ::close(ends[0]);
      ::_exit(work(place_, number, seed, ends[1], end));
    }
    ::close(ends[1]);
    return Child{pid, ends[0]};
  }

  void kill_one(Child& child) {
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    ++killed_;
    drain(child);
  }

  /// Waits for a worker whose time is over.
  void finish(Child& child) {
    const Time limit = std::chrono::steady_clock::now() + 90s;
    for (;;) {
      drain_some(child, 100ms);
      int status = 0;
      if (::waitpid(child.pid, &status, WNOHANG) == child.pid) {
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
          report(wrong(0, "a worker ended with status " + std::to_string(status)));
        }
        break;
      }
      if (std::chrono::steady_clock::now() < limit) continue;
      report(wrong(0, "a worker did not end by itself"));
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, nullptr, 0);
      break;
    }
    drain(child);
  }

  void listen(Time until) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    std::vector<pollfd> fds;
    for (const Child& child : children_) fds.push_back({child.notes, POLLIN, 0});
    const auto wait = std::clamp<std::int64_t>(left.count(), 0, 1000);
    if (::poll(fds.data(), fds.size(), static_cast<int>(wait)) <= 0) return;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if ((fds[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      if (read_one(children_[i])) continue;
      // It ended by itself before its time: that is told by finish().
      if (std::exchange(children_[i].notes, -1) >= 0) ::close(fds[i].fd);
    }
  }

  void drain_some(Child& child, std::chrono::milliseconds wait) {
    pollfd fd{child.notes, POLLIN, 0};
    if (::poll(&fd, 1, static_cast<int>(wait.count())) > 0) read_one(child);
  }

  /// Reads all that a dead worker had written.
  void drain(Child& child) {
    while (read_one(child)) {
    }
    if (child.notes >= 0) ::close(child.notes);
    child.notes = -1;
  }

  bool read_one(Child& child) {
    Note note;
    if (::read(child.notes, &note, sizeof note) != static_cast<ssize_t>(sizeof note)) return false;
    report(note);
    return true;
  }

  void report(const Note& note) {
    switch (note.kind) {
      case Note::Kind::kWritten: written_[note.user].insert(note.file); return;
      case Note::Kind::kDone: ++done_; return;
      case Note::Kind::kRefused: ++refused_; return;
      case Note::Kind::kWrong: break;
    }
    ++wrong_;
    std::printf("WRONG: %s: %s\n", key_of(note.user).user_id.c_str(), note.text);
  }

  Options options_;
  Place place_;
  std::mt19937_64 random_;
  std::array<Child, kProcesses> children_;
  Written written_;
  std::uint64_t started_ = 0;
  std::size_t done_ = 0;
  std::size_t refused_ = 0;
  std::size_t killed_ = 0;
  std::size_t wrong_ = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--seconds" && i + 1 < argc) {
      options.seconds = std::strtol(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < argc) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      return false;
    }
  }
  return options.seconds > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs("usage: cove-torture [--seconds N] [--seed N] [--json]\n", stderr);
    return 2;
  }
  const char* place_for = std::getenv("TMPDIR");
  std::string directory =
      std::string(place_for != nullptr ? place_for : "/tmp") + "/cove-torture.XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return 2;
  const Place place{directory + "/state", "cove-torture-" + std::to_string(::getpid())};
  const auto start = std::chrono::steady_clock::now();
  Torture all(options, place);
  std::size_t wrong_count = all.run();
  const auto lines = check_aftermath(place, all.written());
  for (const std::string& line : lines) std::printf("WRONG: %s\n", line.c_str());
  wrong_count += lines.size();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%s; %zu wrong, %.0f s\n", all.summary().c_str(), wrong_count, took.count());
  if (options.json) {
    std::printf("{\"seconds\": %.0f, %s, \"findings\": %zu}\n", took.count(), all.json().c_str(),
                wrong_count);
  }
  remove_cgroup_parent(place);
  if (wrong_count > 0) {
    std::printf("kept for a look: %s\n", directory.c_str());
    return 1;
  }
  std::filesystem::remove_all(directory);
  return 0;
}
