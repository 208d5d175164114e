/// A program that does what each line of its stdin names and answers with one figure.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bench {

class HostProcess {
 public:
  /// Starts it with `environment` ("NAME=value") beside its own.
  HostProcess(std::vector<std::string> argv, std::vector<std::string> environment);
  /// Closes its stdin and waits until it has ended.
  ~HostProcess();
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  /// Nothing: it could not be started, or has ended.
  std::optional<double> ask(const std::string& line);

 private:
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace bench
