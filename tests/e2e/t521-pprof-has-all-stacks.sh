#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# The file for pprof says what folded stacks say, follows the rules of its strictest reader, and go tool pprof
# comes to the same numbers.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"
pprof() {
	python3 "$ROOT/tests/e2e/pprof.py" "$@"
}
keep() { # COMMAND...: into $TMP/out
	"$@" >"$TMP/out"
}

for kind in small=1=0 broken=1=0 2000=1=0 offcpu=1000=1 wakeup=1000=1 lock=1000=1 wall=1000=1; do
	IFS='=' read -r what div column <<<"$kind"
	check "$what" "$GEN" "$what" "$TMP/$what.pb.gz" "$TMP/x.pprof" "$TMP/x.folded" "$TMP/$what.bpfprof"
	check "... as its folded stacks" pprof same "$TMP/$what.pb.gz" "$TMP/x.folded" "$div" "$column"
	check "... under both names" cmp "$TMP/$what.pb.gz" "$TMP/x.pprof"
	check "... and again" "$GEN" "$what" "$TMP/x.pprof"
	check "... the same bytes" cmp "$TMP/$what.pb.gz" "$TMP/x.pprof"
done

# Compressed bytes are up to zlib; what is in them is kept.
for what in small wakeup; do
	check "$what as text" keep pprof dump "$TMP/$what.pb.gz"
	check "... as it was" diff "$ROOT/tests/data/pprof-$what.txt" "$TMP/out"
done

types() { # WHAT EXPECTED
	check "$1 has its types" keep pprof types "$TMP/$1.pb.gz"
	check "... $2" grep -qxF "$2" "$TMP/out"
}
types small "samples/count=1000 cpu/nanoseconds=1000 every 10101010 cpu/nanoseconds first cpu of /usr/bin/redis-server"
types offcpu "waits/count=2243 off_cpu/nanoseconds=27220000000 every 1 off_cpu/nanoseconds first off_cpu of /usr/bin/redis-server"
types lock "contentions/count=2243 delay/nanoseconds=27220000000 every 1 delay/nanoseconds first delay of /usr/bin/redis-server"

view() { # WHAT DIV COLUMN OPTION...
	local what=$1 div=$2 column=$3

	shift 3
	check "$what $*" "$BPFPROF" report "$@" -o "$TMP/v.pb.gz" -o "$TMP/v.folded" "$TMP/$what.bpfprof"
	check "... shows the same" pprof same "$TMP/v.pb.gz" "$TMP/v.folded" "$div" "$column"
}
view small 1 0 --focus memcpy
view small 1 0 -U --per-thread
view small 1 0 -K
view small 1 0 -A -D --merge-threads --no-inline --no-demangle
rm -f "$TMP/v.pb.gz"
check_status 3 "nothing matches" "$BPFPROF" report --focus 'no such name' -o "$TMP/v.pb.gz" "$TMP/small.bpfprof"
check "... and no file is written" test ! -e "$TMP/v.pb.gz"
view wall 1000 1 --by-class --idle show
view wall 1000 1 --class lock,io --idle hide

if [ "$(id -u)" -eq 0 ] && [ -r /sys/kernel/btf/vmlinux ] && [ -x "$PROGS/inlines" ]; then
	start "$PROGS/inlines" 20
	check "a recording" "$BPFPROF" oncpu -p "$PID" -F 499 -o "$TMP/x.pb.gz" -o "$TMP/x.folded" -o "$TMP/x.bpfprof" 2
	check "... as its folded stacks" pprof same "$TMP/x.pb.gz" "$TMP/x.folded" 1 0
	check "... knows its program" keep pprof types "$TMP/x.pb.gz"
	check "... which is first" grep -q "/inlines\$" "$TMP/out"
	check "... and time as long as its samples" awk -F'[ =]' '{ e = $2 * 1e9 / 499; exit !($4 > .98 * e && $4 < 1.02 * e) }' "$TMP/out"
	check "its lines and inlined calls" keep pprof dump "$TMP/x.pb.gz"
	check "... are several lines of one place" grep -qE "^location .*'line': \[\{[^]]*\}, \{" "$TMP/out"
	check "... and its build id" grep -qE '^string_table [0-9a-f]{40}$' "$TMP/out"
	check "events side by side" "$BPFPROF" pmu -e cpu-clock,page-faults -o "$TMP/x.pb.gz" -o "$TMP/x.folded" 1
	check "... are types" keep pprof types "$TMP/x.pb.gz"
	check "... with their names" grep -qE '^cpu/nanoseconds=[0-9]+ page_faults/count=[0-9]+ ' "$TMP/out"
	check "... as their folded stacks" pprof same "$TMP/x.pb.gz" "$TMP/x.folded" 1
fi

command -v go >/dev/null 2>&1 || finish
go tool pprof -h >/dev/null 2>&1
check "go tool pprof reads it" keep timeout 200 go tool pprof -raw "$TMP/lock.pb.gz"
check "... its types" grep -qx 'contentions/count delay/nanoseconds\[dflt\]' "$TMP/out"
for what in small 2000 offcpu wall; do
	check "its functions of $what" keep timeout 100 go tool pprof -sample_index=0 -nodecount=100000 -nodefraction=0 -top "$TMP/$what.pb.gz"
	total=$(pprof types "$TMP/$what.pb.gz" | sed 's/^[^=]*=\([0-9]*\) .*/\1/')
	check "... sum up to $total" awk -v want="$total" 'head { sum += $1 } $1 == "flat" { head = 1 } END { exit sum != want }' "$TMP/out"
done
check "... are those of the report" keep timeout 100 go tool pprof -sample_index=0 -top "$TMP/small.pb.gz"
check "... by number" awk '$6 == "dictScan" && $1 == 300 && $4 == 300 { a = 1 } $6 == "memcpy" && $1 == 250 { b = 1 }
	$6 == "serverCron" && $1 == 0 && $4 == 600 { c = 1 } END { exit !(a && b && c) }' "$TMP/out"
finish
