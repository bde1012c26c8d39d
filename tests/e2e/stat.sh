# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the tests of counting share, besides lib.sh. In guests with one CPU an instruction takes 4 ns, the clock of the
# cycles has 1 GHz, and so the counts of programs are known.

# shellcheck disable=SC2034
CYCLES_PER_INSTRUCTION=4

# Some guests have counters where nothing but cycles is ever counted: those whose time is not the count of instructions.
counts_instructions() {
	compgen -G '/sys/bus/event_source/devices/armv8*/events/inst_retired' >/dev/null ||
		compgen -G '/sys/bus/event_source/devices/cpu*/events/instructions' >/dev/null
}

need_instructions() {
	has_pmu || skip "no hardware counters here"
	counts_instructions || skip "instructions are not counted here"
}

# What a result in JSON says, words on one line: "event NAME KEY", "metric NAME KEY", "thread NAME EVENT", "KEY…".
# What is not there is "none". A result with intervals is read as its last one.
said() { # JSON WHAT...
	python3 - "$@" <<'EOF'
import json, sys
lines = open(sys.argv[1]).read()
try:
    d = json.loads(lines)
except ValueError:
    d = json.loads(lines.strip().split("\n")[-1])

def named(rows, name):
    return next((r for r in rows if r["name"] == name), {})

def find(kind, *keys):
    if kind == "event":
        return named(d["all"]["events"], keys[0]).get(keys[1])
    if kind == "metric":
        return named(d["all"]["metrics"], keys[0]).get(keys[1])
    if kind == "thread":
        return named(named(d["rows"], keys[0]).get("events", []), keys[1]).get("value")
    value = d[kind]
    for key in keys:
        value = value[int(key) if isinstance(value, list) else key]
    return value

def word(value):
    if value is None or value == "":
        return "none"
    return "%.10g" % value if isinstance(value, float) else str(value).replace(" ", "_")

print(*[word(find(*what.split(" "))) for what in sys.argv[2:]])
EOF
}

# The number of an event, of all runs their mean.
count_of() { # JSON EVENT
	said "$1" "event $2 mean"
}

# Two numbers, in percent of the second.
check_within() { # VALUE EXPECTED PCT [DESC]
	check_near "$(awk -v v="$1" -v e="$2" 'BEGIN {
		number = "^[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$"
		if (v ~ number && e ~ number && e != 0) printf "%.4f\n", 100 * v / e; else print v "/" e }')" \
		100 "$3" "${4:-value}: $1 of $2, in percent,"
}

# Time that was counted, in ns, and what the thread's own clock says, in ms. Where a hypervisor takes the CPU away the
# counter goes on, and that clock does not: then it is at least as much, and not more than there was.
check_time() { # NS MS SECONDS DESC
	if [ -n "${IN_GUEST:-}" ]; then
		check_within "$1" "$(awk -v ms="$2" 'BEGIN { print ms * 1e6 }')" 2 "$4"
	else
		check_is "$(awk -v ns="$1" -v ms="$2" -v s="$3" 'BEGIN {
			print(ns ~ /^[0-9.e+]+$/ && ms > 0 && ns >= ms * 0.98e6 && ns <= s * 1.01e9 ? "right" : "wrong") }')" \
			right "$4: $1 ns, which the program takes for $2 ms, in $3 s,"
	fi
}

