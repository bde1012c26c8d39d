#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Children of a deep stack go to sleep before their process is known: of each one slot is copied under the lock of the run
# queue, and the rest is read while they sleep. Were all of it copied, these would need four times the slots that there are.
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_deep

children=${IN_GUEST:+40}
record offcpu -v --max-depth 1024 --idle=show -- "$PROGS/waits_deep" 440 "${children:-60}" 700
grep 'found no room' "$ERR" | sed 's/^/# /'
check_grep ' 0 found no room, 0 slots not given back' "$ERR" "there was room for each"
check_between "$(us_of "$TMP/x.folded" ';nap;')" $((${children:-60} * 2000000)) 100000000000 "us in nap"
check_between "$(pct_of "$(us_of "$TMP/x.folded" ';main;down;.*;nap;')" "$(us_of "$TMP/x.folded" '(^|;)(nap|clock_nanosleep|__nanosleep)(;|$)')")" 90 100 "% of that with the whole stack"
check_between "$(json "$TMP/x.json" stacks ends no-room)" 0 0 "% that found no room"
check_between "$(json "$TMP/x.json" stacks ends unreadable)" 0 1 "% that could not be read"

# Short naps are over before: that is said, and what was copied is there.
record offcpu --max-depth 1024 --idle=show -- "$PROGS/waits_deep" 440 40 1
check_between "$(json "$TMP/x.json" stacks ends no-table)" 0 1 "% that is said to have wanted a table"
check_between "$(json "$TMP/x.json" stacks ends moved-on)" 0 100 "% that moved on"
finish
