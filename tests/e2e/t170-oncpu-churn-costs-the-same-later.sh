#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thousand processes a second: recording them costs no more later than at first, since nothing is done again and again for
# those that have ended.
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=churn.sh
. "${0%/*}/churn.sh"
need_bpf
need_prog forks

rate=${IN_GUEST:+200}
rate=${rate:-1100}
churn_parts "$rate" 4 5
# Other programs make a part dearer, by what they take from caches: not all of its like.
least() { # PART PART
	printf '%s\n' "$(part "$1" 1)" "$(part "$2" 1)" | sort -n | head -1
}
most() { # PART PART
	printf '%s\n' "$(part "$1" 1)" "$(part "$2" 1)" | sort -n | tail -1
}
check_between "$(least 3 4)" 1 $(($(most 1 2) * 13 / 10)) "own CPU in us in the second half, at most 1.3 times that of the first"
[ -n "${IN_GUEST:-}" ] || check_between "$(least 3 4)" 1 250000 "own CPU in us then, 5 % of a core at most"
check_near "$STATUS" 0 0 "exit status"
finish
