#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 600
# Waits of a Tokio program are where the program says they were: context, kind and time of each of its blocking functions,
# as it timed them itself. Two builds here, by day one of
# them of several workers and one of one thread; t647 has them all.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=tokio_cells.sh
. "${0%/*}/tokio_cells.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

several_workers release
[ -z "${NIGHTLY:-}" ] || several_workers fat
one_thread fat
say_cells
# shellcheck disable=SC2046 # two numbers
check_between "$cells" $(by_day "40 48" "60 70") "cells that were judged"

# Who holds a lock and sleeps is in sleep, who waits for it in lock, and neither is the other.
before=$(taken_us)
check "holders and waiters" "$BPFPROF" offcpu -f -o "$TMP/held.bpfprof" -- "$app" 2 --leaves held_mutex,holder --truth "$TMP/held.truth"
taken=$(taken_since "$before")
for leaf in holder:sleep held_mutex:lock; do
	kind=${leaf#*:} leaf=${leaf%:*}
	truth=$(($(json "$TMP/held.truth" leaves "$leaf" ns) / 1000))
	us=$(us_of "$OUT" "blocking::$leaf;.*;\\[$kind\\]")
	all=$(us_of "$OUT" "blocking::$leaf;.*;\\[[^;]*\\]")
	queued=$(us_of "$OUT" "blocking::$leaf;.*;\\[(woken|preempted)\\]")
	echo "# figure: $leaf: $us of $((all - queued)) us blocked are $kind, it measured $truth us"
	check_between "$us" $(((all - queued) * 998 / 1000)) $((all - queued)) "$leaf: us of kind $kind, of all that it blocked"
	# Of what was taken from it while it was about to run the kernel knows nothing.
	check_between "$all" $((truth * 99 / 100 - taken)) $((truth * 102 / 100)) "$leaf: us off the CPU, of $truth, $taken taken"
done

# Names that nobody answers for: all of it is in dns, in the task that asks.
run "$ROOT/tests/e2e/no_network.sh" "$TMP" "$BPFPROF" offcpu -f -o "$TMP/dns.bpfprof" -- \
	"$app" 2 --leaves dns --truth "$TMP/dns.truth"
if [ "$STATUS" -eq 77 ]; then
	echo "# no network of its own is to be had here"
else
	check_is "$STATUS" 0 "without a network: the exit status"
	truth=$(($(json "$TMP/dns.truth" leaves dns ns) / 1000))
	us=$(us_of "$OUT" ';\[task\];tokio_waits::leaves::tasks::dns;.*blocking::dns;.*getaddrinfo.*;\[(dns|woken|preempted)\]')
	dns=$(us_of "$OUT" ';\[task\];tokio_waits::leaves::tasks::dns;.*blocking::dns;.*;\[dns\]')
	echo "# figure: dns without a network: $us us below tasks::dns, $dns us of kind dns, it measured $truth us"
	check_between "$dns" $((truth * 95 / 100)) $((truth * 102 / 100)) "us in task and dns, of $truth"
	check_between "$truth" 900000 9000000 "us that nobody answered"
fi

# Views of what is saved; the last one is of a program in which all is inlined.
saved=$TMP/release.bpfprof
"$BPFPROF" report -f --frames=all --runtime=none "$saved" >"$TMP/none"
check_no_grep ';\[(task|runtime|pool-job)\]' "$TMP/none" "--runtime=none shows no contexts"
check_near "$(folded_sum "$TMP/none")" "$(folded_sum "$TMP/release.folded")" 1000 "and the same time, us"
"$BPFPROF" report -f --idle=hide "$saved" >"$TMP/hide"
check_no_grep '\[idle\]' "$TMP/hide" "--idle=hide hides idle threads"
"$BPFPROF" report -f --group=thread "$saved" >"$TMP/thread"
check_grep '^tokio-rt-worker/w0\([0-9]+\);' "$TMP/thread" "--group=thread numbers workers"
"$BPFPROF" report -f --frames=all "$saved" >"$TMP/all"
check_grep ';\[task\];.*Context::run_task;.*blocking::std_mutex;.*lock_contended;syscall;.*;\[lock\] ' "$TMP/all" \
	"--frames=all leaves nothing out"
check_grep ';\[task\];tokio_waits::leaves::tasks::std_mutex;tokio_waits::leaves::blocking::std_mutex;std::sync::Mutex::lock;\[lock\] ' \
	"$TMP/release.folded" "the default shows the program's frames"
for key in context kind role task; do
	check "--by $key" "$BPFPROF" report --by $key "$saved"
	cp "$OUT" "$TMP/by.$key"
done
check_grep '\[idle-park\]' "$TMP/by.context"
check_grep '\[lock\]' "$TMP/by.kind"
check_grep '\[worker\]' "$TMP/by.role"
check_grep ' tokio_waits::leaves::tasks::std_mutex' "$TMP/by.task"
check "the summary" "$BPFPROF" report -s "$saved"
check_grep '^  (28|29|3[0-2]) workers \(tokio-rt-worker\)' "$OUT"
check_grep 'BLOCKED IN TASKS' "$OUT"

check_grep '^tokio 1[.]54[.]1 in /' "$OUT" "the summary has the version of tokio"

# Without names, its constants still say that it is there.
app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio")
if strip -o "$TMP/stripped" "$app"; then
	check "a stripped program" "$BPFPROF" offcpu --runtime=tokio -s -o "$TMP/stripped.bpfprof" -- \
		"$TMP/stripped" 0.5 --leaves blocking_sleep
	check_grep '^tokio 1[.]54[.]1 in .*/stripped$' "$OUT"
	check_grep '^  stripped: contexts are by the form of stacks' "$OUT"
fi

# One thread for all: its tasks are tasks, and its parks are idle.
check "a runtime of one thread" "$BPFPROF" offcpu -f -- "$app" 0.5 --current --name mine --leaves blocking_sleep,pool_job
check_grep '^tokio_waits;\[task\];.*blocking::blocking_sleep;.*\[sleep\] ' "$OUT"
check_grep '^mine;\[pool-job\];.*blocking::pool_job;.*\[sleep\] ' "$OUT"
check_no_grep '^mine;\[task\]|blocking_sleep.*\[pool-job\]' "$OUT"

check "pprof" "$BPFPROF" report -o "$TMP/x.pb.gz" "$saved"
for word in context idle-park kind thread-park role worker; do
	check "pprof has the label $word" grep -aq "$word" <(zcat "$TMP/x.pb.gz")
done

check_status 2 "an unknown runtime" "$BPFPROF" report --runtime=tokoi "$saved"
check_grep "did you mean 'tokio'" "$ERR"
check "another runtime: shown without" "$BPFPROF" report -f --runtime=go "$saved"
check_grep '--runtime: no stack has a function of go .*names that begin with' "$ERR"
check_status 2 "--by without a runtime" "$BPFPROF" report --by kind --runtime=none "$saved"
finish
