#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program is overwritten while a recording goes on, and run again: its functions have the names of the build that ran, or none.
# timeout: 60
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need gcc
cd "$TMP" || exit 1
# Two builds that differ in names alone, as their processes do.
for name in before behind; do
	gcc -O1 -g0 -o "$name" -x c - <<-C
		#include <signal.h>
		#include <sys/prctl.h>
		__attribute__((noinline)) void $name(void)
		{
			for (volatile int i = 0; i < 10000000; i++)
				;
		}
		int main(void)
		{
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, "is-$name");
			for (;;)
				$name();
		}
	C
done
cp before program
cat >both.sh <<'S'
./program &
sleep 1
kill -KILL $!
wait 2>/dev/null
inode=$(stat -c %i program)
until cat behind >program; do sleep 0.01; done 2>/dev/null
[ "$(stat -c %i program)" = "$inode" ] || exit 9
./program &
sleep 1.5
kill -KILL $!
S
check "a recording" "$BPFPROF" oncpu -F 499 -U -f -- bash both.sh
cut -d' ' -f1 "$OUT" | grep -E '^is-' | sort | uniq -c | sed 's/^/# /' | head -20
check_no_grep '^is-before;(.*;)?behind' "$OUT" "no name of a build that came later"
check_no_grep '^is-behind;(.*;)?before' "$OUT" "no name of the build that was overwritten"
check_near "$(grep '^is-behind;' "$OUT" | folded_pct /dev/stdin ';behind')" 98 4 "the new build has its names"
check_grep '^is-before;' "$OUT"
finish
