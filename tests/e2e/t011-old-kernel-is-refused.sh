#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A kernel before 5.15 gets one sentence that names the version it needs, exit status 77, and nothing is loaded.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
awk -v release="$(uname -r)" 'BEGIN { split(release, v, "."); exit !(v[1] * 1000 + v[2] < 5015) }' ||
	skip "this kernel is new enough (guests with 5.10 run it)"

check_status 77 "refused" "$BPFPROF" oncpu 1
check_grep '^bpfprof: kernel 5\.10[^ ]* is too old: bpfprof needs 5\.15' "$ERR"
check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
check_status 77 "refused before the program runs" "$BPFPROF" oncpu -- touch "$TMP/ran"
check_fail "it did not run" test -e "$TMP/ran"
finish
