#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
# Whoever reads files for bpfprof is killed again and again, has no resources, or cannot be started: the profile comes
# out, and what is missing is named.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3 prlimit setpriv
need_prog nofp_libc

seconds=${NIGHTLY:+20}
seconds=${seconds:-6}
kills=$((seconds * 10))
chmod 755 "$TMP"
whole() { # PATTERN; sets $all and $lost, in ms of CPU time
	read -r all lost < <(pattern=$1 awk '
		$0 ~ ENVIRON["pattern"] { all += $NF; if (/;main;/) whole += $NF }
		END { printf("%d %d\n", all * 1000 / 199, (all - whole) * 1000 / 199) }' "$TMP/x.folded")
}

# --- killed ---

start_bpfprof oncpu -F 199 --no-symbol-cache -o "$TMP/x.folded" -o "$TMP/x.json" "$seconds"
profiler=$PID
nr=$(python3 "${0%/*}/kill_readers.py" "$profiler" "$PROGS/nofp_libc" "$TMP" "$kills" "$seconds")
wait_for "$profiler"
check "readers were killed $nr times: exit status $STATUS" [ "$STATUS" -eq 0 ]
check "of $kills times" [ "$nr" -ge $((kills / 2)) ]
check_ledger_closes "$TMP/x.json"
whole '^victim'
check "stacks of $all ms" [ "$all" -gt $((seconds * 200)) ]
check "... of which $lost ms are broken: $((lost / nr)) a kill" [ $((lost / nr)) -le 100 ]
check "... and in all not a fifth" [ $((lost * 5)) -le "$all" ]

# --- starved: those that are there, and all that they start ---

cp "$PROGS/nofp_libc" "$TMP/victim"
chown 1234 "$TMP/victim"
all_unread='^bpfprof: warning: process 1 and [0-9]* more: their mappings could not be read'
starve() { # OPTIONS OF PRLIMIT...
	local child children

	"$start" oncpu -F 199 --no-symbol-cache -o "$TMP/x.folded" -o "$TMP/x.json" 2
	profiler=$PID
	read -ra children <"/proc/$profiler/task/$profiler/children"
	for child in "${children[@]}"; do
		prlimit --pid "$child" "$@"
	done
	start "$TMP/victim" 20
	wait_for "$profiler"
	cp "$ERR" "$TMP/said"
	check "limits of readers $*: exit status $STATUS" [ "$STATUS" -eq 0 ]
	stop "$PID"
	check_ledger_closes "$TMP/x.json"
	check_grep '^victim;' "$TMP/x.folded" "... its samples are there"
	check_grep "${said:-/victim: .*: its code .*is walked by frame pointer|$all_unread}" "$TMP/said"
}
# They are starved before they read what runs: of all its mappings there is one sentence. (On a slow machine this is so
# below, too.)
start_early() { # OPTIONS...; sets $PID
	env --default-signal=INT,TERM,HUP "$BPFPROF" "$@" >"$OUT" 2>"$ERR" &
	PID=$!
	pids+=("$PID")
	while ! has_child "$PID"; do # until it has loaded its programs there is time, but not for long
		[ -d "/proc/$PID/fd" ] || return
	done
}
has_child() { # PID
	[[ -n $(<"/proc/$1/task/$1/children") ]]
}
for _ in {1..5}; do
	start "$PROGS/nofp_libc" 20
done
start=start_early
said=$all_unread starve --as=0:0
start=start_bpfprof
starve --as=0:0
starve --nofile=0:0
starve --as=4000000:4000000

# --- no room for any: those who are not root may start so many ---

setcap=$(PATH=$PATH:/usr/sbin command -v setcap)
if [ -n "$setcap" ]; then
	cp "$BPFPROF" "$TMP/bpfprof"
	"$setcap" cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep "$TMP/bpfprof"
	mkdir -m 777 "$TMP/out"
	as_few=(setpriv --reuid 1235 --regid 1235 --clear-groups)
	"${as_few[@]}" env CACHE_DIRECTORY="$TMP/out" prlimit --nproc=10:10 "$TMP/bpfprof" oncpu \
		-F 199 -o "$TMP/out/x.folded" -o "$TMP/out/x.json" 5 >"$OUT" 2>"$ERR" &
	profiler=$!
	pids+=("$profiler")
	wait_until 10 recording "$profiler"
	for _ in {1..12}; do
		start "${as_few[@]}" sleep 20
	done
	read -ra children <"/proc/$profiler/task/$profiler/children"
	kill -KILL "${children[@]}"
	start "$TMP/victim" 20
	wait_for "$profiler"
	cp "$ERR" "$TMP/said"
	check "no process can be started: exit status $STATUS" [ "$STATUS" -eq 0 ]
	check_ledger_closes "$TMP/out/x.json"
	check_grep '^victim;' "$TMP/out/x.folded" "... the samples are there"
	check_grep ': Resource temporarily unavailable: its code' "$TMP/said"
	check_grep 'no names: Resource temporarily unavailable' "$TMP/said"
	check_grep 'more files could not be read' "$TMP/said"
fi
finish
