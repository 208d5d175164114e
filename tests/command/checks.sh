# What the stories of the `cove` command share; a story gets it by `source`, with COVE_COMMAND as its $1.
# It gives `cove`, a COVE_HOME and a `scratch` of its own, and takes both away at the end.
set -uo pipefail

cove=$1
export COVE_HOME
scratch=$(mktemp -d)
COVE_HOME=$scratch/home
failures=0

cleanup() {
  "$cove" list --json 2>/dev/null | grep -o '"sandbox_id": *"[^"]*"' | cut -d'"' -f4 |
    while read -r id; do "$cove" destroy --sandbox "$id" --yes >/dev/null 2>&1; done
  rm -rf "$scratch"
}
trap cleanup EXIT

# check NAME EXPECTED_STATUS EXPECTED_OUTPUT COMMAND...: exact output (a trailing newline aside).
check() {
  local name=$1 want_status=$2 want=$3 got status
  shift 3
  got=$("$@" 2>"$scratch/stderr.now")
  status=$?
  case $1 in
    "$cove" | given | pick) mv "$scratch/stderr.now" "$scratch/stderr" ;;  # what cove said last
  esac
  if [ "$status" -ne "$want_status" ] || [ "$got" != "$want" ]; then
    printf 'FAILED: %s\n  wanted %s and %q\n  got    %s and %q\n  stderr %s\n' \
      "$name" "$want_status" "$want" "$status" "$got" "$(cat "$scratch"/stderr*)"
    failures=$((failures + 1))
  else
    printf 'ok: %s\n' "$name"
  fi
}

# given TEXT COMMAND...: the command with TEXT, and a line end, as its stdin.
given() {
  local text=$1
  shift
  "$@" <<<"$text"
}

# pick EXPRESSIONS COMMAND...: what Python prints of EXPRESSIONS, in which `o` is the JSON that the command prints.
# The status is the command's.
pick() {
  local expressions=$1
  shift
  "$@" | python3 -c 'import json,sys; o=json.load(sys.stdin); exec(f"print({sys.argv[1]})")' "$expressions"
  return "${PIPESTATUS[0]}"
}

# The last line of a story.
tell_failures() {
  [ "$failures" -gt 0 ] || exit 0
  echo "$failures checks failed"
  exit 1
}
