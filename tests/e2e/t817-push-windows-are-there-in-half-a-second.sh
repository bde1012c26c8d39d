#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Half a second after a window has ended it is delivered to engines that answer at once, of a host's hundreds of stacks and of
# one program's thousands. From the window's own end to the last byte of its last request, by the clock.
# alone: it judges times
# timeout: 240
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_nightly
need python3
need_prog spin_abc many_stacks
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1

measure() { # NAME SECONDS AGENT-OPTIONS...
	local name=$1 seconds=$2 url
	shift 2
	mkdir "$name"
	# As urgent as the agent is: how busy the host is otherwise is not judged.
	python3 "$ROOT/tests/e2e/sink.py" serve "$name" &
	local sink=$!
	pids+=("$sink")
	wait_until 10 test -s "$name/port" || fail "the sink starts"
	url=http://127.0.0.1:$(cat "$name/port")
	check "an agent: $name" timeout -s KILL $((seconds + 60)) "$BPFPROF" agent --keep "$name/kept" \
		--push "pyroscope=$url" --push "parca=$url" --push "otlp=$url" -d "$seconds" "$@"
	check "windows in time: $name" python3 "$ROOT/tests/e2e/sink.py" late "$name" "$name/kept" "${LIMIT_MS:-500}"
	grep '^#' "$OUT"
	python3 -c "
import sys
from windows import *
for p in windows('$name/kept')[1:3]:
    w = Window(p)
    print('# a window:', len(w.tables['STKS']) // 12, 'stacks,', len(w.tables['SMPL']) // 48, 'samples,', round(w.meta['cpu_ns'] / 1e6), 'ms of CPU')"
	stop "$sink"
}
start "$PROGS/spin_abc" 200
measure few 21 -i 3s
start "$PROGS/many_stacks" 200 20
targets=$PID
start "$PROGS/many_stacks" 200 20
targets+=,$PID
measure thousands 31 -i 10s -F 150 -p "$targets"
measure more-thousands 41 -i 10s -F 1500 -p "$targets"
finish
