#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Requests of io_uring of known length: a timeout, a socket that is not ready, and what a worker does.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=io.sh
. "${0%/*}/io.sh"
need_bpf
need python3
need_prog io_known
run "$PROGS/io_known" uring 1
[ "$STATUS" -ne 77 ] || skip "this kernel lets nobody use io_uring"

NR=50
record_ops "io_uring" io --kind uring -- "$PROGS/io_known" uring $NR
if grep -q '^bpfprof: warning: uring: not recorded' "$ERR"; then
	skip "this kernel does not say which request is which"
fi
for kind in inline polled punted; do
	check_near "$(row "uring $kind" calls)" $NR 0 "uring $kind"
done
check_near "$(without_end)" 0 0 "without an end"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check_close "$(row "uring inline" total_us)" "$(said timeout)" 2 0 "us of timeouts, against the program's clock"
check_close "$(row "uring polled" total_us)" "$(said socket)" 2 0 "us of reads of a socket"
check_close "$(us_of "$TMP/x.folded" '^io_known;\[uring inline\];(.*;)?main;timing;')" "$(said timeout)" 2 0 "us in timing()"
check_close "$(us_of "$TMP/x.folded" '^io_known;\[uring polled\];(.*;)?main;waiting;')" "$(said socket)" 2 0 "us in waiting()"
check_grep '^io_known;\[uring punted\];(.*;)?main;handing;.*;io_submit_sqes? [0-9]+$' "$TMP/x.folded"

record_ops "slow ones only" io --kind uring --slower 5ms -- "$PROGS/io_known" uring 10
check_near "$(row "uring inline" calls)" 10 0 "--slower keeps timeouts"
check_between "$(ledger "$TMP/x.json" too-short)" 5 10 "left out by --slower"
finish
