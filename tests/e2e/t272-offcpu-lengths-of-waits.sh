#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# How long waits were: percentiles and the longest by class and by process as a program's own list of its waits has them,
# and as many as the ledger has, exactly, with any tables.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog waits_lengths waits_crowd

cat >"$TMP/lengths.py" <<'EOF'
import json, sys

# Of the waits of one function: the least that each took, and what it took by the clock, sorted.
def waits_of(log, process, functions):
    rows = [l.split() for l in open(log) if l.startswith('wait ')]
    rows = [r for r in rows if r[1] == process and r[2] in functions]
    return sorted(int(r[3]) for r in rows), sorted(int(r[4]) for r in rows)

def rank(of, pct):
    return of[min(len(of) - 1, max(0, -(-len(of) * pct // 100) - 1))]

def below(ns):
    return 1 << (ns.bit_length() - 1)

# The kernel's wait is no shorter than what was asked for, and no longer than the clock says.
def check(lengths, least, took, what):
    nr = lengths['count']
    assert sum(b['count'] for b in lengths['log2_us']) == nr, (what, lengths)
    # A lock may have been free again, or taken twice, on a slow machine: its waits are as long as the program's.
    if not least[0]:
        assert nr and lengths['max_us'] * 1e3 <= took[-1], (what, lengths, took[-1])
        return
    assert nr == len(least), (what, nr, len(least))
    for key, pct in ('p50_us', 50), ('p90_us', 90), ('p99_us', 99):
        ns = lengths[key] * 1e3
        assert below(rank(least, pct)) <= ns <= 2 * below(rank(took, pct)), (what, key, ns)
    longest = lengths['max_us'] * 1e3
    assert least[-1] <= longest <= took[-1], (what, longest, least[-1], took[-1])
    print(what, lengths['p50_us'], lengths['p90_us'], lengths['p99_us'], lengths['max_us'])

def row(path, process):
    rows = [r for r in json.load(open(path))['rows'] if r['name'].split('/')[0] == process]
    assert len(rows) == 1, rows
    return rows[0]['lengths']

# All waits of a whole recording: woken ones have been waits of another class before.
def count(path):
    profile = json.load(open(path))
    waits = profile['waits']
    parts = dict(waits['classes'], idle=waits['idle'])
    samples_of_code = parts.pop('on-cpu')['waits']
    for name, part in parts.items():
        lengths = part['lengths']
        assert lengths['count'] == part['waits'], (name, part)
        assert sum(b['count'] for b in lengths['log2_us']) == part['waits'], (name, part)
        assert abs(lengths['total_us'] - part['us']) <= 1, (name, part)
    whole = samples_of_code + sum(p['waits'] for name, p in parts.items() if name != 'woken')
    samples = profile['samples']
    assert whole == samples['recorded'], (whole, samples)
    assert samples['seen'] == samples['recorded'] + samples['filtered'] + samples['lost'], samples
    print(whole, 'waits,', samples['lost'], 'lost')

if sys.argv[1] == 'row':
    path, log, process, functions = sys.argv[2:]
    check(row(path, process), *waits_of(log, process, functions.split(',')), functions)
else:
    count(sys.argv[2])
EOF

recorded() { # COMMAND ARGS...
	check "$1 records" "$BPFPROF" "$@" --idle=show -s -o "$TMP/x.json" -o "$TMP/x.bpfprof" -- "$PROGS/waits_lengths" 2
	cp "$OUT" "$TMP/log"
}

by_process() { # CLASS PROCESS FUNCTIONS
	check "reported" "$BPFPROF" report --idle=show --by process --class "$1" --json "$TMP/x.bpfprof"
	cp "$OUT" "$TMP/row.json"
	check "$1 of $2 as it says" python3 "$TMP/lengths.py" row "$TMP/row.json" "$TMP/log" "$2" "$3"
}

for command in offcpu wall; do
	recorded "$command"
	by_process sleep waits_lengths naps
	by_process poll others polls
	by_process lock others locks
	check "as many as recorded" python3 "$TMP/lengths.py" count "$TMP/x.json"
	check_grep '^ +CLASS +TIME +SHARE +WAITS +P50 +P90 +P99 +MAX' "$TMP/log" "columns in the summary"
done

# Some that a filter leaves: one function of a class.
check "reported" "$BPFPROF" report --idle=show --by process --class sleep --focus '^naps$' --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/row.json"
check "in focus" python3 "$TMP/lengths.py" row "$TMP/row.json" "$TMP/log" waits_lengths naps

# Of a saved recording nothing differs.
check "reported" "$BPFPROF" report --idle=show --histogram "$TMP/x.bpfprof"
check_grep '^sleep: [0-9]+ waits$' "$OUT" "histograms of classes"
cp "$OUT" "$TMP/one"
check "reported again" "$BPFPROF" report --idle=show -o "$TMP/y.bpfprof" -o "$TMP/y.json" "$TMP/x.bpfprof"
check "reported of a copy" "$BPFPROF" report --idle=show --histogram "$TMP/y.bpfprof"
cp "$OUT" "$TMP/two"
check "a copy says the same" cmp "$TMP/one" "$TMP/two"
check "so does JSON" cmp "$TMP/x.json" "$TMP/y.json"
check "a table for spreadsheets" "$BPFPROF" report --by class --csv "$TMP/x.bpfprof"
check_grep '^name,total,unit,waits,mean_us,p50_us,p90_us,p99_us,p99_9_us,max_us,total_us$' "$OUT" "with its heads"

# Merged threads, and tables in which most find no count.
for slots in 16 64; do
	check "recorded with $slots" "$BPFPROF" offcpu --max-stacks "$slots" -f -o "$TMP/x.json" -- "$PROGS/waits_crowd" 60 1
	check "as many as recorded with $slots" python3 "$TMP/lengths.py" count "$TMP/x.json"
done
check "recorded without stacks" "$BPFPROF" offcpu --no-stacks -f -o "$TMP/x.json" -- "$PROGS/waits_crowd" 60 1
check "as many as recorded without" python3 "$TMP/lengths.py" count "$TMP/x.json"
finish
