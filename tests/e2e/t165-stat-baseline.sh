#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
#
# Ten percent more instructions are found every time, and none are found where there are none.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root
need_prog instructions
need_instructions
times=${NIGHTLY:+20}
times=${times:-5}
a=("$PROGS/instructions" 20)
b=("$PROGS/instructions" 20 10)
rules='instructions:u>5%'

check "baseline" "$BPFPROF" stat -r 5 -e instructions:u -o "$TMP/a.json" -- "${a[@]}"
for ((i = 1; i <= times; i++)); do
	check_status 4 "B, for the ${i}th time" "$BPFPROF" stat -r 5 -e instructions:u --baseline "$TMP/a.json" --fail-on "$rules" -- "${b[@]}"
	check_status 0 "A, for the ${i}th time" "$BPFPROF" stat -r 5 -e instructions:u --baseline "$TMP/a.json" --fail-on "$rules" -- "${a[@]}"
done
check_status 4 "B, with all outputs" "$BPFPROF" stat -r 5 -e instructions:u -o "$TMP/b.json" --junit "$TMP/b.xml" \
	--baseline "$TMP/a.json" --fail-on "$rules,time>100000%" -- "${b[@]}"
check_grep "instructions:u.*\+(9\.[5-9]|10\.[0-4])" "$OUT" "the change is there with its size"
# A program's output may hold anything, so may its name.
check_status 0 "A, with all outputs" "$BPFPROF" stat -r 5 -e instructions:u --junit "$TMP/a.xml" \
	--baseline "$TMP/a.json" --fail-on "$rules" -- sh -c 'exec "$0" 20' "${a[0]}" '<&">'
check_status 4 "fewer can be wrong, too" "$BPFPROF" stat -r 5 -e instructions:u --baseline "$TMP/b.json" --fail-on 'instructions:u<-5%' -- "${a[@]}"
check_status 0 "a wider threshold" "$BPFPROF" stat -r 5 -e instructions:u --baseline "$TMP/a.json" --fail-on 'instructions:u>15%' -- "${b[@]}"
check_status 4 "diff of the files" "$BPFPROF" diff --fail-on "$rules" "$TMP/a.json" "$TMP/b.json"
check_status 0 "diff of a file and itself" "$BPFPROF" diff --fail-on "$rules" "$TMP/a.json" "$TMP/a.json"

junit() { # FILE: what a build server takes from it
	python3 -c 'import sys, xml.dom.minidom as m
d = m.parse(sys.argv[1])
print(len(d.getElementsByTagName("testcase")), len(d.getElementsByTagName("failure")), len(d.getElementsByTagName("error")))' "$1"
}
check_is "$(junit "$TMP/b.xml")" "2 1 0" "cases, failures, errors of B"
check_is "$(junit "$TMP/a.xml")" "1 0 0" "cases, failures, errors of A"
if command -v xmllint >/dev/null; then
	check "xmllint" xmllint --noout "$TMP/a.xml" "$TMP/b.xml"
fi
finish
