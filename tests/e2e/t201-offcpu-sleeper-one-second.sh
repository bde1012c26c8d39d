#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A sleep of 1.000 s is 1.000 s, in the function that slept; so are 500 of one millisecond.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_sleeper

record offcpu -m 1 --idle=show -- "$PROGS/waits_sleeper" once 1
check_truth nap_once "" 98 101
check_near "$(us_of "$TMP/x.folded" '^waits_sleeper;(.*;)?main;nap_once;')" 1000000 20000 "us in nap_once, called by main"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check "it costs a share of the CPUs" python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["cost"]["bpf_share_of_cpus"] > 0' "$TMP/x.json"
check_no_grep 'ffffffff[0-9a-f]{8}' "$TMP/x.folded" "no kernel address is printed"

record offcpu -m 1 --idle=show --by-class -- "$PROGS/waits_sleeper" often 500
check_truth nap_often sleep
check "at least as many waits as naps" test "$(ledger "$TMP/x.json" recorded)" -ge "$(did truth nap_often 4)"
finish
