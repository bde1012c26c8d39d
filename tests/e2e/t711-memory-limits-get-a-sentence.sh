#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# Under a limit of memory, address space or open files a command ends with its result, perhaps with smaller tables, or
# with one sentence that says what is needed; it is not killed.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc

# By either version of cgroups.
make_group() {
	local mount

	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ -n "$mount" ] && grep -qw memory "$mount/cgroup.controllers" && echo +memory >"$mount/cgroup.subtree_control"; then
		group=$mount/bpfprof-test-$$
		limit=memory.max
		mkdir "$group" && return
	fi 2>/dev/null
	mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
	group=$mount/bpfprof-test-$$
	limit=memory.limit_in_bytes
	[ -n "$mount" ] && mkdir "$group"
} 2>/dev/null

ends() { # DESC: with a result, or one sentence
	local nr

	nr=$(grep -c '^bpfprof: [^w]' "$ERR")
	if [ "$STATUS" -eq 0 ] && [ -s "$TMP/x.folded" ]; then
		pass "$1: a result"
	elif [ "$STATUS" -eq 1 ] && [ "$nr" -eq 1 ] && [ ! -e "$TMP/x.folded" ]; then
		pass "$1: $(grep '^bpfprof: [^w]' "$ERR")"
	else
		fail "$1: exit status $STATUS, $nr sentences"
		show
	fi
	rm -f "$TMP/x.folded"
}

if make_group; then
	trap 'wait_until 5 rmdir "$group" 2>/dev/null; cleanup' EXIT
	within() { # MB COMMAND...
		echo "$1M" >"$group/$limit"
		# shellcheck disable=SC2016
		run bash -c 'echo $$ >"$0" && exec "$@"' "$group/cgroup.procs" "${@:2}"
	}
	refused_at_16() { # before tables are created, with both figures
		within 16 "$BPFPROF" oncpu 1
		check_grep 'needs some [0-9]+ MB here, and the limit of the cgroup /.* leaves [0-9]+ of 16 MB' "$ERR"
	}
	# Upwards: what was read from files is taken back slowly.
	for mb in ${NIGHTLY:+4} 8 ${NIGHTLY:+12} 16 ${NIGHTLY:+20 24 32 40} 48 ${NIGHTLY:+56 64 80}; do
		for command in oncpu offcpu ${NIGHTLY:+wall lock wakeup}; do
			within "$mb" "$BPFPROF" "$command" -o "$TMP/x.folded" 0.3 -- "$PROGS/spin_abc" 0.3
			ends "$command in $mb MB"
		done
		[ "$mb" -ne 16 ] || refused_at_16
	done
	# What looks into files before anything is loaded.
	for mb in ${NIGHTLY:+4} 8 ${NIGHTLY:+12} 16; do
		for command in "uprobe libc:getppid" "alloc" "polls"; do
			# shellcheck disable=SC2086
			within "$mb" "$BPFPROF" $command -o "$TMP/x.folded" 0.3 -- "$PROGS/spin_abc" 0.3
			ends "$command in $mb MB"
			check_grep "leaves [0-9]+ of $mb MB" "$ERR"
		done
		[ "$mb" -ge 8 ] || continue
		within "$mb" "$BPFPROF" doctor --json
		check "doctor in $mb MB" test "$STATUS" -le 1
	done
	# The kernel takes back the maps of those before a while after they have ended.
	fits() {
		rm -f "$TMP/x.folded"
		within 48 "$BPFPROF" oncpu -o "$TMP/x.folded" -- "$PROGS/spin_abc" 0.3
	}
	wait_until 10 fits
	check_grep 'warning: the memory limit .*tables of stacks have [0-9]+ MB instead' "$ERR" "smaller tables are told"

	# Of a whole machine on which programs start all the time: 64 MB are enough for a result, perhaps of less time.
	for _ in 1 2; do start bash -c 'while :; do ls -l /usr/bin | grep -c a | cat >/dev/null; done'; done
	# One of them is as large as servers in Go are: its unwind table of 6,000,000 rows has no room, and does not end the rest.
	if command -v cc >/dev/null && [ "$(uname -m)" = x86_64 ]; then
		{
			printf 'asm(".text\\nrows:\\n.cfi_startproc\\n.rept 60000\\n.cfi_escape '
			printf '0x41,0x0e,0x10,0x41,0x0e,0x18,%.0s' $(seq 49)
			printf '0x41,0x0e,0x10,0x41,0x0e,0x18\\n.endr\\n.fill 6000000,1,0x90\\nret\\n.cfi_endproc\\n");\n'
			printf 'void rows(void) __asm__("rows");\nint main(void)\n{\n\trows();\n}\n'
		} >"$TMP/rows.c"
		check "a program with a large table" cc -O1 -o "$TMP/rows" "$TMP/rows.c"
		start bash -c 'while :; do "$0"; done' "$TMP/rows"
	fi
	for command in syscalls faults wakeup; do
		sleep 1 # what the one before had is given back by then
		within 64 "$BPFPROF" "$command" -d 2 --max-overhead 0 -o "$TMP/x.folded" -o "$TMP/x.txt"
		check_near "$STATUS" 0 0 "$command of a busy machine in 64 MB"
		check "$command has stacks" test -s "$TMP/x.folded"
		ended=$(grep -o 'ended after [^;]*' "$ERR")
		echo "# figure: $command: ${ended:-whole}"
		[ -z "$ended" ] || check_grep "^$command: .*, cut short for want of memory; " "$TMP/x.txt"
	done
else
	echo "# no cgroup with a memory limit can be made here"
fi

for kb in 30000 50000; do
	check_fail "ulimit -v $kb" bash -c "ulimit -v $kb; exec \"\$@\"" bash "$BPFPROF" oncpu -o "$TMP/x.folded" 0.3
	check_grep '^bpfprof: .*ulimit -v' "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines that say so"
done
for kb in 150000 400000 800000; do
	rm -f "$TMP/x.folded"
	run bash -c "ulimit -v $kb; exec \"\$@\"" bash "$BPFPROF" oncpu -o "$TMP/x.folded" -- "$PROGS/spin_abc" 0.3
	ends "ulimit -v $kb"
done
for files in 8 32 64; do
	rm -f "$TMP/x.folded"
	run bash -c "ulimit -n $files; exec \"\$@\"" bash "$BPFPROF" oncpu -o "$TMP/x.folded" -- "$PROGS/spin_abc" 0.3
	ends "ulimit -n $files"
	[ "$STATUS" -eq 0 ] || check_grep 'ulimit -n' "$ERR"
done
run bash -c 'ulimit -Sn 16; exec "$@"' bash "$BPFPROF" oncpu -o "$TMP/x.folded" -- "$PROGS/spin_abc" 0.3
check_near "$STATUS" 0 0 "status with a soft limit of 16 files"
run bash -c 'ulimit -l 0; exec "$@"' bash "$BPFPROF" oncpu -o "$TMP/x.folded" -- "$PROGS/spin_abc" 0.3
check_near "$STATUS" 0 0 "status with no locked memory allowed, as root"
finish
