// The part of a command that may be larger than a control payload, and what is checked of it.
#include <charconv>
#include <string>
#include <string_view>

#include "base/text/display_text.hpp"
#include "base/text/utf8.hpp"
#include "wire/command_request.hpp"

namespace cove::wire {
namespace {

void append(Bytes& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.push_back(std::byte{0});
}

/// Takes strings off the front of what pack_arguments made.
class Unpacker {
 public:
  explicit Unpacker(ByteView bytes)
      // SAFETY: bytes seen as characters.
      : rest_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  bool next(std::string_view& text) {
    const auto end = rest_.find('\0');
    if (end == std::string_view::npos) return false;
    text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool next_number(std::size_t& number) {
    std::string_view text;
    if (!next(text)) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool unpack(Unpacker& from, ExecSpec& spec) {
  std::size_t arguments = 0;
  std::size_t variables = 0;
  if (!from.next_number(arguments) || !from.next_number(variables)) return false;
  std::string_view text;
  for (; arguments > 0; --arguments) {
    if (!from.next(text)) return false;
    spec.argv.emplace_back(text);
  }
  for (; variables > 0; --variables) {
    std::string_view value;
    if (!from.next(text) || !from.next(value)) return false;
    spec.env.insert_or_assign(std::string(text), std::string(value));
  }
  return from.at_end();
}

Error invalid(const std::string& what) { return {ErrorCode::kInvalidArgument, what}; }

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

Result<void> check_program(const ExecSpec& spec) {
  if (!spec.shell_line.empty()) {
    if (!spec.argv.empty()) return invalid("a command is given by argv or by a shell's line");
    if (has_nul(spec.shell_line)) return invalid("the shell's line holds a NUL byte");
    return ok();
  }
  if (spec.argv.empty()) return invalid("a command needs at least a program");
  if (spec.argv.front().empty()) return invalid("the program's name is empty");
  for (const auto& argument : spec.argv) {
    if (has_nul(argument)) return invalid("an argument holds a NUL byte");
  }
  return ok();
}

Result<void> check_ranges(const ExecSpec& spec) {
  if (spec.output.head_bytes > kMaxKeptBytes || spec.output.tail_bytes > kMaxKeptBytes) {
    return invalid("at most " + std::to_string(kMaxKeptBytes) +
                   " bytes of head and of tail are kept; use a streamed command for more");
  }
  if (spec.kill_grace.count() < 0) return invalid("kill_grace is negative");
  if (spec.timeout && spec.timeout->count() < 0) return invalid("the timeout is negative");
  if (spec.quiet_timeout && spec.quiet_timeout->count() <= 0) {
    return invalid("quiet_timeout is not above 0");
  }
  if (spec.orphan_grace && spec.orphan_grace->count() < 0) {
    return invalid("orphan_grace is negative");
  }
  if (spec.niceness < 0 || spec.niceness > 19) return invalid("niceness is 0 to 19");
  if (spec.terminal && (spec.terminal->rows == 0 || spec.terminal->columns == 0)) {
    return invalid("a terminal has at least one row and one column");
  }
  return ok();
}

}  // namespace

Bytes pack_arguments(const ExecSpec& spec) {
  Bytes out;
  append(out, std::to_string(spec.argv.size()));
  append(out, std::to_string(spec.env.size()));
  for (const auto& argument : spec.argv) append(out, argument);
  for (const auto& [name, value] : spec.env) {
    append(out, name);
    append(out, value);
  }
  return out;
}

Result<void> unpack_arguments(ByteView bytes, ExecSpec& spec) {
  spec.argv.clear();
  spec.env.clear();
  Unpacker from(bytes);
  if (unpack(from, spec)) return ok();
  return Error(ErrorCode::kIntegrity, "wire: malformed arguments");
}

Result<void> check_exec(const ExecSpec& spec) {
  COVE_TRY_VOID(check_program(spec));
  for (const auto& [name, value] : spec.env) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name)) {
      return invalid("a variable's name is empty or holds '=' or NUL");
    }
    if (has_nul(value)) return invalid("the value of variable '" + name + "' holds a NUL byte");
  }
  if (has_nul(spec.cwd)) return invalid("the working directory's path holds a NUL byte");
  return check_ranges(spec);
}

Result<void> check_background(const ProcessOptions& options) {
  constexpr std::size_t kMaxName = 100;
  constexpr std::chrono::hours kLongestKeepAlive{24};
  if (options.name.size() > kMaxName || !base::is_utf8(options.name)) {
    return invalid("the name of a process is at most 100 bytes of UTF-8");
  }
  if (base::harmless(options.name) != options.name) {
    return invalid("the name of a process has no control characters");
  }
  if (options.keep_alive.count() < 0 || options.keep_alive > kLongestKeepAlive) {
    return invalid("keep_alive is 0 to 24 hours");
  }
  return ok();
}

}  // namespace cove::wire
