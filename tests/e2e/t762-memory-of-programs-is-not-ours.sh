#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --max-mem bounds what is ours: not what the profiled program has, nor the children of a shell that became bpfprof, though
# all of them are children of its process.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3

cat >"$TMP/fills" <<'P'
import sys, time
filled = bytearray(b"x") * (150 << 20)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    sum(range(1000))
P

recorded() { # WHAT LEAST_S
	check_no_grep 'ended after|too little memory' "$ERR" "$1: nothing is short"
	check_between "$(json "$TMP/x.json" profile duration_s)" "$2" 100 "$1: seconds"
	check_grep '^python' "$TMP/x.folded" "$1: its stacks"
}
outputs=(-o "$TMP/x.json" -o "$TMP/x.folded")
check "a program" "$BPFPROF" oncpu --max-mem 64 -F 99 "${outputs[@]}" 20 -- python3 "$TMP/fills" 1
recorded "a program" 1
rm "$TMP"/x.*
# shellcheck disable=SC2016
check "a shell that calls exec" bash -c 'python3 "$0" 5 & sleep 1; exec "$@"' "$TMP/fills" "$BPFPROF" oncpu --max-mem 64 -F 99 \
	"${outputs[@]}" 1
recorded "a shell that calls exec" 0.9
finish
