#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Connections that are accepted, refused, and given up after a known time, by sockets that block and that do not.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=io.sh
. "${0%/*}/io.sh"
need_bpf
need python3
need_prog io_known
run "$PROGS/io_known" connect 1
[ "$STATUS" -eq 0 ] || skip "no network to itself"

NR=10
record_ops "connections" io --kind connect -- "$PROGS/io_known" connect $NR
grep -q '^bpfprof: warning: connect: not recorded' "$ERR" && skip "this kernel does not show connections"
# The queue of the one that takes none has room for one or two of three that are there already.
check_between "$(row connect calls)" $((NR + 1)) $((NR + 2)) "connections"
check_between "$(row "connect failed" calls)" $((2 * NR + 1)) $((2 * NR + 2)) "that failed"
check_near "$(($(row connect calls) + $(row "connect failed" calls)))" $((3 * NR + 3)) 0 "connections in all"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check_close "$(us_of "$TMP/x.folded" '^io_known;\[connect failed\];(.*;)?main;giving_up;')" "$(said given)" 2 0 \
	"us in giving_up(), against the program's clock"
check_grep '^io_known;\[connect\];(.*;)?main;calling;.*;tcp_v4_connect;' "$TMP/x.folded"
check_grep '^io_known;\[connect failed\];(.*;)?main;missing;' "$TMP/x.folded"
check_near "$(grep -cE ';(bpf_|__traceiter_|__bpf_)' "$TMP/x.folded")" 0 0 "lines with frames of bpfprof itself"

finish
