#include <cstdlib>
#include <memory>

#include <unistd.h>

#include "base/system/standard_descriptors.hpp"
#include "cli/machine/interrupt.hpp"
#include "cli/program.hpp"

namespace {

std::optional<std::string> variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of this process changes its environment
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string current_directory() {
  const std::unique_ptr<char, decltype(&std::free)> path(::getcwd(nullptr, 0), &std::free);
  return path ? path.get() : "/";
}

}  // namespace

int main(int argc, char** argv) {
  cove::base::fill_standard_descriptors();
  const cove::cli::Interrupt interrupt;
  const cove::cli::Output output(STDOUT_FILENO, STDERR_FILENO);
  const cove::cli::Program program{
      .arguments = std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc),
      .surroundings = {variable, ::geteuid() == 0, current_directory()},
      .output = output,
      .stop = interrupt.token(),
      .signal = [&interrupt] { return interrupt.signal(); }};
  return cove::cli::run_program(program);
}
