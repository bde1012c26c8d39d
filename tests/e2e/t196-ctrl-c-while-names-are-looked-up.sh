#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A server for debug files takes a question and never answers: Ctrl-C gives the result without its lines, at once, whether
# it is the first one or the one that ended the recording came before.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 strip
need_prog spin_abc
ldconfig -p | grep -q libdebuginfod.so.1 || skip "needs libdebuginfod.so.1"

python3 -u -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])
kept = []
while True:
    kept.append(s.accept())
    print("asked")' >"$TMP/server" 2>/dev/null &
pids+=($!)
wait_until 10 test -s "$TMP/server"
DEBUGINFOD_URLS=http://127.0.0.1:$(head -n 1 "$TMP/server")
export DEBUGINFOD_URLS XDG_CACHE_HOME=$TMP DEBUGINFOD_CACHE_PATH=$TMP/debuginfod DEBUGINFOD_TIMEOUT=60
strip -o "$TMP/bare" "$PROGS/spin_abc"
start "$TMP/bare" 100
bare=$PID

was_asked() { # TIMES
	[ "$(grep -c asked "$TMP/server")" -ge "$1" ]
}

# How long it takes to end on this machine when there is nobody to ask.
start_bpfprof oncpu -p "$bare" -o "$TMP/x.folded" -f
recorder=$PID
sleep 1
begin=$EPOCHREALTIME
kill -INT "$recorder"
wait_for "$recorder"
usual=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }')
echo "# figure: $usual ms to the result without a server"

ended() {
	local begin=$EPOCHREALTIME

	kill -INT "$recorder"
	wait_for "$recorder"
	check_near "$STATUS" 0 0 "$1: exit status"
	check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }')" 0 $((2500 + 2 * usual)) "$1: ms until the result"
	check_grep '^bare;.* [0-9]+$' "$TMP/x.folded" "$1: there is a result"
	check_grep 'names are those of functions only' "$ERR" "$1: what is missing is told"
	rm -f "$TMP/x.folded"
}

start_bpfprof oncpu -p "$bare" --debuginfod -o "$TMP/x.folded" -f 1
recorder=$PID
wait_until 20 was_asked 1 || fail "the server was not asked"
ended "the first Ctrl-C"

start_bpfprof oncpu -p "$bare" --debuginfod -o "$TMP/x.folded" -f
recorder=$PID
sleep 1
kill -INT "$recorder"
wait_until 20 was_asked 2 || fail "the server was not asked again"
ended "the second one"
finish
