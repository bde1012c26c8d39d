# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The part of tools/bench.sh that is about names: 10,000 addresses of a C++ program with debug information, by its
# functions alone, with inlined calls and lines (cold; kept on disk afterwards; from there), against llvm-symbolizer. And some
# 1,500 samples of a program of 10 MB, from the end of sampling to folded lines with inlined calls, against perf script.
#
# By the environment:
#	NAMES_PROGRAM=FILE	the program; without, one of some 100 MB is built, which takes two minutes
#	PEERS=DIR		a root with perf and addr2line, and with /proc and /tmp; without, there is no ratio to perf

names_source() { # NUMBER: one unit, whose functions are its own
	cat <<-EOT
		#include <algorithm>
		#include <functional>
		#include <map>
		#include <memory>
		#include <set>
		#include <string>
		#include <unordered_map>
		#include <vector>
		struct item$1 {
			int x;
			std::string s;
			bool operator<(const item$1 &o) const { return x < o.x; }
		};
		template <int N> struct f$1 {
			struct key {
				int k;
				bool operator<(const key &o) const { return k < o.k; }
			};
			static int run(int x)
			{
				std::map<key, std::vector<item$1>> m;
				m[key{ N + x }].push_back({ N, std::to_string(x) });
				std::unordered_map<int, std::function<int(int)>> u;
				u[N] = [&](int y) { return y + N; };
				std::set<key> s;
				for (int i = 0; i < x; i++)
					s.insert(key{ i * N });
				auto &v = m.begin()->second;
				std::sort(v.begin(), v.end());
				auto p = std::make_shared<item$1>(v[0]);
				return u[N](m.size()) + s.size() + p->x + f$1<N - 1>::run(x);
			}
		};
		template <> struct f$1<0> { static int run(int) { return 0; } };
		int unit$1(int x) { return f$1<60>::run(x); }
	EOT
}

# It runs for ever when it has an argument, and keeps frame pointers, which perf goes by.
names_build() { # FILE UNITS
	local flags='-O2 -g -fno-omit-frame-pointer -x c++ -c -'

	seq "$2" | xargs -P "$(nproc)" -I% bash -c "names_source % | g++ $flags -o $tmp/unit%.o"
	{
		seq -f 'int unit%g(int);' "$2"
		echo 'int main(int argc, char **) { int sum = 0; do sum += 0'
		seq -f ' + unit%g(argc)' "$2"
		echo '; while (argc > 1); return sum; }'
	} | bash -c "g++ $flags -o $tmp/unit0.o"
	g++ -Wl,--build-id "$tmp"/unit*.o -o "$1"
	rm "$tmp"/unit*.o
}

# Random ones, the same every time.
names_addresses() { # FILE
	nm -S --defined-only "$1" | awk 'NF == 4 && $3 ~ /[tTwW]/ { print $1, $2 }' | sort -u |
		python3 -c 'import random, sys
functions = [[int(word, 16) for word in line.split()] for line in sys.stdin]
random.seed(7)
found = set()
while len(found) < 10000:
    start, size = random.choice(functions)
    found.add(start + random.randrange(size))
print("\n".join(map(hex, sorted(found))))'
}

names_of() { # OPTION...: "MS MB MS-UNTIL-KEPT"
	"$build/tests/e2e/chains" "$@" "$program" 2>&1 >"$tmp/chains" <"$tmp/addresses" | awk '{ print $2, $4, $8 }'
}

theirs() { # SYMBOLIZER FILE: "MS MB"
	python3 -c 'import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run([sys.argv[1], "--inlining", "-e", sys.argv[2]], stdin=open(sys.argv[3]), stdout=subprocess.DEVNULL)
print("%.1f %.1f" % (1000 * (time.monotonic() - begin), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))' "$@" "$tmp/addresses"
}

# The time that perf script took, ms, of what it recorded of a process before.
script_ms() {
	local begin=$EPOCHREALTIME

	chroot "$PEERS" perf script -i "$tmp/perf.data" 2>/dev/null >"$tmp/script"
	awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print 1000 * (b - a) }'
}

# From the end of sampling to folded lines, ms.
folded_ms() { # PID OPTION...
	./bpfprof oncpu -v -p "$1" -F 997 -o "$tmp/x.folded" "${@:2}" 1.6 2>&1 >/dev/null |
		sed -n 's/.*finished \([0-9.]*\) ms after.*/\1/p'
}

# The same program, rate and time; its stacks are recorded anew for each figure of ours, since they are named at the end.
names_beside_perf() {
	local target

	names_build "$tmp/one" 1
	start taskset -c "$cpu" "$tmp/one" 1
	target=$pid
	sleep 0.5
	chroot "$PEERS" perf record -N -q -o "$tmp/perf.data" -F 997 -g -p "$target" -- sleep 1.6 2>/dev/null
	: >"$tmp/script_ms" && : >"$tmp/unkept" && : >"$tmp/kept_ms"
	for _ in $(seq "$rounds"); do
		folded_ms "$target" --no-symbol-cache >>"$tmp/unkept"
		folded_ms "$target" >>"$tmp/kept_ms"
		script_ms >>"$tmp/script_ms"
	done
	finish "$target"
	printf '%s samples, with inlined calls: perf script %s ms, %s inlined frames of %s\n' "$(grep -c '^one ' "$tmp/script")" \
		"$(median <"$tmp/script_ms")" "$(grep -c '(inlined)' "$tmp/script")" "$(grep -c '^	' "$tmp/script")"
	verdict "  bpfprof, from the end of sampling, by perf's time" \
		"$(paste "$tmp/unkept" "$tmp/script_ms" | awk '{ print $1 / $2 }' | median)" 1 ""
	verdict "  ... from what was kept on disk" \
		"$(paste "$tmp/kept_ms" "$tmp/script_ms" | awk '{ print $1 / $2 }' | median)" 1 ""
	printf '  bpfprof %s ms, %s ms (medians of %d rounds)\n' "$(median <"$tmp/unkept")" "$(median <"$tmp/kept_ms")" "$rounds"
}

names() {
	local program=${NAMES_PROGRAM:-} symbolizer

	export -f names_source
	export tmp
	if [ -z "$program" ]; then
		program=$tmp/names
		names_build "$program" 11
	fi
	names_addresses "$program" >"$tmp/addresses"
	symbolizer=$(compgen -c llvm-symbolizer | sort -rV | head -n 1)
	: >"$tmp/first" && : >"$tmp/cold" && : >"$tmp/kept" && : >"$tmp/functions" && : >"$tmp/theirs"
	for _ in $(seq "$rounds"); do
		rm -rf "$tmp/cache"
		names_of -n >>"$tmp/functions"
		names_of >>"$tmp/cold"
		CHAINS_CACHE=$tmp/cache names_of >>"$tmp/first"
		CHAINS_CACHE=$tmp/cache names_of >>"$tmp/kept"
		[ -z "$symbolizer" ] || theirs "$symbolizer" "$program" >>"$tmp/theirs"
	done
	printf '10,000 addresses of a program of %s MB with debug information\n' "$(($(stat -c %s "$program") >> 20))"
	verdict "  functions" "$(median <"$tmp/functions")" 200 ms
	verdict "  with inlined calls and lines" "$(median <"$tmp/cold")" 1200 ms
	verdict "  ... when they are kept on disk afterwards" "$(median <"$tmp/first")" 1200 ms
	printf '  until that is written: %s ms\n' "$(awk '{ print $3 }' "$tmp/first" | median)"
	verdict "  from what was kept" "$(median <"$tmp/kept")" 150 ms
	verdict "  peak memory" "$(awk '{ print $2 }' "$tmp/first" | median)" 150 MB
	[ ! -s "$tmp/theirs" ] || printf '  %s: %s ms, %s MB\n' "$symbolizer" "$(median <"$tmp/theirs")" \
		"$(awk '{ print $2 }' "$tmp/theirs" | median)"
	[ ! -s "$tmp/theirs" ] || verdict "  with inlined calls and lines, kept afterwards, by its time" \
		"$(paste -d ' ' "$tmp/first" "$tmp/theirs" | awk '{ print $1 / $4 }' | median)" 1 ""
	[ -z "${PEERS:-}" ] || names_beside_perf
}
