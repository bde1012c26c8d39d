#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Who writes files gets nothing on a pipe but what was asked for, and a form that a result does not have is a mistake
# with one sentence, exit status 2, and no file.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
GEN=${PROGS%/progs}/e2e
for gen in gen_profile gen_stat gen_timeline; do
	[ -x "$GEN/$gen" ] || lacks "$GEN/$gen is not built"
done
cd "$TMP" || exit 1

silent() { # ARGS...
	check "bpfprof $*" "$BPFPROF" "$@"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
}

prints() { # FILE ARGS...: what is in FILE
	check "bpfprof ${*:2}" "$BPFPROF" "${@:2}"
	cp "$OUT" printed
	check "prints what is in $1" cmp printed "$1"
}

mistake() { # PATTERN ARGS...
	local pattern=$1

	shift
	check_status 2 "refused: bpfprof $*" "$BPFPROF" "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
	check "no file" test ! -e not.svg -a ! -e not.json
}

check "a profile" "$GEN/gen_profile" small small.bpfprof
"$GEN/gen_stat" json >a.json
"$GEN/gen_stat" json time=1.1 >b.json

check "a timeline" "$GEN/gen_timeline" timeline time.bpfprof
mistake "^bpfprof: --sort is for the table of threads: add --table" report --sort max time.bpfprof
mistake "^bpfprof: --histogram is for recordings of waits " report --histogram small.bpfprof
silent report -o x.svg small.bpfprof
silent report -o x.folded -o x.json small.bpfprof
prints x.folded report -f -o x.svg small.bpfprof
prints x.folded report small.bpfprof
silent diff -o d.json -o d.txt a.json b.json
prints d.txt diff a.json b.json
prints d.json diff --json a.json b.json
prints d.txt diff --junit j.xml a.json b.json
silent diff -o k.xml a.json b.json
check "XML by its extension" cmp j.xml k.xml
silent list -o l.txt -o l.csv page-faults
check_grep '^page-faults ' l.txt
check_grep '^"page-faults","kernel","software","counts",' l.csv

mistake "\.txt.*did you mean '.svg'" report -o not.json -o x.svgz small.bpfprof
mistake "one of \.json \.xml \.txt$" diff -o x.parquet a.json b.json
mistake "one of \.json \.csv \.txt; did you mean '.csv'" list -o x.cvs
mistake "-o x.svg: a result of stat has no such form; use one of \.json \.csv \.md \.bpfprof \.txt$" stat -o x.svg 1
mistake "-o x.svg: a recording of runqlat has no such form; use one of .*\.csv .bpfprof .txt$" runqlat -o x.svg 1
mistake "time of threads was not recorded" report --table -o not.svg small.bpfprof
mistake "time of threads was not recorded" report --table --json small.bpfprof
mistake "the recording has no branches [(]bpfprof pmu --branches records them[)]" report --branches small.bpfprof
mistake "the recording has no branches" report --branches -f -o not.svg small.bpfprof
mistake "the recording has no branches" report --branches --json small.bpfprof
for option in "--class lock" "--by-class" "--idle=show"; do
	# shellcheck disable=SC2086 # an option and its value
	mistake "^bpfprof: ${option%%[ =]*} is for recordings of waits [(].*[)]; this is a recording of oncpu$" report -f -o not.svg $option small.bpfprof
done
mistake "-m is for recordings of runqlat, and of calls with --latency; this is a recording of oncpu" report -m small.bpfprof
mistake "^bpfprof: -f and -s exclude each other [(]-o FILE writes several[)]$" report -f -s small.bpfprof
mistake "--broken, --json and -f exclude each other" report --broken --json -f small.bpfprof
mistake "-f and -s exclude each other" offcpu -f -s 1
mistake "a recording of stacks cannot be shown by --report [(]use --table, --broken, --branches, --json, --csv, -f, -s, --tree, --peek or --by[)]" report --report md small.bpfprof
check "report --csv" "$BPFPROF" report --csv small.bpfprof
check_grep '^name,module,self,total,unit$' "$OUT"
mistake "no such event" report --value nosuch -o not.svg small.bpfprof
mistake "--json and --csv exclude" list --json --csv
mistake "--json and --junit -" diff --json --junit - a.json b.json
finish
