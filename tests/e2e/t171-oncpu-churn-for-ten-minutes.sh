#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 1,100 processes a second for ten minutes: own CPU time and memory stay as they were in the second minute.
# timeout: 800
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=churn.sh
. "${0%/*}/churn.sh"
need_bpf
need_nightly
need_prog forks

rate=${IN_GUEST:+200}
rate=${rate:-1100}
churn_parts "$rate" 10 60
check_between "$(part 10 1)" 1 $(($(part 2 1) * 13 / 10)) "own CPU in us in minute 10, at most 1.3 times that in minute 2"
check_between "$(part 10 2)" 1 $(($(part 2 2) * 13 / 10)) "memory in KB then, at most 1.3 times"
[ -n "${IN_GUEST:-}" ] || check_between "$(part 10 1)" 1 1800000 "own CPU in us in minute 10, 3 % of a core at most"
finish
