#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 300
# What the README shows of a Tokio program is so: idleness in two bars, the task that waits for a mutex and the one that holds
# it while it blocks, each for as long as the program says; and lock names who holds it.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"
folder=$("$ROOT/tests/progs/tokio/build.sh" servers "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

check "offcpu" "$BPFPROF" offcpu -n tokio-rt-worker -U -o "$TMP/x.bpfprof" -o "$TMP/x.svg" -- "$folder/shop" 8 3
read -r held waited <"$OUT"
"$BPFPROF" report -f "$TMP/x.bpfprof" >"$TMP/folded"
check_folded "$TMP/folded"
idle=$(grep -Ec '^tokio-rt-worker;\[idle\];\[(park|driver)\] ' "$TMP/folded")
check_is "$idle" 2 "idle bars of workers"
check_between "$(folded_pct "$TMP/folded" ';\[idle\];\[(park|driver)\]')" 55 95 "% of their time is idle"
check_close "$(us_of "$TMP/folded" ';\[task\];shop::audit;std::thread::sleep;\[(sleep|woken)\]')" "$held" 2 20000 \
	"us that audit blocks and holds the mutex"
check_close "$(us_of "$TMP/folded" ';\[task\];shop::login;std::sync::Mutex::lock;\[(lock|woken)\]')" "$waited" 4 50000 \
	"us that login waits for it"
check_between "$(us_of "$TMP/folded" ';\[task\];')" 1 $(((held + waited) * 110 / 100 + 50000)) "us in tasks in all"

check "lock" "$BPFPROF" lock --by task -U -n tokio-rt-worker -- "$folder/shop" 8 3
check_grep ' shop::login, held by shop::audit$' "$OUT"
finish
