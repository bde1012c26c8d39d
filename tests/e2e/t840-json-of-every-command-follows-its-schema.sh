#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 240
# What each command that has --json prints of things that it recorded follows docs/json.schema.json, and so does what report
# prints of the saved recording, as nobody, by day of some. The commands are those of --help: a new one needs a line here.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need setpriv
need_prog spin_abc
need_prog waits_pingpong
SCHEMA=$ROOT/docs/json.schema.json
TOOL=$ROOT/tests/e2e/schema.py
python3 "$TOOL" "$SCHEMA" 2>"$ERR"
[ $? -ne 77 ] || skip "$(cat "$ERR")"
chmod 755 "$TMP"
cp "$BPFPROF" "$TMP/bpfprof"
cd "$TMP" || exit 1
start "$PROGS/spin_abc" 120
spin=$PID
start "$PROGS/waits_pingpong" processes 1000000 500
"$BPFPROF" stat --json -o a.json -- true >"$OUT" 2>"$ERR" || skip "nothing can be counted: $(cat "$ERR")"

# Of what each is recorded, for a moment. - stands for no recording: other words are those of the command.
declare -A words=(
	[oncpu]="-p $spin 0.5" [pmu]="-e context-switches,page-faults -p $PID 0.5" [offcpu]="-p $PID 0.5" [wakeup]="-p $PID 0.5"
	[wall]="-p $PID 0.5" [lock]="--kernel 0.5" [syscalls]="-p $PID 0.5" [runqlat]="-P 0.5 1" [sched]="0.5"
	[timeline]="-p $PID 0.5" [uprobe]="-p $PID -l -g libc:read 0.5" [kprobe]="-g vfs_read 0.5"
	[tracepoint]="-g --every 2 sched:sched_switch -p $PID 0.5" [faults]="-- true" [io]="0.5" [alloc]="--every 1 -- true"
	[polls]="- -p $PID 0.5" [stat]="- -e page-faults --per-process 0.5" [list]="- page" [doctor]="- offcpu"
	[report]="- wall.bpfprof" [annotate]="- oncpu.bpfprof" [diff]="- oncpu.bpfprof oncpu.bpfprof" [history]="- h.csv" [who]="- $PID"
)
check "a history" "$BPFPROF" stat --history h.csv -- true

# These may find nothing on a quiet machine, or not run here: then they say so and print nothing.
may_be_empty=" io lock kprobe uprobe tracepoint polls alloc "

follows() { # COMMAND WORDS...
	local command=$1 status

	shift
	"$BPFPROF" "$command" --json "$@" >"$command.json" 2>"$command.err"
	status=$?
	if [ $status -ne 0 ] && [[ $may_be_empty == *" $command "* ]]; then
		check "$command has nothing (status $status), and says why" test ! -s "$command.json" -a -s "$command.err"
		return 1
	fi
	check "$command ${*:1:3}" test $status -eq 0
	check "its JSON follows the schema" python3 "$TOOL" "$SCHEMA" "$command.json"
}

again() { # COMMAND: of its saved recording
	[ -n "${NIGHTLY:-}" ] || [[ $1 == @(oncpu|pmu|offcpu|lock|runqlat|timeline|syscalls) ]] || return
	chmod a+r "$1.bpfprof"
	check "report of it, as nobody" setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/bpfprof" report --json "$1.bpfprof"
	cp "$OUT" "$1.again.json"
	check "follows it too" python3 "$TOOL" "$SCHEMA" "$1.again.json"
}

nr=0
for command in $("$BPFPROF" --help | awk '/^  [a-z]/ { print $1 }'); do
	"$BPFPROF" "$command" --help | grep -q -- '--json' || continue
	nr=$((nr + 1))
	if [ -z "${words[$command]:-}" ]; then
		fail "no line for $command in this test"
		continue
	fi
	read -ra list <<<"${words[$command]}"
	if [ "${list[0]}" = - ]; then
		follows "$command" "${list[@]:1}"
	else
		follows "$command" -o "$command.bpfprof" "${list[@]}" && again "$command"
	fi
done
check "commands with JSON: $nr" test $nr -ge 24
finish
