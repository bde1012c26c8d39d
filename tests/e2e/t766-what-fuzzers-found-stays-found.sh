#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a fuzzer once found is tried first by each run of its target, fails that run if it fails again, and a new find is
# told with the place where it is kept. A run that tried fewer inputs than it should fails, too. By a stand-in for a target.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3

# Each find is of a target that there is.
for dir in "$ROOT"/tests/data/fuzz/*/; do
	check "a target for $dir" test -f "$ROOT/tests/fuzz/$(basename "$dir").c"
	check_between "$(find "$dir" -type f -size +0 -size -64k | wc -l)" 1 "$(find "$dir" | wc -l)" "finds in $dir"
done

mkdir -p "$TMP/tests/fuzz" "$TMP/tests/data/fuzz/who" "$TMP/build-fuzz"
cp "$ROOT/tests/fuzz/run.sh" "$TMP/tests/fuzz"
echo a >"$TMP/tests/data/fuzz/who/one"
echo b >"$TMP/tests/data/fuzz/who/other"
cat >"$TMP/build-fuzz/who" <<'P'
#!/bin/bash
for arg; do
	case $arg in
	*/data/fuzz/*) echo "Executed $arg in 1 ms"; bad=$(cat "${BASH_SOURCE[0]}.bad" 2>/dev/null); [ "${arg##*/}" != "$bad" ] || exit 1 ;;
	-runs=*) nr=${arg#*=} ;;
	-max_total_time=*) nr=1 ;;
	esac
done
[ -z "${nr:-}" ] && exit 0
[ ! -e "${BASH_SOURCE[0]}.few" ] || nr=5
[ ! -e "${BASH_SOURCE[0]}.crash" ] || { echo "Test unit written to build-fuzz/who-crash-1"; exit 77; }
echo "Done $nr runs in 1 second(s)"
echo "most of one input: 0.001 s of CPU time, 0.1 MB"
P
chmod +x "$TMP/build-fuzz/who"

fuzz() { # STATUS SECONDS
	run "$TMP/tests/fuzz/run.sh" who "$2"
	check_is "$STATUS" "$1" "exit status, $2,"
}

fuzz 0 fixed
check_grep "^ok     fuzz who: Done [0-9]{5,} runs in 1 second, 2 found before, .* most of one input: 0.001 s" "$OUT"
fuzz 0 1
touch "$TMP/build-fuzz/who.few"
fuzz 1 full
check_grep "^FAIL   fuzz who: 5 inputs tried, [0-9]{5,} were to be" "$OUT"
rm "$TMP/build-fuzz/who.few"
touch "$TMP/build-fuzz/who.crash"
fuzz 1 60
check_grep "^keep build-fuzz/who-crash-1 as tests/data/fuzz/who/" "$OUT"
rm "$TMP/build-fuzz/who.crash"
echo other >"$TMP/build-fuzz/who.bad"
fuzz 1 60
check_grep "^FAIL   fuzz who: what was found before fails again" "$OUT"

# What an input may take: all that is allocated at a time, and CPU time.
if command -v clang >/dev/null; then
	cat >"$TMP/takes.c" <<-'P'
		#include <stdlib.h>
		#include <string.h>
		#include <time.h>
		#include "tests/fuzz/limits.h"
		int fuzz_target(const uint8_t *data, size_t sz)
		{
			static char *blocks[100];
			int nr = sz && data[0] == 'm' ? 65 : sz && data[0] == 'b' ? 63 : 0;
			for (int round = 0; round < 3; round++) {
				for (int i = 0; i < nr; i++)
					memset(blocks[i] = malloc(1 << 20), 1, 10);
				for (int i = 0; i < nr; i++)
					free(blocks[i]);
			}
			while (sz && data[0] == 't' && clock() < 1.5 * CLOCKS_PER_SEC)
				;
			return 0;
		}
	P
	check "it builds" clang -D_GNU_SOURCE -I"$ROOT" -fsanitize=fuzzer,address "$ROOT/tests/fuzz/limits.c" "$TMP/takes.c" -o "$TMP/takes"
	for kind in b m t; do
		echo $kind >"$TMP/$kind"
	done
	cd "$TMP" || exit 1
	check "63 MB, three times, are not too much" ./takes -malloc_limit_mb=64 "$TMP/b"
	check_grep "^most of one input: 0.[0-9]+ s of CPU time, 63.0 MB" "$ERR"
	for kind in m t; do
		run ./takes -malloc_limit_mb=64 "$TMP/$kind"
		check_is "$STATUS" 77 "exit status of $kind"
		check_grep "^one input took [01].[0-9]+ s of CPU time .at most 1000 ms., [0-9.]+ MB .at most 64." "$ERR"
	done
else
	echo "# no clang here: limits are not tried"
fi
finish
