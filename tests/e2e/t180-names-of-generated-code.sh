#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Generated code has the names that its runtime wrote down, if the file can be believed; the summary tells what would
# name it.
# alone: it removes maps of generated code from /tmp, of whomever
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog generates

cd "$TMP" || exit 1
touch begin
record() { # HOW [WHERE]: in x.folded, x.txt and x.bpfprof
	check "$*" "$BPFPROF" oncpu -F 499 -o x.folded -o x.txt -o x.bpfprof -- "$PROGS/generates" "$1" 1000 "${@:2}"
	# Where faults are slow, starting takes long. Of 490 samples, 8 % are four sigma.
	grep ';main;' x.folded >run.folded
	rm -f /tmp/perf-*.map.other jit-*.dump
}
named() { # HOW
	check_pct run.folded 'generated:often [(]1[)]' 75 8
	check_pct run.folded 'generated seldom' 25 8
	check_grep '^names  *(100|9[5-9])' x.txt "$1: all has a name"
	check_no_grep '\[jit\]' x.folded
	check "report of $1" "$BPFPROF" report -f x.bpfprof
	check_grep ';generated seldom ' "$OUT" "saved with its name"
}
forget_map() {
	find /tmp -maxdepth 1 -name 'perf-*.map*' -newer "$TMP/begin" -delete
}

for how in map late dump; do
	record $how
	named $how
	forget_map
done

# As .NET writes it, whose code is mapped twice.
record net twice
check_pct run.folded 'void \[work\] Work\.Loop::Often\(int64\)\[OptimizedTier1\]' 75 8
check_pct run.folded 'instance void \[work\] Work\.Loop`1\[System\.__Canon\]::Seldom\(int64\)\[Tier0\]' 25 8
forget_map

# Where PHP, .NET and Erlang have it: memory that has the name of a file.
for where in ${NIGHTLY:+shared} twice; do
	record map "$where"
	named "map, $where"
	forget_map
	record none "$where"
	check_grep ';\[jit\] ' x.folded "$where: [jit]"
	check_grep 'perf-PID.map' x.txt "$where: what would help"
done

# A map that is there and does not count is told, with the rule and what helps.
refused() { # HOW EXPECTED
	record "$1"
	check_no_grep 'generated (often|seldom)|generated;' x.folded "$1: not believed"
	check_grep ';\[jit\] ' x.folded "$1: [jit] instead"
	check_grep "$2" x.txt "$1: what would help"
	forget_map
}
map='/tmp/perf-[0-9]+\.map'
refused none 'generated code: its runtime may have an option for perf that writes /tmp/perf-PID.map'
refused stale "$map was refused, it is older than the process; .*perf-PID.map"
refused foreign "$map of user [0-9]+ was refused: chown it to the user of the process"
refused link "$map was refused, it is a symbolic link: put the file itself there"
refused garbage "no line of $map is one of a perf map [(]START SIZE NAME[)]: remove it; .*perf-PID.map"
refused large "$map is larger than 256 MB, of which the rest is not read"
refused fifo "$map was refused, it is no regular file: remove it; .*perf-PID.map"
check "report" "$BPFPROF" report -s x.bpfprof
check_grep "$map was refused" "$OUT" "saved with it"

# As a container sees it: another number, another /tmp.
if unshare --pid --fork --mount --mount-proc true 2>/dev/null; then
	# shellcheck disable=SC2016
	check "in a namespace of its own" "$BPFPROF" oncpu -F 499 -o x.folded -o x.txt -o x.bpfprof -- \
		unshare --pid --fork --mount --mount-proc sh -c 'mount -t tmpfs none /tmp && "$0" map 1000; :' "$PROGS/generates"
	check_grep 'generated seldom' x.folded "in a namespace of its own: named"
	check_pct x.folded 'generated:often [(]1[)]' 75 8
fi
finish
