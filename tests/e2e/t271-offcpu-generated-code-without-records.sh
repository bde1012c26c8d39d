#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Generated code that uses the frame pointer for something else, as the JVM's does, ends the walk where it stands: its memory is
# not read for frames, which made every stack another one that user space had to look at, and the stack is remembered.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_jit

# The first ones are deferred until there are tables, which takes an emulator long.
naps=2000
for how in "" --audit; do
	# shellcheck disable=SC2086
	record offcpu $how --idle=show -- "$PROGS/waits_jit" "$naps"
	check_between "$(us_of "$TMP/x.folded" ';\[jit\];\[jit\];nap;')" $(($(truth nap) * 9 / 10)) $(($(truth nap) * 11 / 10)) \
		"us in a nap, by way of generated code"
	check_between "$(ledger "$TMP/x.json" deferred)" 0 $((naps / 10)) "deferred"
	check_near "$(ledger "$TMP/x.json" audit-wrong)" 0 0 "wrong by the audit"
	[ -n "$how" ] || check_between "$(ledger "$TMP/x.json" verified)" $((naps * 9 / 10)) 1000000 "verified"
done
finish
