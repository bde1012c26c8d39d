# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the tests of waits share, besides lib.sh. Their programs (tests/progs/waits_*) tell at their end how many us each
# of their functions was off the CPU: "truth FUNCTION US COUNT". It is measured around the call, less the thread's own CPU
# time, so it holds on slow machines as well.

# Figures of the ledger, by their names: seen, recorded, verified, too-short …
ledger() { # JSON NAME...
	python3 -S -c 'import json, sys
def find(o, name):
    if not isinstance(o, dict):
        return None
    if name in o:
        return o[name]
    return next((v for v in (find(v, name) for v in o.values()) if v is not None), None)
d = json.load(open(sys.argv[1]))
values = [find(d.get("ledger") or d.get("samples"), name) for name in sys.argv[2:]]
print(*["none" if value is None else value for value in values])' "$@"
}

check_ledger_closes() { # JSON
	local seen recorded filtered lost

	# One process: in a guest without KVM each takes seconds to start.
	read -r seen recorded filtered lost < <(ledger "$1" seen recorded filtered lost)
	check_near "$seen" "$(awk -v a="$recorded" -v b="$filtered" -v c="$lost" 'BEGIN { printf "%.0f\n", a + b + c }')" 0 \
		"seen, against recorded + filtered + lost,"
}

# us that the host and interrupts took from all CPUs, in ticks. Clocks of threads leave them out, switches do not.
taken_us() {
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", ($7 + $8 + $9) * 1000000 / hz }' /proc/stat
}

# Of it, what the hypervisor took.
stolen_us() {
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", $9 * 1000000 / hz }' /proc/stat
}

# Since $1; of the tick before and the one after one may be missing.
taken_since() {
	echo $(($(taken_us) - $1 + 2 * 1000000 / $(getconf CLK_TCK)))
}

# Records PROGRAM from its start to its end, into $TMP/x.folded and $TMP/x.json; what it prints goes to $TMP/did,
# what was taken meanwhile into $taken.
record() { # COMMAND OPTIONS... -- PROGRAM ARGS...
	local args=("$@") before

	before=$(taken_us)
	args[0]="${args[0]} recording"
	# What it leaves out must not be what an earlier one left.
	: >"$TMP/x.folded"
	echo '{}' >"$TMP/x.json"
	check "${args[*]##*/}" "$BPFPROF" "$1" -o "$TMP/x.folded" -o "$TMP/x.json" "${@:2}"
	taken=$(taken_since "$before")
	cp "$OUT" "$TMP/did"
	check_stacks "$TMP/x.folded"
	check_ledger_closes "$TMP/x.json"
}

# What the program said: the sum of the lines that begin with both words.
did() { # KIND NAME [FIELD]
	awk -v kind="$1" -v name="$2" -v field="${3:-3}" '$1 == kind && $2 == name { sum += $field; n++ }
		END { if (n) printf "%.0f\n", sum; else print "none" }' "$TMP/did"
}

truth() { # FUNCTION
	did truth "$1"
}

# us of a folded file on lines that match an awk pattern.
us_of() { # FILE PATTERN
	pattern=$2 awk '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ ENVIRON["pattern"]) sum += n }
		END { printf "%.0f\n", sum }' "$1"
}

# One number, in percent of another.
pct_of() { # PART WHOLE
	awk -v part="$1" -v whole="$2" 'BEGIN { if (whole + 0 > 0) printf "%.2f\n", 100 * part / whole; else print "none" }'
}

# Within so many percent of what is expected, and so many us for what is rounded or counted by ticks.
check_close() { # VALUE EXPECTED PCT SLACK_US DESC
	check_near "$1" "$2" "$(awk -v e="$2" -v pct="$3" -v slack="$4" 'BEGIN { printf "%.0f\n", e * pct / 100 + slack }')" "$5"
}

# The same where one side goes by the clock of a thread, and the other by its switches.
check_clock() { # VALUE EXPECTED PCT SLACK_US DESC
	check_close "$1" "$2" "$3" $(($4 + taken)) "$5, $taken taken,"
}

# So many percent of what FUNCTION says, less what was taken: for those that burn, whose clocks stand still meanwhile.
pct_but_taken() { # FUNCTION PCT
	awk -v told="$(truth "$1")" -v taken="$taken" -v pct="$2" 'BEGIN { printf("%d\n", (told > taken) ? pct * (told - taken) / told : 0) }'
}

# Of the time that FUNCTION says it was off the CPU, so much is there, below it; and in that class, if one is given. Where
# others want the CPU as well, some of it is waiting for that. The kernel counts some us of each waking up as CPU time,
# which short waits therefore seem to exceed.
check_truth() { # FUNCTION [CLASS [LOW_PCT [HIGH_PCT]]]
	local told low=${3:-95}

	told=$(truth "$1")
	check_between "$(pct_of "$(us_of "$TMP/x.folded" "^[^;]+;(.*;)?$1(;|\$)")" "$told")" "$low" "${4:-105}" "% of $told us in $1"
	[ -n "${2:-}" ] || return 0
	[ -n "${IN_GUEST:-}" ] || low=$((low - 15))
	check_between "$(pct_of "$(us_of "$TMP/x.folded" "^[^;]+;(\\[runnable\\];)?\\[$2\\];(.*;)?$1(;|\$)")" "$told")" "$low" "${4:-105}" "% of that as $2"
}

# Every line as tools for folded stacks want it: a name, frames, one space, a whole number above 0. No frame is empty or
# ends with a space and digits; no stack is there twice; heaviest first.
check_stacks() { # FILE
	check_folded "$1"
	if awk '
		function bad(why) { if (++nr_bad <= 5) print "#   line " NR ": " why ": " substr(line, 1, 200) }
		{
			line = $0
			count = $0
			sub(/.* /, "", count)
			stack = substr($0, 1, length($0) - length(count) - 1)
			if (count !~ /^[0-9]+$/ || count + 0 == 0)
				bad("not a whole number above 0")
			if (stack ~ /(^| )$/)
				bad("no stack, or more than one space")
			if (NR > 1 && count + 0 > last)
				bad("heavier than the line before")
			last = count + 0
			if (stack in seen)
				bad("there twice")
			seen[stack]
			nr = split(stack, frames, ";")
			for (i = 1; i <= nr; i++) {
				if (frames[i] == "")
					bad("an empty frame")
				if (frames[i] ~ / [0-9]+$/)
					bad("a frame that ends with a number")
			}
			if (frames[1] ~ / / || (frames[1] ~ /^\[/ && frames[1] != "[lost]") || frames[1] ~ /^-+$/)
				bad("no name in front")
		}
		END { exit nr_bad || !NR }' "$1"; then
		pass "${1##*/} is what tools for folded stacks read"
	else
		fail "${1##*/} is not what tools for folded stacks read"
	fi
}

# Sleeps of three lengths in the order that a seed makes: each is there, and together they are so to 2 %.
check_mix() { # SEED SECONDS [stay]
	local name sum=0 told=0

	record offcpu -m 1 --idle=show -- "$PROGS/waits_migrate" "$@"
	for name in block_1ms block_10ms block_100ms; do
		# Of the longest ones there may be none.
		[ "$(did truth "$name" 4)" -eq 0 ] || check_truth "$name" "" "$(pct_but_taken "$name" 95)"
		sum=$((sum + $(us_of "$TMP/x.folded" ";$name(;|\$)")))
		told=$((told + $(truth "$name")))
	done
	check_between "$(pct_of $sum $told)" "$(awk -v told=$told -v taken="$taken" \
		'BEGIN { printf("%d\n", told > taken ? 98 * (told - taken) / told : 0) }')" 102 "seed $1: % of all sleeps, $told us"
	check_near "$(ledger "$TMP/x.json" lost)" 0 0 "seed $1: lost"
}
