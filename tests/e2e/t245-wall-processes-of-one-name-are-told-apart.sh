#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where several processes have one name, tables show what tells them apart, of their command lines.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog titles

start "$PROGS/titles" 30 some-words-that-give-room --password=hidden
server=$PID
sleep 0.3
check "wall" "$BPFPROF" wall -p "$server" --table -o "$TMP/x.bpfprof" 2
check_grep '^titles: reader  ' "$OUT" "what a program wrote over its arguments"
check_grep '^titles: writer\?\[31m' "$OUT" "control characters are replaced"
check_grep '^titles 30 some-words-that-give-room --password=  ' "$OUT" "the one that wrote nothing has its arguments, without secrets"
check_no_grep 'hidden' "$OUT"
check_no_grep "$(printf '\033')" "$OUT" "no escape character"
cp "$OUT" "$TMP/said"
check "report" "$BPFPROF" report --table "$TMP/x.bpfprof"
cp "$OUT" "$TMP/again"
check "... says the same" diff <(grep ^titles "$TMP/said") <(grep ^titles "$TMP/again")
check "as JSON" "$BPFPROF" report --table --json "$TMP/x.bpfprof"
check_grep '"title": ?"titles: reader"' "$OUT"
check "alone" "$BPFPROF" wall -p "$server" --no-children --table 1
check_no_grep 'some-words' "$OUT" "one of its name has no need of it"
stop "$server"
finish
