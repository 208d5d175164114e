/// The help of what reads, changes and searches files.
#pragma once

#include <string_view>

namespace cove::cli {

inline constexpr std::string_view kPutHelp = R"(Write a file of a workspace: whole or not at all.

Usage: cove put --app ID --user U [--chat C] [OPTIONS] LOCAL PATH

LOCAL is a file of this machine, or - for stdin. PATH is a path in the workspace: relative to the
chat's directory, or absolute below /workspace. A PATH that ends with / is a directory to put the
file in. Missing directories are made.

Options:
  --mode MODE         the file's mode, such as 0755; default: an existing file's, else 0644
  --durable           return when the file is on the disk
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Examples:
  cove put --app demo --user ana sales.csv data/sales.csv
  cove put --app demo --user ana --mode 0755 build.sh bin/
  date | cove put --app demo --user ana --chat c1 - now.txt
)";

inline constexpr std::string_view kGetHelp =
    R"(Read a file of a workspace, to stdout or into a file of this machine.

Usage: cove get --app ID --user U [--chat C] [OPTIONS] PATH [LOCAL]

PATH is a path in the workspace: relative to the chat's directory, or absolute below /workspace.
LOCAL is written whole or not at all; a directory gets a file of PATH's name; a link stays, and the
file that it leads to is replaced.

Options:
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Examples:
  cove get --app demo --user ana out/chart.svg chart.svg
  cove get --app demo --user ana --chat c2 ../c1/note.txt
  cove get --app demo --user ana data/sales.csv | head
)";

inline constexpr std::string_view kLsHelp =
    R"(List a directory of a workspace, sorted by the names' bytes.

Usage: cove ls --app ID --user U [--chat C] [OPTIONS] [PATH]

Without PATH it is the chat's directory, or /workspace. Control characters and bytes that are no
UTF-8 are shown as escapes (\n, \xff); a backslash as \\.

Options:
  -l                  also type, mode, size, time of change, and where a link leads
  --json              {"entries": [{"name", "type", "size", "mode", "modified", "link_target"}]};
                      a name that is no UTF-8 has its bytes in "name_hex"
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Examples:
  cove ls --app demo --user ana
  cove ls --app demo --user ana --chat c1 -l ..
)";

inline constexpr std::string_view kGrepHelp =
    R"(Find the lines of a workspace's files that match a pattern.

Usage: cove grep --app ID --user U [--chat C] [OPTIONS] PATTERN [PATH]

PATTERN is a regular expression of RE2's syntax, held against one line at a time. PATH is a directory
or a file; without it, it is the chat's directory, or /workspace. Lines come as PATH:LINE:TEXT, in one
order always, with paths as cove read takes them; bytes that cannot be shown as escapes. Passed over
are binary files, hidden ones, .git, and what .gitignore, .ignore and .coveignore say.

Options:
  -F, --literal       PATTERN is plain text
  -i, --ignore-case   upper and lower case are the same
  -w, --word          only whole words
  -A N, -B N, -C N    also N lines after, before, or around each match (--after, --before, --context)
  --include GLOB      only files that match; may be repeated
  --exclude GLOB      pass over files and directories that match; may be repeated
  --hidden            also what begins with a dot
  --no-ignore         also what ignore files hide
  --limit N           stop after N matching lines
  --json              {"lines": [...], "summary": {...}}; see docs/command.md
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Exit code: 0 where a line was found, 1 where none was, 125 Cove's own.

Examples:
  cove grep --app demo --user ana -F TODO
  cove grep --app demo --user ana --chat c1 -i --include '*.py' 'import\s+os' src
)";

inline constexpr std::string_view kFindHelp =
    R"(Find files and directories of a workspace by their names.

Usage: cove find --app ID --user U [--chat C] [OPTIONS] [GLOB [PATH]]

GLOB has * ? [a-z] {a,b} and ** for any number of directories; with a slash in it it is held against
the path below PATH, else against the name. Without GLOB everything is found. PATH is a directory;
without it, it is the chat's directory, or /workspace. Passed over are hidden files, .git, and what
.gitignore, .ignore and .coveignore say.

Options:
  --type TYPE         file, directory, symlink or other
  --min-size N, --max-size N    only files of so many bytes
  --changed-within T  only what changed in the last 30s, 10m, 24h
  --depth N           so many levels of directories; 1 = PATH's own entries
  --newest            the newest first: the --limit newest, 1000 without one
  --exclude GLOB      pass over what matches; may be repeated
  --hidden            also what begins with a dot
  --no-ignore         also what ignore files hide
  --limit N           stop after N
  -l                  also type, mode, size, time of change, and where a link leads
  --json              {"entries": [...], "summary": {...}}; see docs/command.md
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Examples:
  cove find --app demo --user ana '**/*_test.{py,js}'
  cove find --app demo --user ana --newest --limit 20 -l '*' data
)";

inline constexpr std::string_view kReadHelp = R"(Read lines of a file of a workspace.

Usage: cove read --app ID --user U [--chat C] [OPTIONS] PATH

At most 2,000 lines or 50 KiB at once; where there is more, a line on stderr says how to go on. For
whole files of any kind: cove get. What is no text is not shown on a terminal.

Options:
  --offset N          the first line, from 1
  --limit N           how many lines
  --json              text, first, lines, next, total_lines, cut, content_type, size, etag
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Example:
  cove read --app demo --user ana --offset 100 --limit 20 report.py
)";

inline constexpr std::string_view kWriteHelp =
    R"(Write a file of a workspace from stdin: whole or not at all.

Usage: cove write --app ID --user U [--chat C] [OPTIONS] PATH

Missing directories are made. For files of this machine: cove put.

Options:
  --append            add to its end instead, at most 16 MiB at once
  --if-absent         only where there is no such file
  --if-unchanged ETAG    only where the file is still the one of which `cove read --json` gave ETAG
  --mode MODE         the file's mode, such as 0755; default: an existing file's, else 0644
  --durable           return when the file is on the disk
  --json              path, size, etag
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Example:
  date | cove write --app demo --user ana --append log.txt
)";

inline constexpr std::string_view kEditHelp = R"(Replace text in a file of a workspace.

Usage: cove edit --app ID --user U [--chat C] [OPTIONS] PATH OLD NEW

OLD must be in the file exactly once, unless --all. Line ends of the file stay as they are; NEW has
those of what it replaces. The mode stays, and a read-only file is changed too. Words that begin with
a dash go after a --.

Options:
  --all               replace every OLD
  --if-unchanged ETAG    only where the file is still the one of which `cove read --json` gave ETAG
  --durable           return when the file is on the disk
  --json              path, size, etag, replaced, first_line
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Example:
  cove edit --app demo --user ana a.py 'x = 1' 'x = 2'
)";

}  // namespace cove::cli
