#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tests/run.sh gives a script or unit program that fails a second try and no third: who fails twice has failed, however many tries are left.
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

# The same of unit programs.
printf '#!/bin/sh\necho "not ok 1 - never right"\necho 1..1\nexit 1\n' >"$TMP/test_fails"
# shellcheck disable=SC2016 # that program's own
printf '#!/bin/sh\necho 1..1\n[ -e "$0.was" ] && echo "ok 1 - right" && exit 0\ntouch "$0.was"\necho "not ok 1 - right"\nexit 1\n' >"$TMP/test_second"
chmod 755 "$TMP"/test_*
check_status 1 "unit programs" env AGAIN=4 "$TMP/tests/run.sh" --unit "$TMP/test_fails" "$TMP/test_second"
check_grep '^not ok test_fails: never right' "$OUT" "the first has failed"
check_grep '^flaky  1 passed at the second try: test_second$' "$OUT" "the other is named"
check_grep '^1 passed, 1 failed, 0 skipped$' "$OUT" "both are counted"
check_status 1 "without a second try" env AGAIN=0 "$TMP/tests/run.sh" --unit "$TMP/test_fails"
finish
