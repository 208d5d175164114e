/// The help of prepare and skills.
#pragma once

#include <string_view>

namespace cove::cli {

inline constexpr std::string_view kPrepareHelp =
    R"(Make a workspace ready for a task, as an application's acquire does. What is done already is not
done again.

Usage: cove prepare --app ID --user U [--chat C] [OPTIONS]

Options:
  --init FILE         run this script in /workspace, by bash (sh where there is none), once for each
                      text, version and home; - reads it from stdin
  --init-version V    another version runs the same text again
  --input FILE        put a file of this machine into user_files of the chat; may be repeated
  --mirror NAME=URL   where a package manager gets its packages: npm, pypi, apt, go, cargo, maven or
                      rubygems; may be repeated. The next command without it takes it away again:
                      give it to `cove exec` too
  --skill VERSION     a skill that `cove skills add` keeps; may be repeated
  -e, --env NAME=VALUE    a variable for the script; may be repeated
  --time-zone ZONE, --locale LOCALE    such as Europe/Berlin and de_DE.UTF-8
  --report            print what became of each step
  --json              with --report: print it as one object
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Exit code: 0; 1 where a step failed that the workspace can do without, such as the script, now or
before so that its next try is still to come; 125 Cove's own.

Example:
  cove prepare --app demo --user ana --chat c1 --init setup.sh --input sales.csv --report
)";

inline constexpr std::string_view kSkillsHelp =
    R"(Skills: keep packages, and show what a model is told of those in a workspace.

Usage: cove skills add VERSION FILE
       cove skills list
       cove skills remove VERSION
       cove skills index --app ID --user U [--skill VERSION]... [OPTIONS]

A package is a zip, tar, tar.gz or tar.zst with a SKILL.md at its top, in a directory at its top,
or in one of skills/. VERSION is 1 to 64 of A-Z a-z 0-9 . _ - and names one content for ever. A
FILE of - is stdin.

index places the skills in the workspace and prints the block for a prompt.

Options:
  --skill VERSION     of index: a skill that was added; may be repeated
  --characters N      of index: the longest block; default 16000
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Exit code: 0; of index 1 where a skill is not in the workspace as it was published.

Examples:
  cove skills add pdf-3 pdf.zip
  cove skills index --app demo --user ana --skill pdf-3
)";

}  // namespace cove::cli
