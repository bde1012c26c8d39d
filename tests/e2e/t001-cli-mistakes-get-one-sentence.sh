#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every mistake on the command line gets one sentence and exit status 2; help and version need no root.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

mistake() { # PATTERN ARGS...
	local pattern=$1

	shift
	check_status 2 "refused: bpfprof $*" "$BPFPROF" "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
}

mistake "unknown command 'onpcu'; did you mean 'oncpu'" onpcu
mistake "unknown option '--pidd'.*did you mean '--pid'" oncpu --pidd 1
mistake "unknown option '-Q'" oncpu -Q
mistake "needs a value" oncpu -p
check_status 1 "a process that is not there, by name" "$BPFPROF" oncpu -p no-such-name 1
check_grep "-p no-such-name: no process has this name" "$ERR"
mistake "-p 0: process numbers go from 1" oncpu -p 0
mistake "-p 99999999999: process numbers go from 1" oncpu -p 99999999999
rates="must be a number from 1 to $(cat /proc/sys/kernel/perf_event_max_sample_rate) [(]kernel.perf_event_max_sample_rate[)]$"
for rate in 0 -5 0.5 1e3 abc '' 99Hz 100000000 4294967295 4294967395 99999999999999999999; do
	mistake "'-F $rate'?.*: $rates" oncpu -F "$rate" 1
done
mistake "'--freq 0': $rates" oncpu --freq=0 1
mistake "option '-F' needs a value" oncpu -F
mistake "--max-overhead: '' is no number from 0 to 100" oncpu --max-overhead= 1
mistake "'abc' is not a duration" oncpu abc
mistake "above 0" oncpu 0
mistake "unexpected argument '2'" oncpu 1 2
mistake "-u and -k exclude" oncpu -u -k 1
mistake "-U and -K exclude" oncpu -U -K 1
mistake "samples 'cycles' or 'cpu-clock'" oncpu -e page-faults 1
mistake "'\[' without '\]'" oncpu -n '[abc' 1
mistake "-n '': an empty name" oncpu -n '' 1
mistake "-n 'a,,b': an empty name" oncpu -n 'a,,b' 1
mistake "unknown file extension; use one of .folded .svg" oncpu -o x.jpeg 1
mistake "-C 60000: no such CPU is online; those online are $(cat /sys/devices/system/cpu/online)$" oncpu -C 0,60000 1
mistake "-C 60000: no such CPU is online; those online are $(cat /sys/devices/system/cpu/online)$" stat -C 60000 -e page-faults 1
mistake "which file" report
mistake "-U and -K exclude" report -U -K x
mistake "one file at a time" report a b

check_status 2 "no command: usage" "$BPFPROF"
check_grep "usage: bpfprof COMMAND" "$ERR"
check "help" "$BPFPROF" --help
check_grep "oncpu +where" "$OUT"
check "help of a command" "$BPFPROF" oncpu --help
check_grep "-p, --pid LIST" "$OUT"
check_near "$(awk 'length > 100' "$OUT" | wc -l)" 0 0 "lines of help above 100 columns"
check "help COMMAND" "$BPFPROF" help report
check "version" "$BPFPROF" --version
check_grep "^bpfprof [0-9.]+$" "$OUT"
check_status 1 "a full disk behind stdout is noticed" sh -c '"$0" --help >/dev/full' "$BPFPROF"
check "a reader that had enough is no error" bash -c 'set -o pipefail; "$0" oncpu --help | true; [ "${PIPESTATUS[0]}" -ne 1 ]' "$BPFPROF"
finish
