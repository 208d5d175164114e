#include <algorithm>
#include <charconv>
#include <csignal>
#include <iterator>

#include "base/text/display_text.hpp"
#include "cli/arguments/request.hpp"

namespace cove::cli {
namespace {

struct Name {
  std::string_view name;
  std::int32_t number;
};

constexpr Name kNames[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},    {"QUIT", SIGQUIT}, {"ABRT", SIGABRT}, {"KILL", SIGKILL},
    {"USR1", SIGUSR1}, {"USR2", SIGUSR2},  {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM},
    {"CHLD", SIGCHLD}, {"CONT", SIGCONT},  {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU}, {"WINCH", SIGWINCH}};

constexpr std::int32_t kMostSignal = 64;

}  // namespace

Result<std::int32_t> parse_signal(std::string_view text) {
  std::string_view name = text;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  const auto* known = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const Name& entry) { return entry.name == name; });
  if (known != std::end(kNames)) return known->number;
  std::int32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure == std::errc() && stop == end && number >= 1 && number <= kMostSignal) return number;
  return Error(ErrorCode::kInvalidArgument,
               "a signal is a name such as TERM, INT or HUP, or a number from 1 to 64, not " +
                   base::quoted(text));
}

}  // namespace cove::cli
