#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 180
# Programs run with breakpoints at the entries and the chosen places of all functions of a library: whoever enters comes
# to the place next with the same arguments, and nobody else does. The kernel's probes count the same at both. A probe at
# the place is cheaper.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3 g++
need_root
[ "$(uname -m)" = x86_64 ] || skip "breakpoints are set on x86-64 only"
e2e=$ROOT/build/tests/e2e
[ -x "$e2e/place_steps" ] || lacks "place_steps is not built"

cat >"$TMP/streams.cc" <<'CC'
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
int main()
{
	std::map<std::string, int> seen;
	std::ostringstream out;
	for (int i = 0; i < 300; i++) {
		out.str("");
		out << std::hex << i << ' ' << std::fixed << i * 0.5 << std::setw(8) << i;
		seen[out.str()] = i;
		try {
			if (i % 3 == 0)
				throw std::runtime_error(out.str());
			seen.at("none");
		} catch (const std::exception &e) {
			seen[e.what()]++;
		}
	}
	std::istringstream in("1 2.5 abc");
	std::ifstream file("/proc/self/status");
	std::wostringstream wide;
	std::string line;
	double number;
	int integer;
	in >> integer >> number >> line;
	while (std::getline(file, line))
		std::cout << line.substr(0, 3) << line.find('o') << std::endl;
	wide << L"x" << integer << number;
	std::cout << std::stod("3.5") + seen.size() << std::put_time(std::localtime((const time_t[]){ 0 }), "%F");
	return 0;
}
CC
g++ -std=c++17 -O1 -o "$TMP/streams" "$TMP/streams.cc" || lacks "g++ cannot build a program"
program='import json, math, os, re, time
print(json.dumps({"a": [1, 2.5]}), re.findall("a+", "aab"), os.listdir("/"), time.strftime("%c"), "%.3f" % math.sin(2))
print(sorted(open("/proc/self/status").read().split(":")), os.environ)'
# A pyenv or a virtual environment puts scripts in front of it.
python=$(realpath "$(python3 -c 'import sys; print(sys.executable)')")

steps() { # WHAT FEWEST-RAN FILE PROGRAM ARGS...
	local what=$1 fewest=$2 file

	file=$(realpath "$3")
	shift 3
	check "$what: each call comes to the place with its arguments" "$e2e/place_steps" "$file" "$@"
	cp "$OUT" "$TMP/steps"
	echo "# figure: $what $(tail -n 1 "$OUT")"
	check "$what: at least $fewest functions ran" test "$(grep -c '^ran ' "$TMP/steps")" -ge "$fewest"
	# Each probe of the kernel takes 0.1 s to be taken away: 25 functions are 5 s.
	awk '$1 == "ran" { print $2 }' "$TMP/steps" | head -n 25 >"$TMP/entries"
	check "$what: probes of the kernel count the same at both" "$e2e/place_hits" "$file" "$TMP/entries" "$@"
	echo "# figure: $what $(tail -n 1 "$OUT")"
}

library_of() { # PROGRAM LIBRARY
	ldd "$1" | awk -v name="$2" 'index($1, name) == 1 { print $3; exit }'
}

export PYTHONHASHSEED=0
steps "libstdc++" 60 "$(library_of "$TMP/streams" libstdc++)" "$TMP/streams"
steps "libc under python3" 8 "$(library_of "$python" libc.so)" "$python" -c "$program"
library=$(library_of "$python" libpython)
steps "python3" 20 "${library:-$python}" "$python" -c "$program"

# Probes cost more and less as other programs use the machine: the best of five.
for _ in 1 2 3 4 5; do
	check "every call is counted at the entry and at the place" "$e2e/place_price" 5000
	cat "$OUT" >>"$TMP/prices"
done
ratio=$(awk '{ if (!e || $2 < e) e = $2; if (!p || $3 < p) p = $3 } END { printf "%.1f", e / p }' "$TMP/prices")
echo "# figure: a call in ns, bare, probed at the entry, at the place: $(sort -n "$TMP/prices" | head -n 1); ratio $ratio"
check "a probe at the place is three times cheaper at least: $ratio" awk -v r="$ratio" 'BEGIN { exit !(r >= 3) }'
finish
