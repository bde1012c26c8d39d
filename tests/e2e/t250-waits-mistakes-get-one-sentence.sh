#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Mistakes in the commands about waits get one sentence that says what would be right, and exit status 2.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"

mistake() { # PATTERN ARGS...
	local pattern=$1

	shift
	check_status 2 "refused: bpfprof $*" "$BPFPROF" "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
}

start sleep 1000
for command in offcpu wakeup wall; do
	mistake "-U and -K exclude" $command -U -K 1
	mistake "-u and -k exclude" $command -u -k 1
	mistake "kernel" $command -k -p "$PID" 1
	mistake "unknown option '--pidd'.*did you mean '--pid'" $command --pidd 1
	mistake "'abc' is not a duration" $command abc
	mistake "above 0" $command 0
	mistake "unexpected argument .2." $command 1 2
	mistake "unknown file extension" $command -o x.jpeg 1
done
mistake "-m.*-M|-M.*-m" offcpu -m 1000 -M 999 1
for bad in -1 x 1.5x '' 99999999999999999999999; do
	mistake "-m" offcpu -m "$bad" 1
	mistake "-M" offcpu -M "$bad" 1
done
for class in nosuch lock,nosuch ''; do
	mistake "lock.*poll.*sleep.*io.*net.*pipe.*pagefault.*woken.*preempted.*throttled.*other" offcpu --class "$class" 1
done
mistake "lock" offcpu --class lok 1
mistake "unknown class 'runnabel'; did you mean 'runnable'\?$" offcpu --class io,runnabel 1
mistake "did you mean 'preempted'" wall --class preemptd 1
mistake "--state" offcpu --state nosuch 1
mistake "--state" offcpu --state '' 1
mistake "show.*fold.*hide|fold.*hide.*show" offcpu --idle=maybe 1
mistake "--walks" offcpu --walks x 1
mistake "--hops" wakeup --hops x 1
mistake "--hops" wakeup --hops 1000000 1
mistake "--threshold" runqlat --threshold x 1
mistake "abc" runqlat abc
mistake "abc" runqlat 1 abc
mistake "above 0|from 1" runqlat 0
mistake "above 0|from 1" runqlat 1 0
mistake "." runqlat 1 2 3
mistake "exclude|one of" runqlat -P --per-thread 1
for form in -f --table --broken; do
	mistake "^bpfprof: --histogram is part of the summary: use -s or -o FILE.txt$" wall --histogram "$form" 1
done
mistake "^bpfprof: --histogram goes with --by thread, process or class$" offcpu --histogram --by function 1
mistake "^bpfprof: --sort is for the table of threads: add --table, or use bpfprof sched$" timeline --sort max 1
mistake "^bpfprof: -P is for the table of threads: add --table, or use bpfprof sched$" timeline -P -o x.trace.json 1

for command in offcpu runqlat wakeup wall; do
	check "help of $command" "$BPFPROF" $command --help
	check_grep "-p, --pid LIST" "$OUT"
	check_near "$(awk 'length > 100' "$OUT" | wc -l)" 0 0 "lines of help above 100 columns"
done
check "help" "$BPFPROF" --help
for command in offcpu runqlat wakeup wall; do
	check_grep "^ +$command +" "$OUT"
done
finish
