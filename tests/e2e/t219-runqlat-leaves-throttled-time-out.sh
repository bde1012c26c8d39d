#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Time in which a thread may not run since its cgroup has used up its CPU quota is no run-queue latency: what is left of
# its time off the CPU is.
# alone: it measures waits for a CPU
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_cpu
# shellcheck source=quota.sh
. "${0%/*}/quota.sh"

before=$(throttled) before_taken=$(taken_us)
# shellcheck disable=SC2016
check "runqlat" "$BPFPROF" runqlat --per-thread --json 4 -- \
	bash -c 'echo $$ >"$1/cgroup.procs"; exec "$2" alone 3 >"$3"' bash "$group" "$PROGS/waits_cpu" "$TMP/did"
told=$(($(throttled) - before))
taken=$(taken_since "$before_taken")
check_between "$told" 500000 3000000 "us throttled, says the cgroup"
read -r waits sum most < <(python3 -c 'import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if (r.get("name") or r["comm"]) == "alone"]
waits = [r[kind] for r in rows for kind in ("woken", "preempted") if r.get(kind)]
print(sum(w["count"] for w in waits), round(sum(w["total_us"] for w in waits)), round(max(w["max_us"] for w in waits)))' "$OUT")
off=$(truth alone)
check_between "$waits" 10 1000000 "waits for a CPU, of which each throttling ends with one"
# The thread may have been off the CPU for others as well.
check_clock "$sum" $((off - told)) 0 $((off / 50 + 6000)) "us waited for a CPU, of $off without one, $told throttled"
check_between "$most" 0 $((off - told + off / 50 + 6000)) "us of the longest wait"
finish
