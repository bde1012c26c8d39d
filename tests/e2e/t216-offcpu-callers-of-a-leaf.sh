#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two callers of a system call in a function without a frame are two stacks, also where these are remembered: on aarch64
# only the link register tells them apart.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_leaf

naps() { # OPTIONS...
	local name

	record offcpu -m 1 --idle=show "$@" -- "$PROGS/waits_leaf" 50
	for name in nap_long nap_short; do
		check_near "$(pct_of "$(us_of "$TMP/x.folded" ";main;$name;nap_without_frame(;|\$)")" "$(truth $name)")" 100 10 \
			"${1:+$1: }time in $name, % of the truth"
	done
	check_between "$(ledger "$TMP/x.json" verified)" 100 1000 "stacks verified"
}

naps
naps --audit
check_near "$(ledger "$TMP/x.json" audit-wrong)" 0 0 "stacks that the audit found wrong"
finish
