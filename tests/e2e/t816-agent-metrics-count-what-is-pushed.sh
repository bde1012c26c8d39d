#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent's /metrics say of each engine what it took, what was refused and what waits, as the engines themselves have it.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 curl
need_prog spin_abc
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
STUB=$ROOT/tests/e2e/engine_stub.py
cd "$TMP" || exit 1

# One that refuses the first two windows, and one that is down.
mkdir kept
start python3 "$STUB" serve kept 500 500
wait_until 10 test -s kept/port || fail "the stub starts"
up=http://127.0.0.1:$(cat kept/port)
start "$PROGS/spin_abc" 60
start_bpfprof agent -p "$PID" -i 2s --listen "unix:$TMP/socket" --push "pyroscope=$up" --push parca=http://127.0.0.1:1 --spool spool
AGENT=$PID

scrape() { curl -s --unix-socket socket http://localhost/metrics >metrics; }
value() { # METRIC ENGINE [MORE-LABELS]
	awk -v want="bpfprof_push_$1{engine=\"$2\"" -v more="${3:-}" 'index($0, want) == 1 && index($0, more) { print $NF; exit }' metrics
}
has_taken() { scrape && [ "$(value sent_requests_total pyroscope)" -ge "$1" ]; }
wait_until 30 test -S socket || fail "the agent listens"
check "metrics of a push" wait_until 60 has_taken 3
# What is taken meanwhile is taken between the two; of one, the answer may be on its way.
before=$(($(wc -l <kept/taken) - 1))
scrape
sleep 0.2
check_between "$(value sent_requests_total pyroscope)" "$before" "$(wc -l <kept/taken)" "requests that it took"
check_is "$(value dropped_requests_total pyroscope 'cause="refused"')" 2 "requests that it refused"
check_is "$(value dropped_requests_total pyroscope 'cause="cap"')" 0 "requests that found no room"
check_is "$(value sent_requests_total parca)" 0 "requests that one that is down took"
check_between "$(value windows_total parca)" 5 1000 "windows for it"
check_is "$(value waiting_requests parca)" "$(value windows_total parca)" "requests that wait for it"
check_between "$(value delivery_seconds pyroscope)" 0.000001 60 "seconds to deliver"
check_is "$(grep -c '^# TYPE bpfprof_push_' metrics)" "$(grep '^# TYPE bpfprof_push_' metrics | sort -u | wc -l)" "kinds"
check_grep '^# TYPE bpfprof_push_sent_requests_total counter' metrics
check_grep '^# TYPE bpfprof_push_waiting_requests gauge' metrics
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
check_is "$(find spool -name '*.push' | wc -l | awk '{ print ($1 >= 5) }')" 1 "what waits is in the spool"
# No more series than were said, the rest is "other"; rare branches go to their callers.
mkdir few
start python3 "$STUB" serve few
wait_until 10 test -s few/port || fail "another stub starts"
rm -f socket
for i in 1 2 3 4; do
	cp "$PROGS/spin_abc" "service$i"
	start "./service$i" 30
done
check "agent with few series" "$BPFPROF" agent -i 1s --listen "unix:$TMP/socket" --max-series 3 --min-weight 20 \
	--push "pyroscope=http://127.0.0.1:$(cat few/port)" -d 3
check "what it sent" python3 "$STUB" sums few
cp "$OUT" sums
check "the least are other" grep -q ' other ' sums
check_between "$(awk '$3 != "bpfprof" && !seen[$3]++' sums | wc -l)" 2 4 "services with those"
mistake 2 "--min-weight goes with --push" agent --keep kept2 --min-weight 1
mistake 2 "--max-series goes with" agent --keep kept2 --max-series 1
mistake 2 "'x' is no number from 0 to 50" agent --push "pyroscope=$up" --min-weight x
finish
