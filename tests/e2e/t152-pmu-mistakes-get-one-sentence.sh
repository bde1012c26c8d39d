#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every mistake with events gets one sentence; hardware that is not there is no mistake, but exit status 77.
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

mistake "'-c 0': must be a number from 1" pmu -c 0 -e page-faults 1
mistake "'-c x': must be a number from 1" pmu -c x -e page-faults 1
mistake "-c and -F exclude each other" pmu -c 100 -F 99 -e page-faults 1
mistake "'-F 0': must be a number from 1" pmu -F 0 -e page-faults 1
mistake "page-fault.*page-faults" pmu -e page-fault 1
mistake "page-faults is given twice" pmu -e page-faults -e page-faults 1
mistake "--value: 'minor' is not an event of -e|--value: 'minor-fault' is not an event" \
	pmu -e page-faults,minor-faults --value minor-fault 1
mistake "not a duration" pmu -e page-faults abc
many=$(for i in $(seq 17); do echo "r$i"; done | paste -sd ,)
if has_pmu; then
	mistake "17 events; at most 16" pmu -e "$many" 1
fi

check "help" "$BPFPROF" pmu --help
check_grep "--precise" "$OUT"

if [ "$(id -u)" -eq 0 ] && [ -r /sys/kernel/btf/vmlinux ] && ! has_pmu; then
	for event in '' '-e cycles' '-e instructions,page-faults'; do
		# shellcheck disable=SC2086
		check_status 77 "no hardware events here: pmu $event" "$BPFPROF" pmu $event 1
		check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
		check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
	done
fi
finish
