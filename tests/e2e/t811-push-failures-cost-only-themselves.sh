#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Engines that are down, slow, overloaded, broken or strict: what may be sent again arrives once, what kills is dropped,
# what waits survives in the spool; tokens, addresses and spools that are wrong get one sentence.
# alone: it needs the CPUs for itself
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
STUB=$ROOT/tests/e2e/engine_stub.py
cd "$TMP" || exit 1
"$ROOT/build/tests/e2e/gen_profile" wall wall.bpfprof || exit 1

serve() { # ANSWER...; sets $url
	rm -rf kept
	mkdir kept
	start python3 "$STUB" serve kept "$@"
	wait_until 10 test -s kept/port || fail "the stub starts"
	url=http://127.0.0.1:$(cat kept/port)
}
taken() { wc -l <kept/taken 2>/dev/null || echo 0; }
push() { "$BPFPROF" push --now --retry 0.1s "$@"; }

serve 429/1 503 502 504
check "overload is tried again" push --to parca="$url" wall.bpfprof
check_grep 'retried   4 times' "$OUT"
check_is "$(taken)" 1 "and arrives once"

serve 503/+2
from=$EPOCHREALTIME
check "an engine says when, by a date" push --to parca="$url" wall.bpfprof
check_between "$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" 0.9 100 "seconds that it was left alone"

serve 500
check_status 1 "500 is final" push --to pyroscope="$url" wall.bpfprof
check_grep 'the engine refused it' "$OUT"
check_grep 'HTTP 500' "$OUT"
check_no_grep $'\033' "$OUT" "no control characters of the engine"
serve garbage
check_status 1 "garbage is a refusal" push --to otlp="$url" wall.bpfprof
check_no_grep $'\033' "$ERR"

serve 400
check "a request that Parca refuses is sent in parts" push --to parca="$url" wall.bpfprof
check_is "$(taken)" 9 "each once"
serve 400 400
check_status 1 "of which a bad one costs only itself" push --to parca="$url" wall.bpfprof
check_is "$(taken)" 8 "all others arrive"

serve close close
check_status 1 "what breaks the connection twice is dropped" push --to parca="$url" wall.bpfprof
check_grep 'connection broke twice' "$OUT"
serve close
check "once is tried again" push --to parca="$url" wall.bpfprof
serve slow
check "a slow engine is waited for" push --timeout 20s --to parca="$url" wall.bpfprof

# Down, then up: by the spool.
stop "$PID"
check_status 1 "an engine that is down" push --wait 0.5s --spool spool --to parca="$url" wall.bpfprof wall.bpfprof
check_is "$(find spool -name '*.push' | wc -l)" 2 "both wait in the spool"
echo damaged >"spool/00000000000000000001-000000.$(basename "$(find spool -name '*.push' | head -n 1)" | cut -d. -f2).push"
PORT=${url##*:}
export PORT
serve
check_status 1 "up again" push --spool spool --to parca="$url"
check_is "$(taken)" 2 "both arrive once"
check_grep 'damaged' "$OUT" "and the damaged file is told"
check_is "$(find spool -name '*.push' | wc -l)" 0 "nothing is left"

# Killed while it waits.
stop "$PID"
start "$BPFPROF" push --now --retry 60s --wait 60s --spool spool --to parca="$url" wall.bpfprof
wait_until 10 sh -c 'ls spool/*.push >/dev/null 2>&1'
check_fail "two use one spool" push --spool spool --to parca="$url" wall.bpfprof
check_grep 'another bpfprof uses the spool' "$ERR"
stop "$PID" KILL
serve
check "what the killed one left" push --spool spool --to parca="$url"
check_is "$(taken)" 1 "arrives once"

# A spool that is full keeps the newest; what is older than Pyroscope takes is not sent at all.
stop "$PID"
"$ROOT/build/tests/e2e/gen_profile" 5000 large.bpfprof || exit 1
check_status 1 "more than the spool may hold" push --retry 60s --wait 0.5s --spool full --max-spool 1M --to parca="$url" \
	large.bpfprof wall.bpfprof large.bpfprof wall.bpfprof
check_grep 'dropped.*the spool was full' "$OUT"
check_between "$(cat full/*.push | wc -c)" 1 $((1 << 20)) "bytes in it"
dropped=$(sed -n 's/.*dropped *\([0-9]*\): the spool was full/\1/p' "$OUT")
check_is $((dropped + $(find full -name '*.push' | wc -l))) 4 "what waits and what was dropped together"
unset PORT
serve
check_status 1 "a recording of long ago" "$BPFPROF" push --to pyroscope="$url" wall.bpfprof
check_grep 'dropped   1: it is older than the engine takes' "$OUT"
check_fail "is not sent" test -e kept/taken

# Mistakes.
for port in : :/x :0 :65536 :7o7o; do
	mistake 2 "is a port from 1 to 65535" push --to "parca=http://127.0.0.1$port" wall.bpfprof
done
(umask 077 && echo secret >token)
check "a token" push --token-file token --tenant t1 --to parca="$url" wall.bpfprof
check_grep 'Bearer secret.*t1' kept/taken
chmod 644 token
check_fail "a token that others can read" push --token-file token --to parca="$url" wall.bpfprof
check_grep 'everybody can read the token in token: chmod o=' "$ERR"
printf 'two words\n' >words && chmod 640 words
check_fail "a token of two words" push --token-file words --to parca="$url" wall.bpfprof
check_grep 'words holds something else than a token' "$ERR"
check_status 2 "an engine that is none" push --to parka="$url" wall.bpfprof
check_grep "did you mean 'parca'" "$ERR"
check_status 2 "another host in the clear" push --to parca=http://192.0.2.1 wall.bpfprof
check_grep 'insecure' "$ERR"
check_status 2 "a password in an address" push --to parca=https://a:b@192.0.2.1 wall.bpfprof
check_no_grep 'a:b' "$ERR"
check_status 2 "a label that engines refuse" push --label 1a=b --to parca="$url" wall.bpfprof
check_grep 'begin with no digit' "$ERR"
check_fail "a certificate that is not there" push --ca none.pem --to parca=https://192.0.2.1 wall.bpfprof
check_grep 'cannot open none.pem: No such file' "$ERR"
check_status 2 "another scheme" push --to parca=file:///etc/passwd wall.bpfprof
finish
