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
mistake 2 "must be a size from 1 MB to 1 TB" oncpu --max-mem 2T
check "1T, as that says" "$BPFPROF" oncpu -I --max-mem 1T -d 0.1 -o "$TMP/x.txt"
finish
