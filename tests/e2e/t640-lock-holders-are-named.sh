#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Who holds a lock that is waited for, what the holder does, and for how long others wait: of two mutexes, of one whose
# holder computes, of PI and robust ones, of a rwlock with a writer, and of a chain of two.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog locks_held

# A figure of the lock that CASE printed under NAME.
of_lock() { # NAME KEY
	python3 -c 'import json, sys
word = next((l.split()[2] for l in open(sys.argv[2]) if l.split()[:2] == ["lock", sys.argv[3]]), None)
rows = [r for r in json.load(open(sys.argv[1]))["locks"]["locks"] if r["address"] == word]
print(sum(r[sys.argv[4]] for r in rows) if sys.argv[4] in ("us", "waits") else rows[0][sys.argv[4]] if rows else "none")
' "$TMP/x.json" "$TMP/did" "$1" "$2"
}

is() { # VALUE EXPECTED DESC
	if [ "$1" = "$2" ]; then
		pass "$3 is $2"
	else
		fail "$3 is '$1', not '$2'"
	fi
}

# Of the time that FUNCTION waited, 99 % is NAME's, as who holds the lock, and nearly all on lines like PATTERN. (Where other
# programs want the CPUs, the holder is at times not at its work yet when somebody begins to wait: then the line says that.)
check_held() { # FUNCTION NAME PATTERN DESC
	local told all

	told=$(truth "$1")
	all=$(us_of "$TMP/x.folded" ";$1;.*--;")
	check_between "$(pct_of "$(us_of "$TMP/x.folded" ";$1;([^-]|-[^-])*--;([^-]|-[^-])*;$2( |;--;|\$)")" "$all")" 99 100 \
		"$1: $2 holds it, % of the time"
	check_between "$(pct_of "$(us_of "$TMP/x.folded" ";$1;.*--;$3")" "$all")" 75 100 "$1: $4, % of the time"
	# The kernel's clock of threads runs on while a wait begins and ends.
	check_close "$(us_of "$TMP/x.folded" ";$1;")" "$told" 2 "$((20 * $(did truth "$1" 4) + taken))" "us in $1"
}

rounds=150
[ -z "${IN_GUEST:-}" ] || rounds=40

record lock -- "$PROGS/locks_held" two $rounds
check_held want_a holder-a '(.*;)?work_a;holder_a;(.*;)?holder-a( |$)' "asleep in work_a"
check_held want_b holder-b '(.*;)?work_b;holder_b;(.*;)?holder-b( |$)' "asleep in work_b"
is "$(of_lock a kind)" mutex "the kind of a"
is "$(of_lock a function)" want_a "where a is waited for"
is "$(of_lock a holder)" holder-a "the holder of a"
is "$(of_lock a holder_function)" work_a "what it does"
is "$(of_lock b holder_function)" work_b "what that of b does"
# Who comes late finds the lock free.
check_between "$(of_lock a waits)" $((rounds * 9 / 10)) $rounds "waits for a"
check_near "$(of_lock a waiters)" 1 0 "threads that wait for a"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"

record lock -- "$PROGS/locks_held" burn $rounds
check_held want_a holder-a '(.*;)?holder_a;(.*;)?holder-a( |$)' "which computes"

record lock -- "$PROGS/locks_held" writer $rounds
check_between "$(pct_of "$(us_of "$TMP/x.folded" ';want_write;.*--;(.*;)?work_a;writer;')" "$(us_of "$TMP/x.folded" ';want_write;')")" \
	60 100 "of want_write: the writer in work_a, else the other one, %"
check_between "$(pct_of "$(us_of "$TMP/x.folded" ';want_read;.*--;(.*;)?(work_a;writer|writer_2|want_write);')" "$(us_of "$TMP/x.folded" ';want_read;')")" \
	90 100 "of want_read: either writer, %"
is "$(of_lock rwlock kind)" none "a rwlock is waited for behind its begin; the kind there"
check_grep '"kind": ?"rwlock \(write\)"' "$TMP/x.json" "the kind by the waiter's functions"

for kind in pi robust; do
	record lock -- "$PROGS/locks_held" $kind $rounds
	check_held want_a holder-a '(.*;)?work_a;holder_a;(.*;)?holder-a( |$)' "$kind: asleep in work_a"
	is "$(of_lock a holder)" holder-a "$kind: the holder"
done

record lock -- "$PROGS/locks_held" chain $rounds
check_held want_a middle '(.*;)?want_b;middle;(.*;)?middle;--;(.*;)?work_b;holder_b;(.*;)?holder-b( |$)' \
	"which waits for holder-b"

record lock -- "$PROGS/locks_held" condvar $rounds
check_between "$(pct_of "$(us_of "$TMP/x.folded" ';want_condition;.*pthread_cond_wait;.*--;(.*;)?signal_condition;signaller;')" \
	"$(us_of "$TMP/x.folded" ';want_condition;.*pthread_cond_wait;')")" 85 100 "a condition has no holder; who signalled it, %"
check_grep '"kind": ?"condition variable"' "$TMP/x.json" "a condition variable"
# The name comes first, so that a narrow terminal shows it.
check "its table, on 50 columns" on_terminal 50 50 env NO_COLOR=1 "$BPFPROF" lock -s -- "$PROGS/locks_held" condvar 50
check_grep '^ *[0-9.]+ [mu]?s .*want_condition +signa[ler]*…? +signal_cond' "$OUT" "who signalled it"

# Each waits for the other one, who has got what it waited for: chains of holders do not grow at each hand-over.
start "$PROGS/locks_held" relay
check "locks that are handed on" "$BPFPROF" lock -p "$PID" --max-stacks 1024 -d 2 -o "$TMP/x.json" -o "$TMP/x.folded"
check_between "$(ledger "$TMP/x.json" recorded)" 2000 1000000000 "waits"
check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost"
check_between "$(wc -l <"$TMP/x.folded")" 1 60 "different stacks"
finish
