#!/usr/bin/env bash
# What looks after workspaces, from a shell: cove prepare, skills, list, sweep, doctor --orphans, and --timeout.
# Usage: deployment.sh COVE_COMMAND
source "$(dirname "$0")/checks.sh"

ana=(--app demo --user ana --chat c1)
said() { grep -cF -e "$1" "$scratch/stderr"; }  # in how many lines of what cove said last
error_code() { pick 'o["code"]' cat "$scratch/stderr"; }
without_times() { "$@" | sed -E 's/ +[0-9]+ ms/  N ms/; s/in [0-9]+ s$/in N s/'; return "${PIPESTATUS[0]}"; }

# prepare
echo 'echo "$GREETING" > made; echo run >> runs' >"$scratch/init.sh"
echo 'echo so far; exit 3' >"$scratch/bad.sh"
echo 1,2 >"$scratch/sales.csv"
ready=("$cove" prepare "${ana[@]}" --init "$scratch/init.sh" --input "$scratch/sales.csv" -e GREETING=hello)
check "prepare --report says what was done" 0 "directories/sessions/c1  applied  N ms
input_files/sessions/c1  applied  N ms  1 written, 0 there already
app_init                 applied  N ms
/workspace/sessions/c1/user_files/sales.csv" without_times "${ready[@]}" --report
check "  did it" 0 $'hello\n1,2' \
  "$cove" exec "${ana[@]}" -- cat /workspace/made user_files/sales.csv
check "  does it once" 0 "directories/sessions/c1  skipped  N ms  unchanged
input_files/sessions/c1  skipped  N ms  unchanged
app_init                 skipped  N ms  unchanged
/workspace/sessions/c1/user_files/sales.csv" without_times "${ready[@]}" --report
check "  --json" 0 "unchanged False ['sessions/c1/user_files/sales.csv'] True" \
  pick 'o["path"], o["failed"], o["input_files"], o["duration_ms"] >= o["waited_ms"] >= 0' \
  "${ready[@]}" --report --json
check "  has every step" 0 "directories skipped required unchanged
input_files skipped required unchanged
app_init skipped best_effort unchanged" \
  pick '*[" ".join(s[k] for k in ("stage", "outcome", "policy", "reason")) for s in o["steps"]], sep="\n"' \
  "${ready[@]}" --report --json
check "  without --report says nothing" 0 "" "${ready[@]}"
check "  of another version runs again" 0 "" "${ready[@]}" --init-version 2
check "  so twice in all" 0 $'run\nrun' "$cove" exec "${ana[@]}" -- cat /workspace/runs
check "  a script from stdin" 0 "" \
  given 'touch /workspace/piped' "$cove" prepare "${ana[@]}" --init -
check "  has run" 0 /workspace/piped "$cove" exec "${ana[@]}" -- ls /workspace/piped
check "  a script that fails is 1, and the workspace is there" 1 "directories/sessions/c1  skipped  N ms  unchanged
app_init                 failed  N ms  the script ended with exit code 3; tried again in N s
    so far" \
  without_times "$cove" prepare "${ana[@]}" --init "$scratch/bad.sh" --report
check "  also while its next try is to come" 1 "skipped True" \
  pick 'o["steps"][-1]["outcome"], o["steps"][-1]["retry_after_ms"] > 0' \
  "$cove" prepare "${ana[@]}" --init "$scratch/bad.sh" --report --json
check "  with the error and the output" 1 "True failed failed_precondition so far" \
  pick 'o["failed"], (s := o["steps"][-1])["outcome"], s["error"]["code"], s["output"].strip()' \
  "$cove" prepare "${ana[@]}" --init "$scratch/bad.sh" --init-version 2 --report --json
check "  a script that there is not" 125 "" "$cove" prepare "${ana[@]}" --init "$scratch/none.sh"
check "  is named" 0 1 said "none.sh"
check "  an input that there is not" 125 "" "$cove" prepare "${ana[@]}" --input "$scratch/none.csv"
check "  is named" 0 1 said "none.csv"
check "  a skill that there is not" 125 "" "$cove" prepare "${ana[@]}" --json --skill none
check "  is not found" 0 not_found error_code
check "  a mirror of no package manager" 125 "" "$cove" prepare "${ana[@]}" --json --mirror none=http://x
check "  is an invalid argument" 0 invalid_argument error_code

# skills
package() { # package NAME FRONT_MATTER
  mkdir -p "$scratch/$1" && printf -- '---\n%s\n---\n# How\n' "$2" >"$scratch/$1/SKILL.md" &&
    tar -czf "$scratch/$1.tar.gz" -C "$scratch" "$1"
}
package pdf $'name: pdf\ndescription: Reads PDF forms.'
package nameless 'name: pdf'
package other $'name: pdf\ndescription: Another one.'
index=("$cove" skills index "${ana[@]}" --skill pdf-3)
check "skills list of none" 0 "" "$cove" skills list
check "skills add" 0 $'added pdf-3  54 B\n  pdf  Reads PDF forms.' \
  "$cove" skills add pdf-3 "$scratch/pdf.tar.gz"
check "  the same again is the same" 0 $'added pdf-3  54 B\n  pdf  Reads PDF forms.' \
  "$cove" skills add pdf-3 "$scratch/pdf.tar.gz"
check "  from stdin, --json" 0 "pdf-4 54 1 64 64 $(stat -c %s "$scratch/pdf.tar.gz") pdf/SKILL.md" \
  pick 'o["version_id"], o["content_bytes"], o["files"], len(o["sha256"]), len(o["content_hash"]), o["packed_bytes"], o["skills"][0]["path"]' \
  sh -c '"$0" skills add --json pdf-4 - <"$1"' "$cove" "$scratch/pdf.tar.gz"
check "  another content" 125 "" "$cove" skills add --json pdf-3 "$scratch/other.tar.gz"
check "  exists already" 0 already_exists error_code
check "  without a description" 125 "" "$cove" skills add bad-1 "$scratch/nameless.tar.gz"
check "  says where it lacks it" 0 1 said "nameless/SKILL.md of skill 'bad-1':1: the front matter has no 'description'"
check "  of what is no package" 125 "" "$cove" skills add --json bad-1 "$scratch/sales.csv"
check "  is an invalid argument" 0 invalid_argument error_code
check "  under a wrong version" 125 "" "$cove" skills add 'a b' "$scratch/pdf.tar.gz"
check "  of a file that there is not" 125 "" "$cove" skills add pdf-5 "$scratch/none.zip"
check "  without a file" 125 "" "$cove" skills add pdf-5
check "  says its form" 0 1 said "it is: cove skills add VERSION FILE"
check "skills list" 0 $'pdf-3  54 B\n  pdf  Reads PDF forms.\npdf-4  54 B\n  pdf  Reads PDF forms.' \
  "$cove" skills list
check "  --json" 0 "pdf-3 pdf-4" pick '*[p["version_id"] for p in o["packages"]]' "$cove" skills list --json
block='<available_skills>
<skill><name>pdf</name><description>Reads PDF forms.</description><location>/workspace/skills/pdf-3/pdf/SKILL.md</location></skill>
</available_skills>'
check "skills index prints the block for a prompt" 0 "$block" "${index[@]}"
check "  --json" 0 "[] True pdf pdf-3 /workspace/skills/pdf-3/pdf/SKILL.md" \
  pick 'o["problems"], o["prompt"].startswith("<available"), (s := o["skills"][0])["name"], s["version_id"], s["location"]' \
  "${index[@]}" --json
check "  has placed the skill" 0 "# How" \
  "$cove" exec "${ana[@]}" -- tail -n 1 /workspace/skills/pdf-3/pdf/SKILL.md
check "  within --characters" 0 "" "${index[@]}" --characters 10
check "  of none" 0 "" "$cove" skills index "${ana[@]}"
check "  of one that there is not" 125 "" "$cove" skills index "${ana[@]}" --json --skill none
check "  is not found" 0 not_found error_code
"$cove" exec "${ana[@]}" -- sh -c 'echo more >> /workspace/skills/pdf-3/pdf/SKILL.md'
check "  is 1 where the skill was changed inside, and does not list it" 1 "[] True" \
  pick 'o["skills"], "as it was published" in o["problems"][0]' "${index[@]}" --json
check "skills remove" 0 "removed pdf-3" "$cove" skills remove pdf-3
check "  --json" 0 "pdf-4 True" pick 'o["version_id"], o["removed"]' "$cove" skills remove --json pdf-4
check "  of one that there is not" 125 "" "$cove" skills remove --json pdf-3
check "  is not found" 0 not_found error_code
check "  keeps its version for its content" 125 "" "$cove" skills add --json pdf-3 "$scratch/other.tar.gz"
check "  which exists already" 0 already_exists error_code
check "  and takes that again" 0 $'added pdf-3  54 B\n  pdf  Reads PDF forms.' \
  "$cove" skills add pdf-3 "$scratch/pdf.tar.gz"
check "skills alone" 125 "" "$cove" skills
check "  says its forms" 0 1 said "skills takes add VERSION FILE, list, remove VERSION, or index"

# exec --timeout
check "a command that runs longer than --timeout is 124, with what it printed" 124 up \
  "$cove" exec "${ana[@]}" --timeout 1s -- sh -c 'echo up; exec sleep 1000'
check "  and says so" 0 1 said "the command timed out"
check "  --json" 124 "timed_out 124 None up" \
  pick 'o["outcome"], o["exit_code"], o["signal"], o["stdout"].strip()' \
  "$cove" exec "${ana[@]}" --timeout 1s --json -- sh -c 'echo up; exec sleep 1000'
check "  124 of a command itself is only its own" 124 "" "$cove" exec "${ana[@]}" -- sh -c 'exit 124'
check "  without a word" 0 "" cat "$scratch/stderr"

# list
"$cove" exec --app demo --user bob -- true
"$cove" exec --source-type chat --source-id x/y --user bob -- true
"$cove" stop --app demo --user bob >/dev/null
listed() { pick '*sorted(" ".join((s["source_type"], s["source_id"], s["user_id"], s["state"])) for s in o["sandboxes"]), sep=", "' \
  "$cove" list --json "$@"; }
check "list has all" 0 "app demo ana running, app demo bob stopped, chat x/y bob running" listed
check "  of an app" 0 "app demo ana running, app demo bob stopped" listed --app demo
check "  of a source" 0 "chat x/y bob running" listed --source chat/x/y
check "  of a source in two parts" 0 "chat x/y bob running" listed --source-type chat --source-id x/y
check "  of a user" 0 "app demo bob stopped, chat x/y bob running" listed --user bob
check "  of a user in an app" 0 "app demo bob stopped" listed --app demo --user bob
check "  of nobody" 0 "" listed --user eve
id_of() { "$cove" status --json "$@" | grep -o '"sandbox_id":"[^"]*"' | cut -d'"' -f4; }
bob=$(id_of --app demo --user bob)
ana_id=$(id_of --app demo --user ana)
check "  of a sandbox" 0 "app demo bob stopped" listed --sandbox "$bob"
check "  for people: a line each, and a heading" 0 "SANDBOX STATE LAST
$bob stopped app/demo" \
  sh -c '"$0" list --sandbox "$1" | awk "NR == 1 { print \$1, \$2, \$3 } NR > 1 { print \$1, \$2, \$(NF - 1) }"' "$cove" "$bob"
check "  for people nothing where there is none" 0 "" "$cove" list --user eve

# sweep: a config whose times are over at once makes everything idle.
echo '{"lifecycle": {"stop_after_s": 0}}' >"$scratch/idle.json"
echo '{"lifecycle": {"stop_after_s": 0, "archive_after_s": 0}}' >"$scratch/old.json"
echo '{"lifecycle": {"stop_afterwards_s": 0}}' >"$scratch/wrong.json"
counts='*[f"{k} {o[k]}" for k in ("examined", "stopped", "archived", "recovered", "lost", "deleted", "skipped", "errors")], sep=", "'
none="recovered 0, lost 0, deleted 0, skipped 0, errors []"
check "sweep leaves alone what is in use or was lately" 0 "examined 0, stopped 0, archived 0, $none" \
  pick "$counts" "$cove" sweep --json
check "sweep --dry-run says what it would do" 0 "True 2 2" \
  pick '{"sandbox_id": "'"$ana_id"'", "action": "stop"} in o["planned"], len(o["planned"]), o["stopped"]' \
  "$cove" sweep --config "$scratch/idle.json" --dry-run --json
check "  for people" 0 "would stop $ana_id" \
  sh -c '"$0" sweep --config "$1" --dry-run | grep -- "$2"' "$cove" "$scratch/idle.json" "$ana_id"
check "  and does nothing" 0 "app demo ana running, app demo bob stopped, chat x/y bob running" listed
check "sweep stops what is idle" 0 "examined 2, stopped 2, archived 0, $none" \
  pick "$counts" "$cove" sweep --config "$scratch/idle.json" --json
check "  all of it" 0 "app demo ana stopped, app demo bob stopped, chat x/y bob stopped" listed
check "sweep archives what was stopped for long" 0 \
  "examined 3: stopped 0, archived 3, recovered 0, lost 0, removed 0, skipped 0" \
  "$cove" sweep --config "$scratch/old.json"
check "  all of it" 0 "app demo ana archived, app demo bob archived, chat x/y bob archived" listed
check "  and then there is nothing to do" 0 "examined 0, stopped 0, archived 0, $none" \
  pick "$counts" "$cove" sweep --config "$scratch/old.json" --json
check "  with a setting that there is not" 125 "" "$cove" sweep --config "$scratch/wrong.json"
check "  says which there are" 0 1 said 'lifecycle.stop_afterwards_s is not a key; known there: '
check "  what it archived wakes" 0 hello "$cove" exec "${ana[@]}" -- cat /workspace/made

# doctor --orphans
orphans() { pick "$1" "$cove" doctor --orphans --json; }
check "doctor --orphans of none" 0 "no orphans" "$cove" doctor --orphans
check "  --json" 0 "{'foreign_instances': [], 'foreign_volumes': [], 'instances': [], 'volumes': []}" orphans o
volume=$(find "$COVE_HOME/volumes" -name "$ana_id")
lost=app-00000000000000000000000000000000
stranger=00000000000000000000000000000000
generation=$(ls "$volume")
mkdir -p "$COVE_HOME/volumes/$stranger"
cp -a "$volume" "$COVE_HOME/volumes/$stranger/$lost"
cp -a "$volume" "$(dirname "$volume")/$lost"
check "  a volume that no record names" 0 "volume    $lost  generation $generation  at local
foreign volume    $lost  generation $generation  at local  of deployment $stranger" "$cove" doctor --orphans
keys='("sandbox_id", "generation", "provider", "deployment")'
check "  --json" 0 "$lost $generation local $(basename "$(dirname "$volume")")" \
  orphans "*[v[k] for v in o['volumes'] for k in $keys]"
check "  of a stranger too" 0 "$lost $generation local $stranger" \
  orphans "*[v[k] for v in o['foreign_volumes'] for k in $keys]"
check "  and no instances" 0 "[] []" orphans 'o["instances"], o["foreign_instances"]'
check "  and nothing is deleted" 0 hello \
  sh -c 'find "$1" -path "*$2*" -name made -exec cat {} + | uniq' sh "$COVE_HOME/volumes" "$lost"

tell_failures
