#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent says at its end what engines did not get, and before it what it does not send; labels that each series has already
# are refused, as they would cost all of them. Its help has its own defaults.
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
cd "$TMP" || exit 1
mkdir kept
start python3 "$ROOT/tests/e2e/engine_stub.py" serve kept 500 503/60
STUB=$PID
wait_until 10 test -s kept/port || fail "the stub starts"
url=http://127.0.0.1:$(cat kept/port)
start "$PROGS/spin_abc" 100
SPIN=$PID

start_bpfprof agent -v -p "$SPIN" -i 1s --push parca="$url"
sleep 3.5
stop "$PID"
check_is "$STATUS" 0 "exit status"
check_grep 'parca .*: [0-9]+ requests were not delivered \([0-9]+ waited at the end, 1 refused\)' "$ERR"
check_no_grep '^bpfprof: : ' "$ERR" "sources of names belong to something"

echo 'label wait_class="x"' >rules
start_bpfprof agent -p "$SPIN" -i 1s --rules rules --push parca="$url"
sleep 3.5
stop "$PID"
check_is "$(grep -c 'series are not sent that it would refuse: a label with a name that engines use' "$ERR")" 1 \
	"it is said once what is not sent"
check_grep 'were not delivered \([0-9]+ unfit\)' "$ERR"

start_bpfprof agent -p "$SPIN" -i 1s --push parca="$url"
sleep 2.5
stop "$PID"
check_no_grep delivered "$ERR" "nothing is said when all arrived"
stop "$STUB"

rm kept/port
start python3 "$ROOT/tests/e2e/engine_stub.py" serve kept 302
STUB=$PID
wait_until 10 test -s kept/port || fail "the stub starts again"
start_bpfprof agent -p "$SPIN" -i 1s --push parca="http://127.0.0.1:$(cat kept/port)"
check "redirections are told" wait_until 20 grep -q 'HTTP 302, not followed: push to where it leads' "$ERR"
stop "$PID"
stop "$STUB"

if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=16k,mode=700 none disk 2>/dev/null; then
	start_bpfprof agent -p "$SPIN" -i 1s --spool disk --push parca="$url"
	sleep 6
	stop "$PID"
	nr=$(find disk -name '*.push' | wc -l)
	umount disk
	check_grep "requests were not delivered \\([0-9]+ waited at the end\\)" "$ERR" "what found no room is told"
	check_grep " $nr requests wait in disk" "$ERR" "and what is there"
fi
stop "$SPIN"

for name in __name__ wait_class wait.class; do
	mistake 2 "engines use that name themselves" agent --push parca="$url" --label $name=x -d 1
done
mistake 2 "is no printable text" agent --push parca="$url" --label $'team=\xff' -d 1
mistake 2 "a percentage up to 100" agent --keep kept --on 'cpu>101%' -d 1
check "help" "$BPFPROF" agent --help
tr -s ' \n' ' ' <"$OUT" >help
check_grep 'samples per second and CPU \(default 19\)' help
check_grep 'the busier they are \(default 0\.5; 0: no limit\)' help
finish
