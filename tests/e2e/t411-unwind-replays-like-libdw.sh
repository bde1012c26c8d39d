#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 300
# Of thousands of stacks of real programs, taken as "perf record --call-graph dwarf" does, the step that walks them in
# the kernel finds the same frames as libdw, to the last one.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
RECORDER=${PROGS%/progs}/e2e/recorder
REPLAY=${PROGS%/progs}/e2e/replay
for prog in "$RECORDER" "$REPLAY"; do
	[ -x "$prog" ] || lacks "$prog is not built"
done
# Guests are slow.
SECONDS_EACH=${IN_GUEST:+5}
SECONDS_EACH=${SECONDS_EACH:-$(by_day 2 3)}
FEWEST=${IN_GUEST:+500}
FEWEST=${FEWEST:-2000}

compare() { # NAME
	check "$1: no frame differs" "$REPLAY" compare "$TMP/$1.data"
	sed "s,$TMP/,,; s/^/#   /" "$OUT"
	cat "$OUT" >>"$TMP/all"
}

record() { # NAME CMD...
	local name=$1

	shift
	check "$name: recorded" "$RECORDER" "$TMP/$name.data" 499 "$SECONDS_EACH" -- "$@"
	compare "$name"
	[ "$name" = shapes ] || rm -f "$TMP/$name.data"
}

sum() { # FIELD
	awk -v field="$1" '{ for (i = 2; i < NF; i++) if ($i == field) sum += $(i + 1) } END { print sum + 0 }' "$TMP/all"
}

pct() { # FIELD
	awk -v part="$(sum "$1")" -v all="$(sum samples)" 'BEGIN { printf "%.2f\n", all ? 100 * part / all : 100 }'
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
cat >"$TMP/compile.cc" <<'EOT'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, std::vector<std::regex>> m;
	m["a"].push_back(std::regex("x+"));
	for (auto &[k, v] : m)
		std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return &a < &b; });
	std::cout << m.size();
}
EOT

need_prog shapes
record shapes "$PROGS/shapes"
record python /usr/bin/python3 "$TMP/threads.py"
for prog in nofp_asm nofp_signal nofp_throw nofp_drap; do
	[ ! -x "$PROGS/$prog" ] || record "$prog" "$PROGS/$prog"
done
if [ -z "${IN_GUEST:-}" ]; then
	need g++ clang++ sqlite3
	record g++ g++ -O2 -std=c++17 -c "$TMP/compile.cc" -o "$TMP/compile.o"
	record clang++ clang++ -O2 -std=c++17 -c "$TMP/compile.cc" -o "$TMP/compile.o"
	record sqlite3 sqlite3 :memory: "with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000000)
		select count(distinct x * 7 % 1000), sum(length(printf('%d', x))) from c;"
	# What perf itself writes.
	if perf record -q -e cpu-clock -F 499 --call-graph dwarf,16384 -o "$TMP/perf.data" \
		-- "$RECORDER" /dev/null 1 2 -- "$PROGS/shapes" >"$TMP/perf.log" 2>&1; then
		compare perf
	fi
fi
check "$(sum samples) samples, $(sum frames) frames" test "$(sum samples)" -ge "$FEWEST"
check_near "$(sum different)" 0 0 "different walks"
check_near "$(pct lost)" 0 1 "percent of walks that bpfprof ended for a register"
check_near "$(pct torn)" 0 1 "percent of walks that bpfprof ended for a frame below the one before"
check_near "$(pct stubs)" 0 3 "percent of walks that libdw ended for want of unwind data"

# And one wrong rule in each walk would be seen.
check_fail "wrong rules are seen" "$REPLAY" compare --spoil "$TMP/shapes.data"
nr_samples=$(sed -nE 's/.* samples ([0-9]+) .*/\1/p' "$OUT")
check_near "$(sed -nE 's/.* different ([0-9]+) .*/\1/p' "$OUT")" "${nr_samples:-0}" $((${nr_samples:-0} / 20)) \
	"walks with a wrong rule that are different"
finish
