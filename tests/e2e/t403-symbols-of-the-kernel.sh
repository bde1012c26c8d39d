#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Kernel functions have the names that the kernel lists, no address of the kernel is shown, and asking for names takes
# no time worth telling.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog in_kernel forks

start "$PROGS/forks" 60
check "many places in the kernel" "$BPFPROF" oncpu -v -F 999 -f -A -K -o "$TMP/x.txt" 1 -- "$PROGS/in_kernel" 60
cp "$OUT" "$TMP/folded"
cp "$ERR" "$TMP/err"
check "all in the kernel" "$BPFPROF" oncpu -F 999 -f -A -K 1
cat "$OUT" >>"$TMP/folded"
tr ';' '\n' <"$TMP/folded" | sed -n 's/_\[k\].*//p' | sort -u >"$TMP/names"
awk '{ print $3 }' /proc/kallsyms | sort -u >"$TMP/listed"
check_near "$(comm -23 "$TMP/names" "$TMP/listed" | grep -cv '^\[' )" 0 0 "names that the kernel does not list"
comm -23 "$TMP/names" "$TMP/listed" | sed 's/^/#   not listed: /'
check "several names" test "$(wc -l <"$TMP/names")" -ge 10
check_near "$(folded_pct "$TMP/folded" '\[kernel\](_\[k\])?(;|$)')" 0 1 "frames without a name"
check_near "$(folded_pct <(grep '^in_kernel;' "$TMP/folded") 'read_zero|clear_user|clear_page')" 95 5 "samples where the time goes"
# The kernel calls BPF programs by a hash and a name, and others may run some here.
sed -E 's/bpf_prog_[0-9a-f]{16}_//g' "$TMP/folded" >"$TMP/own"
check_no_grep '[0-9a-f]{16}' "$TMP/own" "no address of the kernel"
check_no_grep 'ffff[0-9a-f]{12}' "$TMP/x.txt" "no address of the kernel"
finish
