#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes that come and go by the thousand leave nothing behind: memory does not grow with them.
# Only these are sampled: what else runs here has code of its own, whose names take memory.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_nightly

storm() { while :; do /bin/true; done; }
storm &
pids+=($!)
storm &
pids+=($!)
peak() { # SECONDS
	"$BPFPROF" oncpu -v -F 49 --comm 'true,bash,t109*' -f "$1" 2>"$ERR" >"$OUT"
	sed -n 's/.*peak memory \([0-9.]*\) MB.*/\1/p' "$ERR"
}
peak 1 >/dev/null
short=$(peak 3)
check_near "$(peak 20)" "$short" 5 "peak memory in MB after 20 s, as after 3 s"
finish
