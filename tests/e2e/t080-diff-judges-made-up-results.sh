#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bpfprof diff of results whose numbers are known: exit status, JSON, XML, and files that are whole or absent.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
gen=$ROOT/build/tests/e2e/gen_stat
[ -x "$gen" ] || lacks "$gen is not built"
cd "$TMP" || exit 1

"$gen" json >a.json
"$gen" json time=1.08 ipc=0.9 >worse.json
"$gen" json time=1.08 ipc=0.9 noise=8 >noisy.json
"$gen" json time=0.9 ipc=1.1 >better.json
"$gen" json runs=1 >one.json
"$gen" json runs=1 time=1.08 >one-slower.json
"$gen" json ident='midr 0x411fd402' >v1.json
"$gen" json cpus=8 >eight.json
rules='ipc<-5%,l1d_miss>15%,time>5%'

check "a result against itself" "$BPFPROF" diff --fail-on "$rules" a.json a.json
check_grep '^time, s .* same$|^time, s .* ok$' "$OUT"
check_status 4 "8 % slower" "$BPFPROF" diff --fail-on "$rules" a.json worse.json
check_grep '^REGRESSION time: .* fails time>5%' "$OUT"
check_grep '^REGRESSION ipc: .* fails ipc<-5%' "$OUT"
check_grep '^ok         l1d_miss: .* passes l1d_miss>15%' "$OUT"
check "without rules it only shows" "$BPFPROF" diff a.json worse.json
check_grep '^time, s .* changed$' "$OUT"
check "8 % in more noise is no regression" "$BPFPROF" diff --fail-on "$rules" a.json noisy.json
check_grep 'within the noise' "$OUT"
check "better is no regression" "$BPFPROF" diff --fail-on "$rules" a.json better.json
check "a threshold above the change" "$BPFPROF" diff --fail-on 'time>20%' a.json worse.json
check_status 4 "single runs: the threshold alone" "$BPFPROF" diff --fail-on "$rules" one.json one-slower.json
check_grep 'says nothing about noise' "$OUT"
check_status 1 "a rule without a number is no pass" "$BPFPROF" diff --fail-on 'll_cache_rd>5%' a.json a.json
check_grep '1 --fail-on rule not evaluated' "$ERR"
check_status 4 "but a regression goes first" "$BPFPROF" diff --fail-on 'll_cache_rd>5%,time>5%' a.json worse.json

for i in $(seq 20); do
	"$gen" json runs=5 noise="0.$i" >"$i.json"
	"$BPFPROF" diff --fail-on 'time>5%,ipc<-5%' a.json "$i.json" >/dev/null || fail "A against A, turn $i"
	"$gen" json runs=5 noise="0.$i" time=1.1 >"$i.json"
	"$BPFPROF" diff --fail-on 'time>5%' a.json "$i.json" >/dev/null
	[ $? -eq 4 ] || fail "10 % more, turn $i"
done
pass "20 turns of A against A, and of 10 % more"

mistake() { # STATUS PATTERN ARGS...
	local status=$1 pattern=$2

	shift 2
	check_status "$status" "refused: diff $*" "$BPFPROF" diff "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
}

mistake 2 'different CPU models .*--force' a.json v1.json
mistake 2 'different numbers of CPUs .4 and 8.*--force' a.json eight.json
mistake 2 "did you mean 'ipc'" --fail-on 'ipx<-5%' a.json a.json
mistake 2 "'ipc>': a rule has the form NAME<-PCT%" --fail-on 'time>5%,ipc>' a.json a.json
mistake 2 'which two results' a.json
mistake 2 'which of these are before' a.json a.json a.json
mistake 2 'compare two by two' a.json a.json vs a.json
mistake 2 'both want standard output' --json --junit - a.json a.json
mistake 1 'No such file' a.json none.json
mistake 1 "is no result of 'bpfprof stat --json'" a.json "$BPFPROF"
mistake 1 'cannot' --junit none/x.xml a.json a.json
check "another model with --force" "$BPFPROF" diff --force a.json v1.json

check_status 4 "JSON" "$BPFPROF" diff --json --fail-on "$rules" a.json worse.json
cp "$OUT" diff.json
check "JSON says what failed" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert (d["format"], d["version"], d["failed"], d["unknown"]) == ("bpfprof-diff", 1, 2, 0), d
rows = {r["name"]: r for r in d["rows"]}
assert abs(rows["time"]["change_pct"] - 8) < 1e-6 and rows["time"]["failed"], rows["time"]
assert rows["time"]["low_pct"] < 8 < rows["time"]["high_pct"]
assert rows["ll_cache_rd"]["a"] is None' diff.json

check_status 4 "JUnit in a file, text on standard output" "$BPFPROF" diff --junit x.xml --fail-on "$rules" a.json worse.json
check_grep '^REGRESSION time' "$OUT"
check_status 4 "JUnit on standard output" "$BPFPROF" diff --junit - --fail-on "$rules" a.json worse.json
cp "$OUT" stdout.xml
check "is the same" cmp stdout.xml x.xml
check "XML that counts what it has" python3 -c 'import sys, xml.etree.ElementTree as et
root = et.parse(sys.argv[1]).getroot()
suite, = root
cases = suite.findall("testcase")
assert root.tag == "testsuites" and suite.tag == "testsuite"
assert [c.get("name") for c in cases] == ["time>5%", "ipc<-5%", "l1d_miss>15%"], cases
for what, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error")):
    assert int(suite.get(what)) == int(root.get(what)) == len(suite.findall(tag)), what
assert all(float(c.get("time")) >= 0 and c.get("classname") for c in cases)
assert float(suite.get("time")) > 0' x.xml

# What was there stays when nothing new can be said.
cp x.xml before.xml
"$BPFPROF" diff --junit x.xml --fail-on 'zzzz>5%' a.json worse.json >/dev/null 2>&1
check "an older file stays after a mistake" cmp x.xml before.xml

check_status 1 "a full disk behind standard output is noticed" sh -c '"$0" diff a.json a.json >/dev/full' "$BPFPROF"
finish
