#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A recording goes on for ever in tables of a fixed size: 16,384 stacks, five times each, in tables for half of them (the
# other half is emptied meanwhile). Each stack has its five calls, none is lost. And samples, of which nearly every one has
# a stack of its own. At night there are 1,048,576 stacks.
# long
# timeout: 900
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog counted_ways many_stacks
walks=$ROOT/build/tests/e2e/walks
[ -x "$walks" ] || walks=${PROGS%/progs}/e2e/walks
[ -x "$walks" ] || lacks "walks is not built"

BITS=14 ROUNDS=5 STACKS=16384 calls_per_s=20000
begin=1.5 seconds=60 # at most: it is ended when the target is done
[ -z "${NIGHTLY:-}" ] || BITS=20 ROUNDS=1 seconds=400
[ -z "${IN_GUEST:-}" ] || seconds=60 ROUNDS=5 begin=6 BITS=12 STACKS=4096 calls_per_s=3000
ways=$((1 << BITS)) calls=$((ROUNDS << BITS))
start "$PROGS/counted_ways" $BITS $ROUNDS $calls_per_s
target=$PID log=$LOG
"$walks" "$PROGS/counted_ways:way_end" "$target" $seconds "$TMP/folded" $STACKS >"$TMP/json" 2>"$TMP/err" &
recorder=$!
pids+=("$recorder")
wait_until 30 recording "$recorder"
sleep $begin
kill -USR1 "$target"
wait_until $seconds grep -q 'done' "$log" || fail "the target did not do its work"
kill -INT "$recorder"
wait_for "$recorder"
check_near "$STATUS" 0 0 "recording of $calls calls: exit status"
stop "$target"
sed 's/^/# /' "$TMP/err"
lost=$(json "$TMP/json" samples lost)
# A million at 20,000 a second, each of which takes a slot of its own: beside other load some come too fast.
check_between "$lost" 0 "$([ $BITS -eq 20 ] && echo $((calls / 1000)) || echo 0)" "lost of $calls calls"
check_near "$(json "$TMP/json" samples recorded)" $((calls - lost)) 0 "recorded calls"
check_grep 'stack tables emptied while recording: [1-9][0-9,]* times' "$TMP/err"
grep ';way_end ' "$TMP/folded" | awk '{ print $NF }' | sort | uniq -c >"$TMP/by-calls"
sed 's/^/# stacks, calls: /' "$TMP/by-calls"
check_near "$(grep -c ';way_end ' "$TMP/folded")" $((ways - lost)) 0 "stacks"
check_near "$(awk -v n=$ROUNDS '$2 == n { print $1 }' "$TMP/by-calls")" $((ways - lost)) 0 "stacks with their $ROUNDS calls"

# Enough samples where the program has a third of a CPU. An emulator has no time for that many.
rate=4999
[ -z "${IN_GUEST:-}" ] || rate=999
check "many_stacks" "$BPFPROF" oncpu -F $rate --max-stacks 2048 -f -o "$TMP/x.json" -- "$PROGS/many_stacks" 5 28
cp "$OUT" "$TMP/x.folded"
stacks=$(grep -c ';way_end' "$TMP/x.folded")
check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost of $(json "$TMP/x.json" samples recorded) samples"
check "more stacks than slots: $stacks" test "$stacks" -gt 2048
check_near "$(awk '{ n += $NF } END { print n }' "$TMP/x.folded")" "$(json "$TMP/x.json" samples recorded)" 0 "samples in the stacks"
finish
