#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 1200
# At least 97 % is left of the throughput of Tokio programs while offcpu --runtime=tokio looks at them: the median of pairs of
# runs with and without, interleaved.
#
#	NIGHTLY=1 PAIRS=15 PROGRAMS='axum_echo' tests/run.sh tests/e2e/t636-*.sh
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need python3 cargo wrk redis-benchmark
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

build() { # VARIANT; sets $built
	built=$("$ROOT/tests/progs/tokio/build.sh" "$1" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$1 is built" && show && finish; }
}
build serversall
servers=$built
build release
waits=$built

for program in ${PROGRAMS:-axum_echo pingpong mini_redis}; do
	drive throughput.py "$program" "${PAIRS:-15}" 97 "$servers" "$waits" "$TMP"
done
[ "$nr_checks" -gt 0 ] || skip "the host is too busy to measure throughput"
finish
