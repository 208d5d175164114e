#include "prepare/mirrors/guest_files.hpp"

#include <charconv>

#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t kChangedMeanwhile = 75;
constexpr std::uint64_t kMostOutput = 8ULL << 20U;

constexpr std::string_view kReading = R"sh(set -u
# A record: kind, bytes, path; then the bytes and a line end.
one() {
  [ -e "$1" ] || [ -L "$1" ] || return 0
  if [ ! -f "$1" ] || [ ! -r "$1" ]; then printf 'odd 0 %s\n\n' "$1"; return 0; fi
  size=$(wc -c < "$1")
  size=$((size + 0))
  if [ "$size" -gt 262144 ]; then printf 'odd 0 %s\n\n' "$1"; return 0; fi
  printf 'file %s %s\n' "$size" "$1"
  head -c "$size" < "$1"
  printf '\n'
}
printf 'home 0 %s\n\n' "$HOME"
for copy in "$HOME"/.cove/mirrors/*; do one "$copy"; done
)sh";

constexpr std::string_view kReadingApt = R"sh(
if [ "$(id -u)" = 0 ] && [ -w /etc/apt ];
then printf 'apt 0 .\n\n'; fi
one /etc/os-release
one /etc/apt/sources.list
for list in /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do one "$list"; done
)sh";

constexpr std::string_view kWriting = R"sh(set -eu
# Whether $f still has the content $1, followed by a dot; "-" = there is no file.
same() {
  if [ "$1" = - ]; then [ ! -e "$f" ]; else [ "$(cat -- "$f" && printf .)" = "$1" ]; fi
}
find_file() {
  f=$1
  if [ -L "$f" ] && [ -e "$f" ]; then f=$(readlink -f -- "$f"); fi
}
put() {
  find_file "$1"
  same "$3" || exit 75
  mkdir -p -- "$(dirname -- "$f")"
  rm -f -- "$f.cove-new"
  if [ -e "$f" ]; then cp -p -- "$f" "$f.cove-new"; fi
  umask "$2"
  printf %s "$4" > "$f.cove-new"
  umask 022
  mv -f -- "$f.cove-new" "$f"
}
drop() {
  find_file "$1"
  same "$2" || exit 75
  rm -f -- "$f"
}
)sh";

/// As one word of sh.
std::string word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

/// The output of a script that must end well.
Task<Result<std::string>> run_script(Guest& guest, const std::string& script,
                                     const CallContext& call) {
  ExecSpec spec;
  spec.argv = {"sh", "-s"};
  spec.stdin_data = script;
  spec.timeout = 30s;
  spec.output.head_bytes = kMostOutput;
  spec.output.tail_bytes = 4096;
  const std::string session;
  COVE_CO_TRY(const ExecResult result, co_await guest.run(session, spec, call));
  const auto* const exited = std::get_if<Exited>(&result.outcome);
  if (exited != nullptr && exited->code == kChangedMeanwhile) {
    co_return Error(ErrorCode::kConflict, "a configuration file was changed at the same time");
  }
  if (!result.succeeded()) {
    co_return Error(ErrorCode::kUnavailable,
                    "the command that looks after configuration files ended with " +
                        std::to_string(result.shell_code()))
        .with_context("output", base::escaped(result.err.text().substr(0, 500)));
  }
  if (result.out.dropped_bytes > 0) {
    co_return Error(ErrorCode::kTooLarge, "the configuration files have more than 8 MiB");
  }
  co_return result.out.head;
}

struct Header {
  std::string_view kind;
  std::size_t size = 0;
  std::string_view path;
};

std::optional<Header> parse_header(std::string_view line) {
  Header header;
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  header.kind = line.substr(0, first);
  const std::string_view number = line.substr(first + 1, second - first - 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), header.size);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  header.path = line.substr(second + 1);
  return header;
}

Error not_ours() {
  return {ErrorCode::kProvider, "the list of configuration files is not what was asked for"};
}

}  // namespace

std::string reading_script(const std::vector<std::string>& paths, bool apt) {
  std::string script(kReading);
  for (const std::string& path : paths) script += "one \"$HOME\"/" + word(path) + "\n";
  if (apt) script += kReadingApt;
  return script;
}

std::string writing_script(const std::vector<GuestFileChange>& changes) {
  std::string script(kWriting);
  for (const GuestFileChange& change : changes) {
    const std::string present = word(change.present ? *change.present + "." : "-");
    if (change.content) {
      script += "put " + word(change.path) + (change.for_all ? " 022 " : " 077 ") + present + " " +
                word(*change.content) + "\n";
    } else {
      script += "drop " + word(change.path) + " " + present + "\n";
    }
  }
  return script;
}

Result<GuestFilesFound> parse_found(std::string_view output) {
  GuestFilesFound found;
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    if (end == std::string_view::npos) return not_ours();
    const auto header = parse_header(output.substr(0, end));
    output.remove_prefix(end + 1);
    if (!header || output.size() < header->size + 1 || output[header->size] != '\n') {
      return not_ours();
    }
    const std::string path(header->path);
    if (header->kind == "home") found.home = path;
    if (header->kind == "apt") found.may_write_apt = true;
    if (header->kind == "odd") found.odd.insert(path);
    if (header->kind == "file") found.files[path] = output.substr(0, header->size);
    output.remove_prefix(header->size + 1);
  }
  if (!found.home.starts_with('/')) return not_ours();
  return found;
}

Task<Result<GuestFilesFound>> read_guest_files(Guest& guest, const std::vector<std::string>& paths,
                                               bool apt, const CallContext& call) {
  const std::string script = reading_script(paths, apt);
  COVE_CO_TRY(const std::string output, co_await run_script(guest, script, call));
  co_return parse_found(output);
}

Task<Result<void>> write_guest_files(Guest& guest, const std::vector<GuestFileChange>& changes,
                                     const CallContext& call) {
  const std::string script = writing_script(changes);
  COVE_CO_TRY_VOID(co_await run_script(guest, script, call));
  co_return ok();
}

}  // namespace cove::prepare
