#include <cove/exec.hpp>

#include "base/text/utf8.hpp"
#include "base/values/outcome_name.hpp"

namespace cove {
namespace {

struct ShellCode {
  std::int32_t operator()(const Exited& exited) const { return exited.code; }
  std::int32_t operator()(const Signaled& signaled) const { return 128 + signaled.signal; }
  std::int32_t operator()(const TimedOut&) const { return 124; }
  std::int32_t operator()(const Cancelled&) const { return 130; }
  std::int32_t operator()(const OutputLimitReached&) const { return 137; }
  std::int32_t operator()(const OutOfMemory&) const { return 137; }
  std::int32_t operator()(const CpuLimitReached&) const { return 137; }
};

struct Name {
  const char* operator()(const Exited&) const { return "exited"; }
  const char* operator()(const Signaled&) const { return "signaled"; }
  const char* operator()(const TimedOut&) const { return "timed_out"; }
  const char* operator()(const Cancelled&) const { return "cancelled"; }
  const char* operator()(const OutputLimitReached&) const { return "output_limit"; }
  const char* operator()(const OutOfMemory&) const { return "out_of_memory"; }
  const char* operator()(const CpuLimitReached&) const { return "cpu_limit"; }
};

}  // namespace

const char* base::outcome_name(const Outcome& outcome) noexcept {
  return std::visit(Name{}, outcome);
}

std::string StreamOutput::text() const {
  if (dropped_bytes == 0) return base::marked_utf8(head + tail);
  std::string text = base::marked_utf8(head);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "[" + std::to_string(dropped_bytes) + " bytes left out]\n";
  return text + base::marked_utf8(tail);
}

bool ExecResult::succeeded() const noexcept {
  const auto* exited = std::get_if<Exited>(&outcome);
  return exited != nullptr && exited->code == 0;
}

std::int32_t ExecResult::shell_code() const noexcept { return std::visit(ShellCode{}, outcome); }

}  // namespace cove
