#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tests/run.sh gives a script that fails a second try and no third: who fails twice has failed, however many tries are left.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
[ -z "${IN_GUEST:-}" ] || skip "it is about this machine's tests"

# A copy has logs of its own.
mkdir "$TMP/tests" && cp "$ROOT/tests/run.sh" "$TMP/tests" || exit 1
printf 'echo "not ok 1 - never right"\nexit 1\n' >"$TMP/fails.sh"
# shellcheck disable=SC2016 # that script's own
printf '[ -e "$0.was" ] && exit 0\ntouch "$0.was"\nexit 1\n' >"$TMP/second.sh"
check_status 1 "one that fails twice, and one that passes then" env AGAIN=4 "$TMP/tests/run.sh" "$TMP/fails.sh" "$TMP/second.sh"
check_grep '^not ok fails .*never right' "$OUT" "the first has failed"
check_grep '^flaky  1 passed at the second try: second$' "$OUT" "the other is named"
check_grep '^1 passed, 1 failed, 0 skipped$' "$OUT" "both are counted"
finish
