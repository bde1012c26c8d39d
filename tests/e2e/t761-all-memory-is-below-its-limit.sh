#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --max-mem bounds all that is ours, as the kernel counts it for a cgroup: maps, unwind tables, bpfprof, and what reads files
# for it, beside programs that start all the time and for a file with much debug information. What has no room is told.
# timeout: 400
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 gcc nm objcopy

peak() { # MB ARGUMENTS...: sets bytes
	local mb=$1

	shift
	run python3 "${0%/*}/peak_of.py" ${folder:+--until "$folder"} "$BPFPROF" "$@" --max-mem "$mb"
	[ "$STATUS" -ne 77 ] || skip "no cgroup that counts memory can be made here"
	read -r bytes STATUS <"$OUT"
	check_near "$STATUS" 0 0 "exit status of $1 with --max-mem $mb"
	check_between "$bytes" 4000000 $((mb << 20)) "bytes of $1 at most, with --max-mem $mb"
}

for command in oncpu offcpu timeline top agent; do
	arguments=(-o "$TMP/x.txt")
	[ "$command" != top ] || arguments=(-b)
	[ "$command" != agent ] || arguments=(--keep "$TMP/keep")
	check_status 1 "8 MB are too little" "$BPFPROF" "$command" "${arguments[@]}" --max-mem 8
	check_grep "^bpfprof: --max-mem 8 is too little: bpfprof needs some [2-9][0-9] MB here$" "$ERR"
	rm -rf "$TMP/x.txt"
done

for _ in 1 2; do start bash -c 'while :; do ls -l /usr/bin | grep -c a | cat >/dev/null; done'; done
for mb in 48 ${NIGHTLY:+64} 96; do
	for command in "oncpu -F 999" faults ${NIGHTLY:+offcpu wall syscalls wakeup} timeline; do
		rm -f "$TMP/x.txt" "$TMP/x.json"
		# shellcheck disable=SC2086
		peak "$mb" $command -d 2 --max-overhead 0 -o "$TMP/x.txt"
		check "$command has a result" test -s "$TMP/x.txt"
		echo "# figure: $command, $mb MB: $((bytes >> 20)) MB, $(grep -o 'ended after [^;]*' "$ERR" || echo whole)"
	done
done
peak 64 top -b --max-overhead 0 1 5
echo "# figure: top: $((bytes >> 20)) MB"
folder=$TMP/keep
peak 128 agent --keep "$folder" -i 2
echo "# figure: agent: $((bytes >> 20)) MB"
folder=

# --- much debug information ---

if [ "$(uname -m)" = x86_64 ] && python3 "${0%/*}/huge_unit.py" "$TMP/large" 250000; then
	start "$TMP/large"
	for mb in 64 512; do
		peak "$mb" oncpu -p "$PID" --no-symbol-cache --symbol-time 60 -F 99 -d 3 -o "$TMP/$mb.txt" -o "$TMP/$mb.folded"
		check_grep ";main( |;)" "$TMP/$mb.folded" "$mb MB: names of functions"
	done
	check_grep ";function[0-9]*;inlined[0-3]" "$TMP/512.folded" "enough memory: inlined calls"
	check_no_grep ";inlined[0-3]" "$TMP/64.folded" "too little: none"
	check_grep "large: inlined calls and lines are missing: .*raise --max-mem" "$TMP/64.txt" "... which is told"
	check_no_grep "missing: .*raise" "$TMP/512.txt"
fi
finish
