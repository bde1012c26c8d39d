#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where --max-mem is too little, what is said to be needed is enough, and so is each limit above it.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf

for command in "oncpu -I" offcpu timeline sched; do
	# shellcheck disable=SC2086
	check_status 1 "$command: 1 MB is too little" "$BPFPROF" $command --max-mem 1 -d 0.1 -o "$TMP/x.txt"
	least=$(sed -n 's/^bpfprof: --max-mem 1 is too little: bpfprof needs some \([0-9]*\) MB here$/\1/p' "$ERR")
	check_between "$least" 20 200 "$command: MB that are needed"
	for ((mb = least; mb <= least + 8; mb += 1)); do
		# shellcheck disable=SC2086
		check "$command: $mb MB are enough" "$BPFPROF" $command --max-mem "$mb" -d 0.1 -o "$TMP/x.txt"
	done
done
# Who asked for more than usual is told what that takes; a limit is told as it was given.
wants() { # OPTION MAX-MEM ARGUMENTS...
	check_status 1 "$*: too little" "$BPFPROF" "${@:3}" --max-mem "$2" -d 0.1 -o "$TMP/x.txt"
	check_grep "^bpfprof: --max-mem $2 is too little: bpfprof needs some [0-9]+ MB here, [0-9]+ MB less without $1$" "$ERR"
}
wants --ring 64 timeline --ring 256
wants --stack-mem 40 offcpu --stack-mem 40
wants --stack-mem 64 offcpu --stack-mem 40 --max-stacks 1000000
wants --max-rows 64 syscalls --max-rows 1000000
wants --max-open 64 io --max-open 1000000
wants --ring 40000K sched --ring 64
check_status 1 "30000 KB are too little" "$BPFPROF" offcpu --max-mem 30000K -d 0.1 -o "$TMP/x.txt"
check_grep "^bpfprof: --max-mem 30000K is too little: bpfprof needs some [0-9]+ MB here$" "$ERR"
mistake 2 "must be a size from 1 MB to 1 TB" oncpu --max-mem 2T
check "1T, as that says" "$BPFPROF" oncpu -I --max-mem 1T -d 0.1 -o "$TMP/x.txt"
finish
