#!/usr/bin/env bash
# The `cove` command end to end, on the real local provider: what its users were promised.
# Usage: story.sh COVE_COMMAND
source "$(dirname "$0")/checks.sh"

check "what only looks makes no Cove" 125 "" "$cove" list
check "  and says where there is none" 0 1 grep -c "there is no Cove in '$COVE_HOME'" "$scratch/stderr"
check "doctor works before the first use" 0 "" sh -c '"$0" doctor >/dev/null' "$cove"
check "  without making anything" 1 "" sh -c 'ls -A "$1" | grep -v stderr' sh "$scratch"

ana=(--app demo --user ana)
bob=(--app demo --user bob)

check "a chat works in a directory of its own" 0 /workspace/sessions/c1 \
  "$cove" exec "${ana[@]}" --chat c1 -- sh -c 'echo hello > note.txt; pwd'
check "another chat of the user sees it" 0 hello \
  "$cove" exec "${ana[@]}" --chat c2 -- cat /workspace/sessions/c1/note.txt
done_word() { "$@" --json | python3 -c 'import json,sys; o=json.load(sys.stdin); print(o["done"], o["state"])'; }
check "stop" 0 "stopped stopped" done_word "$cove" stop "${ana[@]}"
check "  is said to be so already the next time" 0 "None stopped" done_word "$cove" stop "${ana[@]}"
check "archive" 0 "archived archived" done_word "$cove" archive "${ana[@]}"
check "  is so already the next time" 0 "None archived" done_word "$cove" archive "${ana[@]}"
check "  also for a stop" 0 "None archived" done_word "$cove" stop "${ana[@]}"
check "  and in words" 0 1 sh -c '"$0" archive --app demo --user ana | grep -c "is archived already; nothing was done"' "$cove"
mv "$COVE_HOME/objects" "$COVE_HOME/objects.away" && mkdir -m 700 "$COVE_HOME/objects"
check "an archive that was lost does not wake" 125 "" "$cove" exec "${ana[@]}" -- true
check "  and the error says what can be done" 0 1 grep -c 'hint: nothing was deleted: bring the object back' "$scratch/stderr"
rm -rf "$COVE_HOME/objects" && mv "$COVE_HOME/objects.away" "$COVE_HOME/objects"
check "the record says archived" 0 archived \
  sh -c '"$0" status --app demo --user ana --json | python3 -c "import json,sys; print(json.load(sys.stdin)[\"state\"])"' "$cove"
check "no volume is left" 0 "" \
  sh -c 'find "$COVE_HOME/volumes" -name marker 2>/dev/null; find "$COVE_HOME/volumes" -name note.txt 2>/dev/null; true'
check "it wakes by itself" 0 hello \
  "$cove" exec "${ana[@]}" --chat c2 -- cat /workspace/sessions/c1/note.txt
check "another user has a workspace of his own" 0 "" \
  "$cove" exec "${bob[@]}" --chat c1 -- ls /workspace/sessions/c1
check "the exit code is the command's" 7 "" "$cove" exec "${ana[@]}" -- sh -c 'exit 7'
check "a signal is 128 + n" 143 "" "$cove" exec "${ana[@]}" -- sh -c 'kill -TERM $$'
check "arguments arrive as they are" 0 '<><[a,b]><--><%%>' \
  "$cove" exec "${ana[@]}" -- printf '<%s>' '' '[a,b]' -- '%%'
check "a path out of the workspace is refused" 125 "" "$cove" get "${ana[@]}" ../../etc/passwd
check "  and says so in a sentence" 0 1 grep -c 'leads out of /workspace' "$scratch/stderr"
check "a path to another session is fine" 0 hello "$cove" get "${ana[@]}" --chat c2 ../c1/note.txt
check "a missing program is an error that names it" 125 "" "$cove" exec "${ana[@]}" -- no-such-program
check "  by its name" 0 1 grep -c 'no-such-program' "$scratch/stderr"

check "--app a-b --user c writes" 0 "" "$cove" exec --app a-b --user c -- touch /workspace/mine
check "--app a --user b-c is another workspace" 0 "" \
  "$cove" exec --app a --user b-c -- ls /workspace
for chat in .. a/b "$(printf 'x%.0s' $(seq 300))"; do
  check "chat '${chat:0:10}' gets a directory of its own below sessions" 0 /workspace/sessions \
    "$cove" exec "${ana[@]}" --chat "$chat" -- sh -c 'dirname "$PWD"'
done
check "  three different ones" 0 5 \
  "$cove" exec "${ana[@]}" -- sh -c 'ls /workspace/sessions | wc -l'

printf 'up \0\377 bytes\n' > "$scratch/local.bin"
check "put" 0 "" sh -c '"$0" put --app demo --user ana "$1" data/up.bin >/dev/null' "$cove" "$scratch/local.bin"
check "get to a file" 0 "" sh -c '"$0" get --app demo --user ana data/up.bin "$1" >/dev/null' "$cove" "$scratch/back.bin"
check "the bytes are the same" 0 "" cmp "$scratch/local.bin" "$scratch/back.bin"
check "ls" 0 "up.bin" "$cove" ls "${ana[@]}" data
check "grep finds lines" 0 "sessions/c1/note.txt:1:hello" "$cove" grep "${ana[@]}" 'hel+o$' sessions
check "  of the chat" 0 "note.txt:1:hello" "$cove" grep "${ana[@]}" --chat c1 -F hello
check "  and none is 1" 1 "" "$cove" grep "${ana[@]}" -F no-such-line sessions
check "  as objects" 0 "note.txt 1 complete" sh -c '"$0" grep --app demo --user ana --chat c1 --json hello |
  python3 -c "import json,sys; all=json.load(sys.stdin); print(*[[l[\"path\"], l[\"line\"]] for l in all[\"lines\"]][0], all[\"summary\"][\"ended\"])"' "$cove"
check "a wrong pattern is refused" 125 "" "$cove" grep "${ana[@]}" 'a(b'
check "  and says where" 0 1 grep -c 'at byte 1' "$scratch/stderr"
check "find finds names" 0 "sessions/c1/note.txt" "$cove" find "${ana[@]}" '**/*.txt' sessions
check "  and stops at a limit" 0 1 sh -c '"$0" find --app demo --user ana --limit 1 2>/dev/null | wc -l' "$cove"
check "doctor finds no fault here" 0 "" sh -c '"$0" doctor >/dev/null' "$cove"
check "a sandbox survives its starter: the same process is still there" 0 42 sh -c '
  "$0" exec --app demo --user ana -- sh -c "sleep 1000 >/dev/null 2>&1 & echo 42 > /tmp/alive"
  "$0" exec --app demo --user ana -- cat /tmp/alive' "$cove"
# stdin is a stream: as `docker exec -i` and ssh have it.
check "without -i a command has no stdin, and leaves this one's alone" 0 "<>kept" \
  sh -c 'echo kept | { "$0" exec --app demo --user ana -- sh -c "printf \"<%s>\" \"\$(cat)\""; cat; }' "$cove"
check "-i with /dev/null is an end at once" 0 "<>" \
  sh -c '"$0" exec --app demo --user ana -i -- sh -c "printf \"<%s>\" \"\$(cat)\"" < /dev/null' "$cove"
check "-i with a closed stdin too" 0 "<>" \
  sh -c '"$0" exec --app demo --user ana -i -- sh -c "printf \"<%s>\" \"\$(cat)\"" <&-' "$cove"
mkfifo "$scratch/in" "$scratch/out"
check "-i passes on each line when it comes, before the next is there" 0 "got one|got two" sh -c '
  "$0" exec --app demo --user ana -i -- sh -c "while read line; do echo got \$line; done" < "$1/in" > "$1/out" &
  exec 3> "$1/in" 4< "$1/out"
  echo one >&3; read first <&4
  echo two >&3; read second <&4
  exec 3>&-; wait
  echo "$first|$second"' "$cove" "$scratch"
check "-i ends with the command, though stdin does not" 0 one sh -c '
  (echo one; exec sleep 30) > "$1/in" & writer=$!
  "$0" exec --app demo --user ana -i -- head -n 1 < "$1/in"; kill $writer' "$cove" "$scratch"
check "-i carries 8 MiB through" 0 8388608 sh -c \
  'head -c 8388608 /dev/zero | "$0" exec --app demo --user ana -i -- wc -c | tr -d " "' "$cove"
check "-i with --json" 0 3 sh -c 'printf abc | "$0" exec --app demo --user ana -i --json -- cat |
  python3 -c "import json,sys; print(json.load(sys.stdin)[\"stdout_bytes\"])"' "$cove"
check "a signal to this program ends the command inside" 0 "143 gone" sh -c '
  "$0" exec --app demo --user ana -- sh -c "echo > /tmp/begun; exec sleep 4321" & pid=$!
  until "$0" exec --app demo --user ana -- test -e /tmp/begun; do :; done
  kill -TERM $pid; wait $pid; code=$?
  "$0" exec --app demo --user ana -- sh -c "cat /proc/[0-9]*/cmdline 2>/dev/null | tr \"\\0\" \" \" | grep -c \"sleep 432[1]\" >/dev/null || echo gone" |
    sed "s/^/$code /"' "$cove"

# Commands that run on.
id=$("$cove" exec "${ana[@]}" -d --name web -- sh -c 'echo out; echo err >&2; exec sleep 1000')
check "--detach prints the id" 0 32 sh -c 'printf %s "$0" | grep -Ec "^[0-9a-f]{32}$" >/dev/null && printf %s "$0" | wc -c | tr -d " "' "$id"
check "ps lists it by its name" 0 1 sh -c '"$0" ps --app demo --user ana | grep -c "running .* web "' "$cove"
check "ps --json has the whole id" 0 "$id" sh -c '"$0" ps --app demo --user ana --json |
  python3 -c "import json,sys; print(json.load(sys.stdin)[\"processes\"][0][\"id\"])"' "$cove"
check "logs, by the beginning of the id" 0 out "$cove" logs "${ana[@]}" "${id:0:8}"
check "  and stderr on stderr" 0 err cat "$scratch/stderr"
check "logs -f shows what is there, and goes on until its time is over" 125 out sh -c '
  "$0" logs --app demo --user ana -f --timeout 2s web 2>/dev/null' "$cove"
check "  which ends nothing" 0 1 sh -c '"$0" ps --app demo --user ana | grep -c running' "$cove"
check "kill --signal" 0 "signaled $id" "$cove" kill "${ana[@]}" --signal KILL web
check "  logs -f ends with it" 0 out sh -c '"$0" logs --app demo --user ana -f web 2>/dev/null' "$cove"
check "  attach tells how it ended" 137 "" "$cove" attach "${ana[@]}" web
check "  attach --json as one object" 0 "$id False 137" sh -c '"$0" attach --app demo --user ana --json web |
  python3 -c "import json,sys; o=json.load(sys.stdin); print(o[\"id\"], o[\"running\"], o[\"exit_code\"])"' "$cove"
check "kill --forget" 0 "forgotten $id" "$cove" kill "${ana[@]}" --forget web
check "  it is not there any more" 125 "" "$cove" logs "${ana[@]}" web
check "a command is ended" 0 "" sh -c '"$0" exec --app demo --user ana -d --name brief -- sleep 1000 >/dev/null &&
  "$0" kill --app demo --user ana brief >/dev/null' "$cove"
check "  attach tells it" 130 "" "$cove" attach "${ana[@]}" brief
check "  and says so" 0 1 grep -c 'the command was ended' "$scratch/stderr"
check "a detached command has no stdin" 0 "exited 0" sh -c '
  id=$("$0" exec --app demo --user ana -d -- cat) && "$0" logs --app demo --user ana -f "$id" &&
  "$0" ps --app demo --user ana | grep -o "exited 0"' "$cove"
check "--detach -i keeps it open for attach -i" 0 "hello" sh -c '
  id=$("$0" exec --app demo --user ana -d -i -- sh -c "read x; sleep 0.2; echo \$x") &&
  echo hello | "$0" attach --app demo --user ana -i "$id"' "$cove"
check "ps wakes nothing" 0 stopped sh -c '"$0" stop --app demo --user ana --force >/dev/null && "$0" ps --app demo --user ana &&
  "$0" status --app demo --user ana --json | python3 -c "import json,sys; print(json.load(sys.stdin)[\"state\"])"' "$cove"

eve=(--app demo --user eve)
check "few descriptors are enough to start" 0 hi bash -c 'ulimit -n 64; "$@"' bash "$cove" exec "${eve[@]}" -- echo hi
check "too few are named" 125 "" bash -c 'ulimit -n 20; "$@" 2>"$0"' "$scratch/few" "$cove" exec --app demo --user eva -- echo hi
check "  with the limit and the remedy" 0 1 grep -c 'may have 20 descriptors open: raise that' "$scratch/few"
check "stop before its volume is lost" 0 "stopped stopped" done_word "$cove" stop "${eve[@]}"
lost=$(find "$COVE_HOME/volumes" -path "*$("$cove" status "${eve[@]}" --json | grep -o 'app-[0-9a-f]*' | head -n 1)" -type d)
mv "$lost" "$scratch/lost"
check "a lost volume is not started" 125 "" "$cove" exec "${eve[@]}" -- true
check "  and the error says what can be done" 0 1 grep -c 'hint: nothing was deleted: mount the disk' "$scratch/stderr"
mv "$scratch/lost" "$lost"
check "  brought back it works" 0 hi "$cove" exec "${eve[@]}" -- echo hi
inner=("$scratch/inner" "${ana[@]}")
if ! unshare -Ur true 2>/dev/null; then
  echo "not tried: a user namespace's root (this machine does not make them)"
elif [ "$(id -u)" -eq 0 ]; then
  check "the machine's root in a small user namespace is refused" 125 "" \
    sh -c 'unshare -Ur "$@" 2>"$0"' "$scratch/small" "$cove" exec --home "${inner[@]}" -- id -u
  check "  with cause and remedy" 0 1 grep -c 'run it outside of that namespace' "$scratch/small"
else
  check "root of a user namespace works as an ordinary user" 0 1000 \
    unshare -Ur "$cove" exec --home "${inner[@]}" -- id -u
  unshare -Ur "$cove" destroy --home "${inner[@]}" --yes >/dev/null
fi
check "destroy" 0 "destroyed absent" done_word "$cove" destroy "${eve[@]}" --yes
check "  is so already the next time" 0 "None absent" done_word "$cove" destroy "${eve[@]}" --yes
check "an unknown option is an error of cove itself" 125 "" "$cove" exec --no-such-option

tell_failures
