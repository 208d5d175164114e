#!/usr/bin/env bash
# Files and tools from a shell: cove read, write, edit, tool and tools; and names that are no Unicode.
# Usage: files_and_tools.sh COVE_COMMAND
source "$(dirname "$0")/checks.sh"

ana=(--app demo --user ana --chat c1)
said() { grep -cF -e "$1" "$scratch/stderr"; }  # in how many lines of what cove said last
error_code() { pick 'o["code"]' cat "$scratch/stderr"; }
etag_of() { "$cove" read "${ana[@]}" --json "$1" | grep -o '"etag":"[^"]*"' | cut -d'"' -f4; }

# read finds no Cove and makes none; write begins one.
check "read makes no Cove" 125 "" "$cove" read "${ana[@]}" --json a.txt
check "  and says that there is none" 0 not_found error_code
check "write says where, and how much" 0 "sessions/c1/a.txt: 14 B" \
  given $'one\ntwo\nthree' "$cove" write "${ana[@]}" a.txt
check "  --json" 0 "sessions/c1/b.txt 3 True" \
  given hi pick 'o["path"], o["size"], len(o["etag"]) > 8' "$cove" write "${ana[@]}" --json b.txt
check "  of nothing is an empty file" 0 "sessions/c1/empty: 0 B" \
  "$cove" write "${ana[@]}" empty </dev/null
check "  --append" 0 "sessions/c1/b.txt: 9 B" given there "$cove" write "${ana[@]}" --append b.txt
check "  makes directories, and sets a mode" 0 "sessions/c1/x/y/run.sh: 3 B" \
  given ls "$cove" write "${ana[@]}" --mode 0755 --durable x/y/run.sh
check "  which is there" 0 755 "$cove" exec "${ana[@]}" -- stat -c %a x/y/run.sh
check "  --if-absent of what is there" 125 "" given no "$cove" write "${ana[@]}" --if-absent b.txt
check "  says so" 0 1 said "'b.txt' exists already"
check "  --if-unchanged of what was changed" 125 "" \
  given no "$cove" write "${ana[@]}" --json --if-unchanged nope b.txt
check "  is a conflict" 0 conflict error_code
check "  --if-unchanged of what was not" 0 "sessions/c1/b.txt: 4 B" \
  given yes "$cove" write "${ana[@]}" --if-unchanged "$(etag_of b.txt)" b.txt
check "  into a directory" 125 "" given no "$cove" write "${ana[@]}" x
check "  says that it is one" 0 1 said "'x' is a directory"
check "  out of the workspace" 125 "" given no "$cove" write "${ana[@]}" --json ../../../etc/passwd
check "  is refused" 0 path_escape error_code
check "  with an empty mode" 125 "" given no "$cove" write "${ana[@]}" --mode '' b.txt
check "  says what it wants" 0 1 said 'octal digits such as 0755'
check "nothing that was refused has changed the file" 0 yes "$cove" read "${ana[@]}" b.txt

# read
check "read gives a file as it is" 0 $'one\ntwo\nthree' "$cove" read "${ana[@]}" a.txt
check "  says nothing beside it" 0 "" cat "$scratch/stderr"
check "  --offset and --limit" 0 two "$cove" read "${ana[@]}" --offset 2 --limit 1 a.txt
check "  and how to go on" 0 1 said 'there is more; go on with --offset 3'
check "  --json" 0 "'two\\n' 2 1 3 3 False 14 text/plain; charset=utf-8" \
  pick 'repr(o["text"]), o["first"], o["lines"], o["next"], o["total_lines"], o["cut"], o["size"], o["content_type"]' \
  "$cove" read "${ana[@]}" --json --offset 2 --limit 1 a.txt
check "  --json at the end has no next" 0 "3 None" \
  pick 'o["first"], o["next"]' "$cove" read "${ana[@]}" --json --offset 3 a.txt
check "  with the etag of what wrote it" 0 "$(etag_of a.txt)" \
  pick 'o["data"]["etag"]' "$cove" tool "${ana[@]}" --json sandbox_read_file '{"path": "a.txt"}'
check "  past the end" 125 "" "$cove" read "${ana[@]}" --json --offset 9 a.txt
check "  is an invalid argument" 0 invalid_argument error_code
check "  of line 0" 125 "" "$cove" read "${ana[@]}" --offset 0 a.txt
check "  of a negative line" 125 "" "$cove" read "${ana[@]}" --offset -1 a.txt
check "  of what is not there" 125 "" "$cove" read "${ana[@]}" --json nope
check "  is not found" 0 not_found error_code
check "  of a directory" 125 "" "$cove" read "${ana[@]}" x
check "  says that it is one" 0 1 said "'x' is a directory"
check "  of nothing" 125 "" "$cove" read "${ana[@]}"
check "  says its form" 0 1 said 'read takes one PATH'
"$cove" exec "${ana[@]}" -- sh -c 'seq 5000 > long; head -c 60000 /dev/zero | tr "\0" x > wide; printf "a\0\377b" > odd'
check "  stops after 2,000 lines" 0 2000 sh -c '"$0" "$@" 2>/dev/null | wc -l' "$cove" read "${ana[@]}" long
check "  and of bytes that are no UTF-8 all come" 0 "61 00 ff 62" \
  sh -c '"$0" "$@" | od -An -tx1 | sed "s/^ //"' "$cove" read "${ana[@]}" odd
check "  also in JSON" 0 "6100ff62 True" \
  pick 'o["text_hex"], "\ufffd" in o["text"]' "$cove" read "${ana[@]}" --json odd
check "  a line of more than 50 KiB is cut" 0 "True 51200" \
  pick 'o["cut"], len(o["text"])' "$cove" read "${ana[@]}" --json wide

# edit
check "edit says what it did" 0 "sessions/c1/a.txt: 1 replaced, the first in line 2" \
  "$cove" edit "${ana[@]}" a.txt two zwei
check "  --all --json" 0 "sessions/c1/a.txt 4 1 15 True" \
  pick 'o["path"], o["replaced"], o["first_line"], o["size"], len(o["etag"]) > 8' \
  "$cove" edit "${ana[@]}" --json --all a.txt e E
check "  did it" 0 $'onE\nzwEi\nthrEE' "$cove" read "${ana[@]}" a.txt
check "  of what is there more than once" 125 "" "$cove" edit "${ana[@]}" a.txt E x
check "  says where" 0 1 said "OLD is in 'a.txt' 4 times, at lines 1, 2, 3, 3"
check "  of what is not there" 125 "" "$cove" edit "${ana[@]}" --json a.txt nothing x
check "  is a failed precondition" 0 failed_precondition error_code
check "  of a file that is not there" 125 "" "$cove" edit "${ana[@]}" --json nope a b
check "  is not found" 0 not_found error_code
check "  of what was changed" 125 "" "$cove" edit "${ana[@]}" --json --if-unchanged nope a.txt onE x
check "  is a conflict" 0 conflict error_code
check "  of what was not changed" 0 "sessions/c1/a.txt: 1 replaced, the first in line 1" \
  "$cove" edit "${ana[@]}" --durable --if-unchanged "$(etag_of a.txt)" a.txt onE one
check "  takes words with a dash behind a --" 125 "" "$cove" edit "${ana[@]}" a.txt -- --two -x
check "  as they are" 0 1 said "OLD is not in 'a.txt'"
check "  without NEW" 125 "" "$cove" edit "${ana[@]}" a.txt one
check "  says its form" 0 1 said 'edit takes PATH, OLD and NEW'

# tool and tools
read_b='{"path": "b.txt"}'
check "tool prints what a model gets" 0 yes "$cove" tool "${ana[@]}" sandbox_read_file "$read_b"
check "  takes its arguments from stdin" 0 yes given "$read_b" "$cove" tool "${ana[@]}" sandbox_read_file
check "  also where they are -" 0 yes given "$read_b" "$cove" tool "${ana[@]}" sandbox_read_file -
check "  --json is the whole answer" 0 "['data', 'is_error', 'text'] False 'yes\\n' 4" \
  pick 'sorted(o), o["is_error"], repr(o["text"]), o["data"]["size"]' \
  "$cove" tool "${ana[@]}" --json sandbox_read_file "$read_b"
check "  is 1 where the tool could not" 1 \
  $'Error: \'nope\' does not exist\nLook for it with sandbox_find or sandbox_ls.' \
  "$cove" tool "${ana[@]}" sandbox_read_file '{"path": "nope"}'
check "  says nothing on stderr" 0 "" cat "$scratch/stderr"
check "  also with --json" 1 "True not_found" pick 'o["is_error"], o["data"]["error"]["code"]' \
  "$cove" tool "${ana[@]}" --json sandbox_read_file '{"path": "nope"}'
check "  a tool that there is not" 1 "True sandbox_process_stop." \
  pick 'o["is_error"], o["text"].split()[-1]' "$cove" tool "${ana[@]}" --json no_such_tool '{}'
check "  arguments that are no JSON" 1 invalid_argument \
  pick 'o["data"]["error"]["code"]' "$cove" tool "${ana[@]}" --json sandbox_ls '{'
check "  arguments that are no object" 1 invalid_argument \
  pick 'o["data"]["error"]["code"]' "$cove" tool "${ana[@]}" --json sandbox_ls '[]'
check "  a command that fails is an answer" 0 $'(no output)\n\n[Command exited with code 3]' \
  "$cove" tool "${ana[@]}" sandbox_shell '{"command": "exit 3"}'
check "  without a name" 125 "" "$cove" tool "${ana[@]}" --json
check "  is an invalid argument" 0 invalid_argument error_code
described() { pick "$1" "$cove" tools "${@:2}"; }
check "tools are described for function calling" 0 "13 function sandbox_shell ['command']" \
  described 'len(o), o[0]["type"], o[0]["function"]["name"], o[0]["function"]["parameters"]["required"]'
check "  the same with --format openai" 0 True \
  described "o == json.loads('''$("$cove" tools | sed 's/\\/\\\\/g')''')" --format openai
check "  for MCP" 0 "13 sandbox_shell ['command'] True" described \
  'len(o), o[0]["name"], o[0]["inputSchema"]["required"], all("readOnlyHint" in t["annotations"] for t in o)' --format mcp
check "  plainly" 0 "13 sandbox_shell ['command']" \
  described 'len(o), o[0]["name"], o[0]["parameters"]["required"]' --format plain
check "  in no other form" 125 "" "$cove" tools --format xml
check "  which is named" 0 1 said "--format wants openai, mcp or plain, not 'xml'"
check "  nor in an empty one" 125 "" "$cove" tools --format ''

# Names are bytes: --json has U+FFFD and a second member of hex, and nothing is escaped (docs/formats.md).
odd=(--app demo --user ana --chat odd)
byte=$(printf 'a\377b')
"$cove" exec "${odd[@]}" -- sh -c 'echo line >"$0"; echo line >"a\\x41"; ln -s "$0" link' "$byte"
names='[(n[k], n.get(k + "_hex")) for n in o[of]] == [("a\\x41", None), ("a\ufffdb", "61ff62")]'
check "find --json has a name that is no UTF-8 in hex, and \\x41 as it is" 0 True \
  pick "(of := 'entries', k := 'path') and $names" "$cove" find "${odd[@]}" --json --type file
check "  ls --json" 0 True \
  pick "(of := 'entries', k := 'name', o[of].pop()) and $names" "$cove" ls "${odd[@]}" --json
check "  with a link's target" 0 "link 61ff62" \
  pick 'o["entries"][2]["name"], o["entries"][2]["link_target_hex"]' "$cove" ls "${odd[@]}" --json
check "  grep --json" 0 True \
  pick "(of := 'lines', k := 'path') and $names" "$cove" grep "${odd[@]}" --json line
check "  write --json" 0 "73657373696f6e732f6f64642f61ff62" \
  given line pick 'o["path_hex"]' "$cove" write "${odd[@]}" --json "$byte"
check "  people see escapes" 0 $'a\\\\x41\na\\xffb' "$cove" find "${odd[@]}" --type file
check "  the tools' data has escapes too, of their own kind" 0 'a\x5cx41 a\xffb' \
  pick '*[e["path"] for e in o["data"]["entries"]]' \
  "$cove" tool "${odd[@]}" --json sandbox_find '{"pattern": "a*"}'
check "  which name the file" 0 line "$cove" tool "${odd[@]}" sandbox_read_file '{"path": "a\\xffb"}'

tell_failures
