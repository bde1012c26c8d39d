#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Async functions that the compiler made one of are each there, in the order of the source, where a program of Tokio has debug
# information: for all of the time that the function within them blocks.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

app=$("$ROOT/tests/progs/tokio/build.sh" reldebug "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

check "offcpu" "$BPFPROF" offcpu -o "$TMP/x.bpfprof" -- "$app" 2 --leaves nested_sleep --truth "$TMP/truth"
truth=$(($(json "$TMP/truth" leaves nested_sleep ns) / 1000))
leaves=tokio_waits::leaves

"$BPFPROF" report -f "$TMP/x.bpfprof" >"$TMP/folded"
check_folded "$TMP/folded"
all=$(us_of "$TMP/folded" "$leaves::blocking::nested_sleep;")
chain="outer_async;$leaves::around::middle_async;$leaves::around::inner_async;$leaves::Leaf::time;$leaves::blocking::nested_sleep"
right=$(us_of "$TMP/folded" "^tokio-rt-worker;\\[task\\];$leaves::tasks::nested_sleep;$leaves::around::nested_sleep;$leaves::around::$chain;")
echo "# figure: nested calls: $right us of $all are below outer_async;middle_async;inner_async, it measured $truth us"
check_near "$right" "$all" 0 "us below outer_async;middle_async;inner_async"
check_between "$all" $((truth * 97 / 100)) $((truth * 102 / 100)) "us in it, of $truth that it measured"

"$BPFPROF" report -f --frames=all "$TMP/x.bpfprof" >"$TMP/all"
right=$(us_of "$TMP/all" "outer_async::\\{\\{closure\\}\\};$leaves::around::middle_async::\\{\\{closure\\}\\};$leaves::around::inner_async::\\{\\{closure\\}\\};.*$leaves::blocking::nested_sleep;")
check_near "$right" "$all" 0 "us in it below their closures, with all frames"
"$BPFPROF" report -f --no-inline "$TMP/x.bpfprof" >"$TMP/linked"
check_no_grep 'middle_async' "$TMP/linked" "--no-inline: functions as the linker has them"
check_near "$(us_of "$TMP/linked" "tasks::nested_sleep;.*\\[(sleep|woken|preempted)\\]")" "$all" 20000 "and their time is the same, us"
finish
