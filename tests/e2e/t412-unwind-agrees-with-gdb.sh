#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 300
# At a hundred random moments of real programs, by day twenty-five, the step that walks stacks in the kernel and gdb see the same frames in
# every thread: the kernel copied the stacks when the threads stopped, and gdb looks at the threads themselves.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
need gdb clang++ python3
gdb -nx -batch -ex 'python print(1)' 2>&1 | grep -qx 1 || skip "needs a gdb with Python"
need_prog shapes nofp_deep
RECORDER=${PROGS%/progs}/e2e/recorder
REPLAY=${PROGS%/progs}/e2e/replay
for prog in "$RECORDER" "$REPLAY"; do
	[ -x "$prog" ] || lacks "$prog is not built"
done

part=4 # of the stops, by day
[ -z "${NIGHTLY:-}" ] || part=1
compare() { # NAME STOPS MOST-CUT-PCT CMD...
	local name=$1 nr=$(($2 / part)) most=$3 prog recorder

	shift 3
	start "$@"
	prog=$PID
	start "$RECORDER" "$TMP/$name.data" 0 300 "$prog"
	recorder=$PID
	wait_until 10 recording "$recorder"
	check "$name: gdb looks" env PID="$prog" STOPS="$nr" gdb -nx -batch -x "$ROOT/tests/e2e/stops.py"
	cp "$OUT" "$TMP/$name.gdb"
	stop "$recorder" INT
	stop "$prog" KILL
	check "$name: stacks are walked" "$REPLAY" frames "$TMP/$name.data"
	cp "$OUT" "$TMP/$name.frames"
	rm -f "$TMP/$name.data"
	check "$name: all stops are equal" python3 "$ROOT/tests/e2e/stops.py" "$TMP/$name.gdb" "$TMP/$name.frames"
	sed 's/^/#   /' "$OUT"
	cat "$OUT" >>"$TMP/all"
	# Of what gdb guesses, which node alone has, most guesses are right.
	check_near "$(awk '/^stops/ { print 100 * $12 / ($6 ? $6 : 1) }' "$OUT")" 0 10 "$name: percent of stacks with wrong guesses of gdb"
	check_near "$(awk '/^stops/ { print 100 * $10 / ($6 ? $6 : 1) }' "$OUT")" 0 "$most" "$name: percent of stacks that are cut"
}

sum() { # FIELD
	awk -v field="$1" '{ for (i = 1; i < NF; i++) if ($i == field) sum += $(i + 1) } END { print sum + 0 }' "$TMP/all"
}

cat >"$TMP/threads.py" <<'EOT'
import hashlib
import json
import threading


def work():
    while True:
        json.dumps([i * 1.5 for i in range(100)])
        hashlib.sha256(b"x" * 1000).digest()
        sorted(range(1000), key=lambda x: -x)


for _ in range(4):
    threading.Thread(target=work).start()
EOT
# Keeps a compiler busy for longer than gdb looks.
{
	echo '#include <regex>'
	for i in $(seq 40); do
		echo "template <int N> struct S$i { std::basic_regex<char, std::regex_traits<char>> r{\"(a|b)+x{$i}\"}; };"
		echo "template struct S$i<$i>; bool f$i(const std::string &s) { return std::regex_match(s, S$i<$i>().r); }"
	done
} >"$TMP/compile.cc"

compare shapes 40 5 "$PROGS/shapes"
compare deep 10 0 "$PROGS/nofp_deep"
compare python 20 5 /usr/bin/python3 "$TMP/threads.py"
# Its deepest stacks are larger than a copy can be; V8 generates code.
compare clang++ 30 30 clang++ -O2 -std=c++17 -c "$TMP/compile.cc" -o "$TMP/compile.o"
! command -v node >/dev/null || compare node 10 50 node -e 'let s = 0; for (;;) s += JSON.stringify({ a: s % 100, b: [s] }).length;'
check "$(sum stops) stops, $(sum stacks) stacks, $(sum frames) frames" test "$(sum stops)" -ge $((100 / part))
check_near "$(sum equal)" "$(sum stops)" 0 "stops where all stacks are equal"

# And a wrong walk would be seen, cut or not: without its second frame, or with another first one.
awk 'NF > 4 { $5 = "" } NF == 4 { $4 = "0" } { print }' "$TMP/shapes.frames" >"$TMP/spoilt.frames"
check_fail "wrong walks are seen" python3 "$ROOT/tests/e2e/stops.py" "$TMP/shapes.gdb" "$TMP/spoilt.frames"
check_near "$(sed -n 's/.* equal \([0-9]*\) .*/\1/p' "$OUT")" 0 0 "stops with wrong walks that are equal"
finish
