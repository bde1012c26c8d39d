# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The part of tools/bench.sh that is about names: 10,000 addresses of a C++ program with debug information, by its
# functions alone, with inlined calls and lines (cold, and from what was kept on disk), against llvm-symbolizer.
#
# By the environment:
#	NAMES_PROGRAM=FILE	the program; without, one of some 100 MB is built, which takes two minutes

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

names_build() { # FILE UNITS
	seq "$2" | xargs -P "$(nproc)" -I% bash -c 'names_source % | g++ -O2 -g -x c++ -c - -o "$tmp/unit%.o"'
	{
		seq -f 'int unit%g(int);' "$2"
		echo 'int main(int argc, char **) { return 0'
		seq -f ' + unit%g(argc)' "$2"
		echo ';}'
	} | g++ -O2 -g -x c++ -c - -o "$tmp/unit0.o"
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

names_of() { # OPTION...: "MS MB"
	"$build/tests/e2e/chains" "$@" "$program" 2>&1 >"$tmp/chains" <"$tmp/addresses" | awk '{ print $2, $4 }'
}

theirs() { # SYMBOLIZER FILE: "MS MB"
	python3 -c 'import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run([sys.argv[1], "--inlining", "-e", sys.argv[2]], stdin=open(sys.argv[3]), stdout=subprocess.DEVNULL)
print("%.1f %.1f" % (1000 * (time.monotonic() - begin), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))' "$@" "$tmp/addresses"
}

names() {
	local program=${NAMES_PROGRAM:-} symbolizer

	if [ -z "$program" ]; then
		program=$tmp/names
		export -f names_source
		export tmp
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
	verdict "  ... and kept on disk" "$(median <"$tmp/first")" 1200 ms
	verdict "  from what was kept" "$(median <"$tmp/kept")" 150 ms
	verdict "  peak memory" "$(awk '{ print $2 }' "$tmp/first" | median)" 150 MB
	[ ! -s "$tmp/theirs" ] || printf '  %s: %s ms, %s MB\n' "$symbolizer" "$(median <"$tmp/theirs")" \
		"$(awk '{ print $2 }' "$tmp/theirs" | median)"
}
