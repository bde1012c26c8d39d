#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent answers by HTTP: metrics that a strict reader takes and that only rise, profiles of the work that was done,
# health and a page; to others than this host nothing without the token; and it stands hostile names and askers.
# alone: it needs the CPUs for itself
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 strip
need_prog spin_abc
PATH=$PATH:/sbin ldconfig -p | grep -q 'libmicrohttpd\.so\.12' || skip "no libmicrohttpd"
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1
strip -o stripped "$PROGS/spin_abc" || exit 1
start env OTEL_SERVICE_NAME=$'a"b\\c\n1\x01\xff{},=' "$PROGS/spin_abc" 100
SPIN=$PID
start env OTEL_SERVICE_NAME="$(head -c 100000 /dev/zero | tr '\0' x)" ./stripped 100
LONG=$PID

listening() { grep -oE 'listening at \S+' "$ERR" | cut -d ' ' -f 3; }
agent() { # OPTIONS...; sets $AGENT and $URL
	start_bpfprof agent -p "$SPIN,$LONG" -i 1s -v "$@"
	AGENT=$PID
	wait_until 20 listening >/dev/null
	URL=$(listening)
}

agent --keep kept --listen 127.0.0.1:0
check "metrics, profiles and the page" timeout -s KILL 90 python3 "$ROOT/tests/e2e/listener.py" answers "$URL"
grep '^#' "$OUT"
before=$(find "/proc/$AGENT/fd" -type l | wc -l)
check "askers that mean ill" timeout -s KILL 90 python3 "$ROOT/tests/e2e/listener.py" hostile "$URL" ${NIGHTLY:+all}
grep '^#' "$OUT"
# As a write to an engine that is gone may raise it, by the TLS of libcurl. It goes on.
kill -PIPE "$AGENT"
few() { [ "$(find "/proc/$AGENT/fd" -type l | wc -l)" -le $((before + 8)) ]; }
check "their connections are closed" wait_until 20 few
stop "$AGENT"
check_is "$STATUS" 0 "exit status"

# The token of who asks from elsewhere.
(umask 077 && echo 0123456789abcdef0123 >token)
agent --listen 127.0.0.1:0 --listen-token token
check "a token is needed, and enough" timeout -s KILL 60 python3 "$ROOT/tests/e2e/listener.py" token "$URL" 0123456789abcdef0123
check_no_grep 0123456789abcdef0123 "$ERR"
stop "$AGENT"
chmod 644 token
mistake 77 "everybody can read the token in token: chmod o= token" agent --listen 127.0.0.1:0 --listen-token token -d 1
mistake 2 "others can reach this address: it needs --listen-token FILE" agent --listen 0.0.0.0:0 -d 1
mistake 2 "it needs a port from 0 to 65535" agent --listen 127.0.0.1:99999 -d 1

# A socket has no host, and who may write to it is told by its mode.
agent --listen "unix:$TMP/socket"
check "a Unix socket" timeout -s KILL 60 python3 "$ROOT/tests/e2e/listener.py" unix "$TMP/socket"
check_is "$(stat -c %a socket)" 660 "its mode"
mistake 1 "cannot listen at unix:.*another agent" agent --listen "unix:$TMP/socket" -d 1
stop "$AGENT"
check "the socket is gone" test ! -e socket
finish
