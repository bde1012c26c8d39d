#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 600
# What a Tokio program's workers did adds up to workers x wall: running, run queue, idle, blocked and hardly anything
# unclassified. Where tasks are busy and more than CPUs, they wait for a CPU and for nothing else, for as long as they measured.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

export RES_OPTIONS='timeout:1 attempts:1'
busy=$((2 * $(nproc)))
# All but block_in_place() and what is like it: with those, other threads go on as workers, which live for less than all of it.
leaves=std_mutex,pl_mutex,rwlock_read,rwlock_write,blocking_sleep,condvar,channel_recv,thread_park,thread_join
leaves+=,executor_block_on,pool_job,file_read,fsync,mmap_read,dns,tcp_read,pipe_read,flock,child,poll,select,nested_sleep
variants=(fat)
[ -z "${NIGHTLY:-}" ] || variants+=(release full fullfat v0 old oldfat)

for variant in "${variants[@]}"; do
	app=$("$ROOT/tests/progs/tokio/build.sh" "$variant" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$variant is built" && show && continue; }

	burn=("$app" 2 --workers "$busy" --leaves cpu_burn --each "$busy")
	check "$variant: busy tasks" "$BPFPROF" offcpu -o "$TMP/busy.bpfprof" -- "${burn[@]}" --truth "$TMP/busy.truth"
	"$BPFPROF" report -f "$TMP/busy.bpfprof" >"$TMP/busy.folded"
	"$BPFPROF" report --json "$TMP/busy.bpfprof" >"$TMP/busy.json"
	check "$variant: what ran of them" "$BPFPROF" oncpu -f -- "${burn[@]}"
	cp "$OUT" "$TMP/oncpu"
	drive tokio_queue.py "$variant" "$TMP/busy.truth" "$TMP/busy.folded" "$TMP/busy.json" "$TMP/oncpu"

	mkdir -p "$TMP/$variant"
	start "$app" 60 --workers 28 --dir "$TMP/$variant" --leaves $leaves
	sleep 1
	check "$variant: wall of leaves" "$BPFPROF" wall --runtime=tokio -p "$PID" -o "$TMP/wall.json" 5
	stop "$PID" KILL
	drive tokio_wall.py "$variant" 28 "$TMP/wall.json"
done
finish
