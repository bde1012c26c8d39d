#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 900
# Names, inlined calls and lines of random addresses are those of llvm-symbolizer: of builds made here, by day in
# four forms of DWARF by one of two compilers, nightly in all by both; nightly also of large files with Debian's debug packages, which are installed for that. chains.py says what
# counts as equal.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
CHAINS=$ROOT/build/tests/e2e/chains
[ -x "$CHAINS" ] || skip "$CHAINS is not built"
need g++ python3
number=2000
if [ -n "${NIGHTLY:-}" ] && [ "$(id -u)" -eq 0 ] && grep -q ^ID=debian /etc/os-release; then
	number=10000
	apt-get install -qq -y --no-install-recommends llvm-19 libc6-dbg python3.11-dbg libstdc++6-12-dbg librados2-dbg \
		>/dev/null 2>&1 || echo "# not all packages could be installed"
fi
symbolizer=$(compgen -c llvm-symbolizer | sort -rV | head -n 1)
[ -n "$symbolizer" ] || skip "needs llvm-symbolizer"
echo "# against $("$symbolizer" --version | grep -o 'LLVM version.*')"
cd "$TMP" || exit 1

check_equal() { # FILE [FILE-WITH-SYMBOLS]
	local line

	run python3 "$ROOT/tests/e2e/chains.py" "$CHAINS" "$symbolizer" "$number" "$@"
	line=$(tail -n 1 "$OUT")
	grep '^#' "$OUT" | cut -c 1-300
	echo "# $line"
	if awk -v p="${line##* percent }" -v inlined="${line##* inlined }" 'BEGIN { exit !(p >= 99.9 && inlined + 0 > 0) }'; then
		pass "${1##*/}"
	else
		fail "${1##*/}: ${line#* }"
		show
	fi
}

debug_of() { # FILE
	local id

	id=$(readelf -n "$1" | awk '/Build ID/ { print $3 }')
	echo "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}

cat >p.cc <<-'EOT'
	#include <algorithm>
	#include <map>
	#include <memory>
	#include <string>
	#include <vector>
	struct item {
		int x;
		std::string s;
		bool operator<(const item &o) const { return x < o.x; }
	};
	template <int N> static long work(long x)
	{
		std::map<std::string, std::vector<item>> m;
		m[std::to_string(N + x)].push_back({ N, "x" });
		auto &v = m.begin()->second;
		std::sort(v.begin(), v.end(), [](const item &a, const item &b) { return b < a; });
		auto p = std::make_shared<item>(v[0]);
		if constexpr (N > 0)
			return p->x + work<N - 1>(x);
		return p->x;
	}
	int main(int argc, char **) { return work<3>(argc); }
EOT
builds=(dwarf5="g++ -gdwarf-5" types="g++ -g -gz -fdebug-types-section"
	sections="g++ -g -ffunction-sections -Wl,--gc-sections" clangsplit="clang++ -gdwarf-5 -gsplit-dwarf")
[ -z "${NIGHTLY:-}" ] || builds+=(dwarf3="g++ -gdwarf-3" split4="g++ -gdwarf-4 -gsplit-dwarf"
	clang4="clang++ -gdwarf-4" dwarf4="g++ -gdwarf-4" split5="g++ -gdwarf-5 -gsplit-dwarf" compressed="g++ -g -gz"
	plaintypes="g++ -g -fdebug-types-section" clang5="clang++ -gdwarf-5")
for build in "${builds[@]}"; do
	# shellcheck disable=SC2086
	${build#*=} -std=c++17 -O2 p.cc -o "${build%%=*}" 2>/dev/null || { echo "# cannot build ${build%%=*}"; continue; }
	check_equal "$PWD/${build%%=*}"
done

# llvm-symbolizer reads no supplementary files: what dwz did must not change what we say.
if command -v dwz >/dev/null; then
	cp dwarf5 dwz1
	cp sections dwz2
	dwz -m shared.dwz -M "$PWD/shared.dwz" dwz1 dwz2
	nm dwarf5 | awk 'NF == 3 && $2 ~ /[tTwW]/ { print $1 }' >addresses
	"$CHAINS" dwarf5 <addresses >before 2>/dev/null
	"$CHAINS" dwz1 <addresses >after 2>/dev/null
	check "dwz leads to another file" sh -c 'readelf -SW dwz1 | grep -q gnu_debugaltlink && grep -q p.cc: after'
	check "and changes nothing" cmp before after
	cp dwarf5 dwz3
	dwz dwz3 && check_equal "$PWD/dwz3"
fi
if command -v rustc >/dev/null; then
	cat >r.rs <<-'EOT'
		use std::collections::HashMap;
		fn main() {
		    let mut m: HashMap<usize, Vec<usize>> = HashMap::new();
		    for i in 0..std::env::args().count() * 1000 { m.entry(i % 97).or_default().push(i); }
		    let mut v: Vec<_> = m.into_iter().map(|(k, x)| (k, x.iter().filter(|y| **y % 3 == 0).sum::<usize>())).collect();
		    v.sort();
		    println!("{:?}", v.first());
		}
	EOT
	rustc -C opt-level=3 -g r.rs -o rust 2>/dev/null && check_equal "$PWD/rust"
fi
# Names, lines and inlined calls of Go come from its own table.
if command -v go >/dev/null; then
	cp "$ROOT/tests/e2e/go/names.go" .
	GOFLAGS=-mod=mod HOME=$TMP CGO_ENABLED=0 go build -o go names.go >"$TMP/go.log" 2>&1 && check_equal "$PWD/go"
fi
check_equal "$BPFPROF"

if [ "$number" -gt 2000 ]; then
	for file in /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/librados.so.2.0.0; do
		[ -r "$file" ] && [ -r "$(debug_of "$file")" ] && check_equal "$file" "$(debug_of "$file")"
	done
	for file in /usr/bin/python3.11d /usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.0.30; do
		[ -r "$file" ] && check_equal "$file"
	done
fi
finish
