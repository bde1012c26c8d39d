#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 240
# A disk is full: one sentence names the file and the cause, nothing half is left, other outputs are whole, and an agent
# goes on and counts what it could not keep. Nobody reads a pipe any more: what writes there ends without a word; whatever
# else was asked for is whole.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 mount
need_prog spin_abc waits_server

mkdir "$TMP/full" "$TMP/whole"
mount -t tmpfs -o size=64k,mode=755 none "$TMP/full" || lacks "no file system can be mounted here"
trap 'umount -l "$TMP/full" 2>/dev/null; cleanup' EXIT
start_first "$PROGS/spin_abc" 230
spins=$PID
start "$PROGS/waits_server" unix 1000000
waits=$PID
check "a recording" "$BPFPROF" offcpu -o "$TMP/x.bpfprof" 1

# --- full disks ---

fill() { # KB that stay free
	rm -rf "$TMP"/full/* "$TMP"/whole/*
	# Of a file that somebody still has open there is room later.
	wait_until 5 filled $(((64 - $1) * 1024)) || fail "the disk is full but for $1 KB"
}
filled() { # BYTES
	head -c "$1" /dev/zero >"$TMP/full/others" 2>/dev/null && [ "$(stat -c %s "$TMP/full/others")" -eq "$1" ]
}
only() { # DESC FILE...: what is on the full disk
	check_is "$(cd "$TMP/full" && find . -mindepth 1 -printf '%P\n' | sort | tr '\n' ' ')" "others ${*:2}${2:+ }" "$1: what is there"
}
refused() { # FILE COMMAND...
	check_status 1 "$2 -> $1" "$BPFPROF" "${@:2}"
	check_is "$(grep -c "^bpfprof: cannot .*$1: No space left on device" "$ERR")" 1 "$2 -> $1: told once"
	check_is "$(grep -vc '^bpfprof: warning: ' "$ERR")" 1 "$2 -> $1: sentences"
}
for kb in 0 4; do
	for name in x.folded ${NIGHTLY:+x.json x.html} x.bpfprof x.pb.gz; do
		fill $kb
		refused "full/$name" report "$TMP/x.bpfprof" -o "$TMP/full/$name" -o "$TMP/whole/x.svg"
		only "$name"
		check_grep '</svg>' "$TMP/whole/x.svg" "$name: the other output is whole"
	done
	fill $kb
	refused full/x.json offcpu -o "$TMP/full/x.json" -o "$TMP/whole/x.folded" 0.5
	only offcpu
	check_folded "$TMP/whole/x.folded"
done
fill 0
refused full/x.json stat -o "$TMP/full/x.json" -p "$spins" 0.3
only stat
fill 4
check "an older file" cp "$TMP/x.bpfprof" "$TMP/whole/old.bpfprof"
echo "older 1" >"$TMP/full/x.folded"
refused full/x.folded report "$TMP/x.bpfprof" -o "$TMP/full/x.folded"
check_is "$(cat "$TMP/full/x.folded")" "older 1" "an older file of that name"
only "an older file" x.folded

fill 0
# Large and small, so that its last part is the one that fails, or one before.
for stacks in 20 175 301 394 2000; do
	STATUS=0
	check "a profile of $stacks stacks" "${PROGS%/progs}/e2e/gen_profile" "$stacks" "$TMP/large.bpfprof"
	"$BPFPROF" report "$TMP/large.bpfprof" -f >"$TMP/full/stdout" 2>"$ERR" || STATUS=$?
	check_is "$STATUS" 1 "$stacks stacks to standard output: exit status"
	check_is "$(grep -c '^bpfprof: cannot write to standard output: No space left on device$' "$ERR")" 1 "... told once"
done

# What is kept of debug information is for the next time only.
fill 0
check "a cache that is full" env CACHE_DIRECTORY="$TMP/full" "$BPFPROF" oncpu -p "$spins" -o "$TMP/whole/x.folded" 1
check_pct "$TMP/whole/x.folded" spin_a 50 20
check_is "$(find "$TMP/full" -type f ! -name others -size +0 | wc -l)" 0 "a cache that is full: files"

fill 40
"$BPFPROF" agent --keep "$TMP/full/keep" -i 1s >"$OUT" 2>"$ERR" &
agent=$!
pids+=("$agent")
told() {
	grep -q "$1" "$ERR"
}
head -c 64k /dev/zero >>"$TMP/full/others" 2>/dev/null
check "agent: says it once" wait_until 15 told "^bpfprof: windows are not kept for now: cannot write to .*/full/keep: No space left on device"
sleep 3
check_is "$(grep -c 'not kept for now' "$ERR")" 1 "agent: sentences about it"
mount -o remount,size=64m "$TMP/full"
check "agent: goes on, and counts them" wait_until 15 told '^bpfprof: warning: windows are kept in .*/full/keep again; [1-9][0-9]* were not'
sleep 2
stop "$agent"
check_is "$STATUS" 0 "agent: exit status"
check "agent: what it kept can be read" "$BPFPROF" report "$TMP/full/keep" --from -10s -o "$TMP/whole/x.folded"
check_folded "$TMP/whole/x.folded"
check_is "$(find "$TMP/full/keep" -name '.*' ! -name '*.lock' | wc -l)" 0 "agent: files without their final names"

# Names that fit on the disk are not kept without their window, which does not: they would take the room of the next one.
rm -rf "$TMP"/full/*
check "agent: with room" "$BPFPROF" agent --keep "$TMP/full/keep" -i 1s -d 2
names=$(stat -c %s "$TMP"/full/keep/*.names | head -n 1)
alone=0
for ((pages = names / 4096 - 1; pages < names / 4096 + 5; pages++)); do
	rm -rf "$TMP"/full/*
	mount -o "remount,size=$((pages * 4))k" "$TMP/full"
	check "agent: with room for $pages pages" "$BPFPROF" agent --keep "$TMP/full/keep" -i 1s -d 2
	[ -z "$(find "$TMP/full/keep" -name '*.names')" ] || [ -n "$(find "$TMP/full/keep" -name '2*' ! -name '*.names')" ] ||
		alone=$((alone + 1))
done
check_is $alone 0 "agent: names without a window, in so many folders,"

# --- closed pipes ---

closed() { # LIMIT_MS COMMAND...: into a pipe whose reader has read enough; sets $STATUS
	local began

	began=$(date +%s%N)
	{
		"$BPFPROF" "${@:2}" 2>"$ERR"
		echo $? >"$TMP/status"
	} | head -c 1 >/dev/null
	took=$((($(date +%s%N) - began) / 1000000))
	STATUS=$(cat "$TMP/status")
	check "${*:2} | head: exit status is $STATUS" [ "$STATUS" -eq 0 -o "$STATUS" -eq 141 ]
	check_between $took 0 "$1" "${*:2} | head: ms"
	check_is "$(grep -vc '^bpfprof: warning: ' "$ERR")" 0 "${*:2} | head: lines on standard error"
}
closed 6000 oncpu -f -p "$spins" 0.5
closed 6000 offcpu --json 0.5
closed 6000 offcpu --summary -p "$waits" 0.5
if [ -n "${NIGHTLY:-}" ]; then
	closed 6000 syscalls -p "$waits" 0.5
	closed 6000 stat -p "$spins" 0.5
	closed 6000 timeline -p "$waits" 0.5
fi
# These would go on for ever.
closed 6000 top -b -p "$spins" 0.3
closed 6000 runqlat 0.3
closed 6000 stat -I 300 -p "$spins"
closed 3000 report "$TMP/x.bpfprof" -f
closed 3000 report "$TMP/x.bpfprof" --json
closed 3000 report "$TMP/x.bpfprof" --summary
closed 3000 doctor
closed 3000 list
closed 3000 help

# Of two outputs one is a pipe that nobody reads any more: the other is whole.
closed 6000 offcpu -f -o "$TMP/whole/a.json" 0.5
check "a file beside standard output is whole" json "$TMP/whole/a.json" profile duration_s
mkfifo "$TMP/pipe.folded"
# More than a pipe holds: else who is slow to close it has all of it.
check_between "$("$BPFPROF" report -f "$TMP/large.bpfprof" | wc -c)" 100000 100000000 "bytes of its stacks"
for order in first last; do
	rm -f "$TMP"/whole/*
	head -c 1 <"$TMP/pipe.folded" >/dev/null &
	pids+=($!)
	files=(-o "$TMP/pipe.folded" -o "$TMP/whole/a.json")
	[ $order = first ] || files=(-o "$TMP/whole/a.json" -o "$TMP/pipe.folded")
	check_status 1 "a pipe as the $order of two files" "$BPFPROF" report "$TMP/large.bpfprof" "${files[@]}"
	# Who reads may be late.
	check_is "$(grep -v "waiting until somebody reads" "$ERR")" "bpfprof: cannot write $TMP/pipe.folded: Broken pipe" "... is told"
	check "... and the other file is whole" json "$TMP/whole/a.json" profile duration_s
done
# Who reads comes late.
"$BPFPROF" report "$TMP/large.bpfprof" -o "$TMP/pipe.folded" 2>"$TMP/said" &
writer=$!
pids+=("$writer")
check "what a pipe waits for is told" wait_until 20 grep -q "pipe.folded: waiting until somebody reads from it" "$TMP/said"
cat <"$TMP/pipe.folded" >"$TMP/late"
wait_for "$writer"
check_is "$STATUS" 0 "a pipe that is read late: exit status"
check_between "$(wc -c <"$TMP/late")" 100000 100000000 "bytes that were read"
# Messages that nobody reads, on a pipe of their own and on one with the result.
rm -f "$TMP"/whole/*
exec {nobody}> >(exec true)
sleep 0.3
STATUS=0
"$BPFPROF" oncpu -v -p "$spins" -o "$TMP/whole/a.json" 2 2>&$nobody || STATUS=$?
check_is "$STATUS" 0 "messages that nobody reads: exit status"
check "messages that nobody reads: the file is whole" json "$TMP/whole/a.json" profile duration_s
rm -f "$TMP"/whole/*
"$BPFPROF" oncpu -v -f -p "$spins" -o "$TMP/whole/a.json" 2 >&$nobody 2>&1
check_is $? 141 "messages and a result that nobody reads: exit status"
check "messages and a result that nobody reads: the file is whole" json "$TMP/whole/a.json" profile duration_s
exec {nobody}>&-
# A program that is started has the signal as usual.
"$BPFPROF" oncpu -f -o "$TMP/whole/b.folded" -- bash -c 'yes | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}" >"$0"' "$TMP/yes" >"$OUT" 2>&1
check_is "$(cat "$TMP/yes")" 141 "yes | head below bpfprof: exit status"
check_is "$(find "$TMP/whole" "$TMP" -maxdepth 1 -name '.*.json.*' -o -maxdepth 1 -name '.*.folded.*' | wc -l)" 0 "files without their final names"
finish
