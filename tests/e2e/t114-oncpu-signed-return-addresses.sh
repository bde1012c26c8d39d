#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Return addresses that the CPU signed (pointer authentication of aarch64) make the same stacks as plain ones.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog is_signed deep_fp deep_unsigned

# In the guest that is made for it, their absence would be a mistake.
"$PROGS/is_signed" >/dev/null || [ "${GUEST:-}" = arm64-pauth ] || skip "this CPU signs no return addresses"
check "addresses on the stack are signed" "$PROGS/is_signed"
cat "$OUT"

stacks() { # PROGRAM: its user stacks that end in deep_spin itself
	"$BPFPROF" oncpu -U -F 199 -f -- "$PROGS/$1" 60 2 2>"$ERR" | sed -E 's/^[^;]*;//; s/ [0-9]+$//' | grep 'deep_spin$' | sort -u
}
stacks deep_fp >"$TMP/signed"
stacks deep_unsigned >"$TMP/plain"
check_near "$(wc -l <"$TMP/signed")" 1 0 "stacks of the signed program"
check_near "$(grep -o 'descend;' "$TMP/signed" | wc -l)" 60 0 "frames of descend in it"
check "the same stack as without signatures" diff "$TMP/plain" "$TMP/signed"
check "kernel and user part" "$BPFPROF" oncpu -F 499 -f 1 -- "$PROGS/in_kernel" 60
check_near "$(folded_pct "$OUT" 'main;read_zeros;(read|__read|__libc_read);')" 95 5 "samples below the system call"
finish
