#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# While rows of executables and processes are written all the time, no walk goes by parts of two.
# timeout: 180
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog nofp_deep

seconds=${NIGHTLY:+30}
check "rows are written and read" "$ROOT/build/tests/e2e/torn" "$PROGS" "${seconds:-4}"
cat "$OUT"
check_near "$(awk '$1 == "wrong" { print $2 }' "$OUT")" 0 0 "stacks that went wrong"
# Enough of both that rows were read while they changed.
check_between "$(awk '$1 == "complete" { print $2 }' "$OUT")" 2 100000000 "different stacks that were complete"
check_between "$(awk '$1 == "waiting" { print $2 }' "$OUT")" 10 100000000 "walks that wait for a table"
finish
