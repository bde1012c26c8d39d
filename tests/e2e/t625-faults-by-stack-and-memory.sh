#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Page faults: 10,000 pages that are touched for the first time are 10,000 minor faults there. The kind of memory is that of
# the mapping (kernels with PREEMPT_RT do not say it), and minor and major ones are as many as the kernel counts.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog faulter fault_kinds

unknown=
[[ $(uname -v) != *PREEMPT_RT* ]] || unknown=unknown

of() { # PATTERN: weight of the stacks that match, in $TMP/x.folded
	awk -v pattern="$1" '$0 ~ pattern { sum += $NF } END { print sum + 0 }' "$TMP/x.folded"
}

faults() { # ARGS... -- PROGRAM...
	check "faults $*" "$BPFPROF" faults -o "$TMP/x.folded" -o "$TMP/x.json" -o "$TMP/x.txt" -o "$TMP/x.bpfprof" "$@"
	cp "$OUT" "$TMP/truth"
	check_folded "$TMP/x.folded"
	check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost"
	check_near "$(json "$TMP/x.json" samples seen)" $(($(json "$TMP/x.json" samples recorded) + \
		$(json "$TMP/x.json" samples filtered))) 0 "the ledger closes"
}

faults -- "$PROGS/faulter" 10000 1
check_near "$(of '^faulter;\[minor\];\['"${unknown:-anonymous}"'\];.*touch_pages [0-9]+$')" 10000 100 "minor faults in touch_pages"
check_near "$(of ';touch_twice [0-9]+$')" 10000 100 "faults in touch_twice"
check_grep '^faults: .* minor and [0-9]+ major faults; '"${unknown:-anonymous}"' (9[0-9.]+|100\.0)%' "$TMP/x.txt"
check_grep '"unit": "faults"' "$TMP/x.json"
check_near "$(json "$TMP/x.json" cost interrupts_share_of_cpus)" 0 0 "of the CPUs, for interrupts: a fault is none"
check "report" "$BPFPROF" report -o "$TMP/saved.folded" "$TMP/x.bpfprof"
check "as it was saved" cmp "$TMP/x.folded" "$TMP/saved.folded"

# On a disk, if there is one; elsewhere no fault is a major one.
faults -- "$PROGS/fault_kinds" "$TMP/pages"
while read -r memory function minor major; do
	check "$function has faults" test $((minor + major)) -ge 20
	check_near "$(of "\\[minor\\];\\[${unknown:-$memory}\\];.*;${function}[; ]")" "$minor" 3 "minor faults in $memory"
	check_near "$(of "\\[major\\];\\[${unknown:-$memory}\\];.*;${function}[; ]")" "$major" 3 "major faults in $memory"
done <"$TMP/truth"
echo "# figure: major faults $(awk '{ nr += $4 } END { print nr }' "$TMP/truth")"

faults -c 100 -- "$PROGS/faulter" 10000 2
check_near "$(of ';touch_pages [0-9]+$')" 20000 1000 "faults in touch_pages, by every 100th"

check_status 1 "a program that is missing" "$BPFPROF" faults -- nosuchprogram
check_status 2 "a count of 0" "$BPFPROF" faults -c 0 1
finish
