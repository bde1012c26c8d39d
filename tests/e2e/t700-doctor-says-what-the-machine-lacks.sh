#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# doctor, with and without root, says of each check what was found, what is lost and what helps; its values are those of
# the machine, and its exit status is 1 exactly when something is missing.
# alone: it changes, or asks, what holds for the whole host
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
need python3 setpriv unshare

chmod 755 "$TMP"
install -m 755 "$BPFPROF" "$TMP/bpfprof"
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

judged() { # WHAT FILE: states add up, and consequence and remedy are there exactly where a row is not ok
	check "$1: rows and their sums" python3 - "$2" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
rows = d["checks"]
assert len(rows) > 10 and len({r["name"] for r in rows}) == len(rows)
for state in "ok", "limited", "missing":
    assert d[state] == sum(r["state"] == state for r in rows), state
for r in rows:
    assert r["found"] and r["from"], r
    assert (r["state"] == "ok") == (r["consequence"] is None) == (r["remedy"] is None), r
    assert r["state"] == "ok" or r["consequence"] and r["remedy"], r
    assert r["needed"] or r["state"] != "missing", r
groups = [r["group"] for r in rows]
assert [g for i, g in enumerate(groups) if not i or groups[i - 1] != g] == list(dict.fromkeys(groups)), groups
PY
}
row() { # FILE NAME KEY
	python3 -c 'import json, sys
print(next(r for r in json.load(open(sys.argv[1]))["checks"] if r["name"] == sys.argv[2])[sys.argv[3]])' "$@"
}
is() { # FILE NAME KEY VALUE
	check "$2: $3 is $4" test "$(row "$1" "$2" "$3")" = "$4"
}

# As root, with all that this machine has.
"$BPFPROF" doctor --json >"$TMP/root.json" 2>"$ERR"
STATUS=$?
check "exit status by what is missing" test "$STATUS" -eq "$(json "$TMP/root.json" missing | sed 's/^[1-9].*/1/')"
check "nothing on stderr" test ! -s "$ERR"
judged root "$TMP/root.json"
is "$TMP/root.json" kernel found "$(uname -r)"
is "$TMP/root.json" architecture found "$(uname -m)"
is "$TMP/root.json" capabilities state ok
is "$TMP/root.json" "sampling rate" found "$(cat /proc/sys/kernel/perf_event_max_sample_rate) Hz"
is "$TMP/root.json" clock found "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
if has_pmu; then
	check "counters were tried" test "$(row "$TMP/root.json" "events that count" found)" != "no PMU"
else
	is "$TMP/root.json" PMU state limited
	is "$TMP/root.json" "free counters" found "no PMU"
fi

# Who has no rights is told which, and that nothing else is in the way.
as_nobody "$TMP/bpfprof" doctor --json >"$TMP/nobody.json" 2>"$ERR"
check_near $? 1 0 "exit status of nobody"
check "nothing on stderr" test ! -s "$ERR"
judged nobody "$TMP/nobody.json"
is "$TMP/nobody.json" capabilities state missing
check "it names one" grep -q 'CAP_BPF is missing' "$TMP/nobody.json"
check_near "$(json "$TMP/nobody.json" missing)" "$(($(json "$TMP/root.json" missing) + 1))" 0 "rows missing"
check_status 0 "what needs no rights can run" as_nobody "$TMP/bpfprof" doctor report

# The table, for a command: no row that it does not use, none too wide, and each problem below it.
check "doctor stat" on_terminal 80 60 env NO_COLOR=1 "$BPFPROF" doctor stat
check_grep '^GROUP +CHECK +STATE +FOUND' "$OUT"
check_grep ' PMU ' "$OUT"
check_no_grep 'type information' "$OUT" "stat loads no BPF programs"
check_no_grep '^.{82}' "$OUT" "80 columns"
check_grep '^ASLR: |ASLR +ok' "$OUT"
check_grep 'stat can run here\.$' "$OUT"
check "doctor -v" "$BPFPROF" doctor -v report
check_grep '^GROUP .*FROM$' "$OUT"
check "a file" "$BPFPROF" doctor -o "$TMP/x.json" report
check "it says of what" test "$(json "$TMP/x.json" command)" = report

# Values of other machines: private mounts over the files that are read.
elsewhere() { # FILE TEXT NAME KEY VALUE
	echo "$2" >"$TMP/value"
	unshare -m sh -c 'mount --bind "$0" "$1" && exec "$2" doctor --json' "$TMP/value" "$1" "$BPFPROF" >"$TMP/other.json"
	is "$TMP/other.json" "$3" "$4" "$5"
}
elsewhere /proc/sys/kernel/randomize_va_space 0 ASLR state ok
elsewhere /proc/sys/kernel/randomize_va_space 2 ASLR state limited
elsewhere /proc/loadavg '99999.00 1 1 1/1 1' load state limited
elsewhere /proc/sys/kernel/perf_event_max_sample_rate 250 "sampling rate" state limited

# A program that burns, and one whose runtime keeps its names for itself.
if [ -x "$PROGS/spin_abc" ]; then
	start "$PROGS/spin_abc" 20
	sleep 0.3
	"$BPFPROF" doctor --json oncpu >"$TMP/busy.json"
	check "the busiest program is looked at" test "$(row "$TMP/busy.json" "busiest programs" found)" != \
		"0 of 0 have debug information"
fi
if command -v node >/dev/null; then
	start node -e 'setTimeout(() => {}, 20000)'
	"$BPFPROF" doctor --json oncpu >"$TMP/node.json"
	check "node without a perf map" grep -q "node ($PID)" "$TMP/node.json"
	start node --perf-basic-prof-only-functions -e 'setTimeout(() => {}, 20000)'
	rm -f "/tmp/perf-$PID.map"
	"$BPFPROF" doctor --json oncpu >"$TMP/node.json"
	check "node with one" test -z "$(grep "node ($PID)" "$TMP/node.json")"
	rm -f "/tmp/perf-$PID.map"
fi

# Names come from outside: those of a busy program, of a runtime, and of what looks like a tracer.
if [ -x "$PROGS/spin_abc" ]; then
	hostile=$'python2\e[31m;<b>\u202e\n|=x'
	install -m 755 "$PROGS/spin_abc" "$TMP/$hostile"
	strip "$TMP/$hostile" 2>/dev/null
	for _ in 1 2 3; do
		start "$TMP/$hostile" 20
	done
	check "a hostile name, on a terminal" on_terminal 80 60 env NO_COLOR=1 "$BPFPROF" doctor report
	cp "$OUT" "$TMP/shown"
	check_grep 'python2' "$TMP/shown" "it is there"
	"$BPFPROF" doctor --json report >"$TMP/hostile.json"
	"$BPFPROF" doctor report >"$TMP/piped"
	check "no control byte gets out" python3 - "$TMP/shown" "$TMP/piped" "$TMP/hostile.json" <<'PY'
import json, sys, unicodedata
json.load(open(sys.argv[3]))
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read().replace("\r\n", "\n")
    assert "python2" in text, path
    bad = [c for c in text if c not in "\n" and (unicodedata.category(c) in ("Cc", "Cf") or c == "\u202e")]
    assert not bad, (path, bad)
PY
fi

check_status 2 "no such command" "$BPFPROF" doctor offcpuu
check_grep "^bpfprof: doctor: 'offcpuu' is no command; did you mean 'offcpu'" "$ERR"
check_status 2 "a command that needs nothing" "$BPFPROF" doctor completion
check_status 2 "two commands" "$BPFPROF" doctor oncpu offcpu
for command in $("$BPFPROF" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vxE 'completion|doctor|push'); do
	check_status 2 "doctor knows $command: it is the file that it refuses" \
		"$BPFPROF" doctor -o "$TMP/x.nosuch" "$command"
	check_grep 'unknown file extension' "$ERR"
done
finish
