#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What an agent says that it costs is within bounds, and what redis and a compiler lose beside it, where 15 pairs of each are near
# enough to each other to tell.
# alone: it compares throughput
# timeout: 2400
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need python3 gcc redis-benchmark redis-check-rdb
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1 BPFPROF
# The budget is half a percent. What it cannot leave out (the way through each switch) comes on top of it, docs/fleet.md.
for load in ${LOADS:-redis compile}; do
	mkdir "$TMP/$load"
	python3 "$ROOT/tests/e2e/agent_cost.py" "$load" "${PAIRS:-15}" "${MOST:-1}" "$TMP/$load" >"$TMP/$load.out" || fail "$load"
	while read -r line; do
		case $line in
		"ok "*) check "${line#ok }" true ;;
		"not ok "*) check "${line#not ok }" false ;;
		*) echo "$line" ;;
		esac
	done <"$TMP/$load.out"
done
finish
