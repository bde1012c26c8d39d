#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# When its tables are full, top begins another recording, which knows what the one before knew: unwind tables and names of files.
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc
cd "$TMP" || exit 1
# Short processes, with counts of their own each.
check "tables are renewed" timeout -s KILL 60 "$BPFPROF" top -v -b --max-stacks 64 --page functions -r 100 1 12 -- bash -c 'for ((i = 0; i < 400; i++)); do "$PROGS/spin_abc" 0.02 >/dev/null; done'
cp "$OUT" log
cp "$ERR" told
check_grep 'tables renewed: [1-9]' log
grep -h 'taken over' told | tail -3 | sed 's/^/# /'
check_grep 'unwind tables: [0-9]+, of which [1-9][0-9]* were taken over' told
reads=$(grep -c 'spin_abc: .symtab' told)
renewals=$(sed -n 's/.*tables renewed: \([0-9]*\).*/\1/p' log | tail -1)
echo "# symbols of the program were read $reads times by $((renewals + 1)) recordings"
check "... and names: the program's symbols are not read by each recording" test "$reads" -le "$renewals"
# Whatever a look has code of whose functions were met before, they have their names at once.
awk '/^the last/ { nr++ } nr > 3' log >later
check_grep 'spin_a' later
check_no_grep 'spin_abc .*not named yet' later
finish
