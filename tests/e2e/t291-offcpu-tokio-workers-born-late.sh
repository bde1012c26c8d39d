#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Workers that are born while it is recorded have not run before; a runtime of one thread has no workers, and the summary
# says so; where functions are estimates, it says that beside them.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

check "workers that are born late" "$BPFPROF" offcpu -o "$TMP/x.bpfprof" -- \
	sh -c 'sleep 1.5; exec "$0" 0.5 --workers 28 --leaves blocking_sleep' "$app"
"$BPFPROF" report --json "$TMP/x.bpfprof" >"$TMP/x.json"
us=$(json "$TMP/x.json" runtime workers running_us)
all=$(awk -v s="$(json "$TMP/x.json" profile duration_s)" -v n="$(nproc)" 'BEGIN { printf "%d\n", s * n * 1e6 + 1000 }')
check_between "$us" 0 "$all" "us of running, of all CPUs together"
check_between "$(json "$TMP/x.json" runtime workers residual_us)" 20000000 60000000 "us in which 28 workers were not born"
check "its summary" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep '^  running .* at most: all CPUs$' "$OUT"
check_grep '^ +TIME +SHARE +KIND +WHO BLOCKED A TASK$' "$OUT"
check_grep '^ +[0-9.]+ m?s +[0-9.]+% +sleep +.*blocking_sleep' "$OUT"
check_grep '^ +[0-9.]+ m?s +[0-9.]+% +sleep +blocking::blocking_sleep in tasks::blocking_sleep$' "$OUT"
check_grep 'in no line: threads that began or ended meanwhile$' "$OUT"
check_no_grep 'functions are$' "$OUT"

check "a runtime of one thread" "$BPFPROF" offcpu -s -o "$TMP/one.json" -- "$app" 1 --current --leaves blocking_sleep \
	--truth "$TMP/truth"
check_grep '^  1 runtime of one thread [(]tokio_waits[)] x .*; 0 pool threads' "$OUT"
check_grep '^  BLOCKED IN TASKS .*  sleep ' "$OUT"
one=(json "$TMP/one.json" runtime one_thread)
slept=$(($(json "$TMP/truth" leaves blocking_sleep ns) / 1000))
check_between "$("${one[@]}" contexts task us)" $((slept * 90 / 100)) $((slept * 102 / 100)) \
	"us that it blocked in its task, of $slept us by its own clock"
sum=$(python3 - "$TMP/one.json" <<-'END'
	import json, sys
	t = json.load(open(sys.argv[1], encoding="utf8"))["runtime"]["one_thread"]
	print(t["running_us"] + t["run_queue"]["us"] + sum(c["us"] for c in t["contexts"].values()))
	END
)
us=$("${one[@]}" us)
check_between "$sum" $((us * 99 / 100)) $((us * 101 / 100)) "us of all its lines, of $us"
check_no_grep 'workers [(][)]' "$OUT"

unset BPFPROF_MAX_OVERHEAD
run "$BPFPROF" offcpu --max-overhead 0.1 -s -o "$TMP/y.json" -- "$app" 2 --workers 4 --pingpong
if [ "$STATUS" -eq 0 ] && awk -v s="$(json "$TMP/y.json" cost spread_s)" 'BEGIN { exit s < 0.5 }'; then
	check_grep 'of waits are shown by other stacks of their threads, so functions are$' "$OUT"
fi

# Of workers that park while the recording ends, the stack may have been left out; where they park is known.
"$app" 12 --quiet --workers 12 &
app_pid=$!
sleep 1
run "$BPFPROF" offcpu --max-overhead 0.4 -s -o "$TMP/z.json" -p "$app_pid" 4
if [ "$STATUS" -eq 0 ]; then
	us=$(json "$TMP/z.json" runtime workers us)
	check_between "$(json "$TMP/z.json" runtime workers contexts not-sampled us)" 0 $((us / 500)) \
		"us of workers whose stacks were not taken, of $us"
fi
kill "$app_pid"
wait "$app_pid"
finish
