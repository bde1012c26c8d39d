#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A perf map of ten million lines, each of which names all of memory: Ctrl-C gives the result without the names of that
# process, a second later at most than it does where the map is small.
# alone: it judges times
# timeout: 180
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
[ "$(uname -m)" = x86_64 ] || skip "its code is x86-64"
[ "$(df --output=avail -m /tmp | tail -n 1)" -gt 1000 ] || skip "needs 1 GB in /tmp"
cat >"$TMP/jit.py" <<-'EOT'
	import ctypes, mmap, os, sys
	code = bytes.fromhex("5548 89e5 48ff cf75 fb5d c3")
	m = mmap.mmap(-1, 1 << 22, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
	base, functions = ctypes.addressof(ctypes.c_char.from_buffer(m)), []
	for i in range(0, 1 << 22, 2048):
	    m[i:i + len(code)] = code
	    functions.append(ctypes.CFUNCTYPE(None, ctypes.c_uint64)(base + i))
	with open(f"/tmp/perf-{os.getpid()}.map", "wb") as f:
	    block = b"".join(b"1 7fffffffffff f%d\n" % i for i in range(10000))
	    for i in range(int(sys.argv[1])):
	        f.write(block)
	print("ready", flush=True)
	while True:
	    for function in functions:
	        function(20000)
EOT

ctrl_c() { # BLOCKS OF 10,000 LINES; sets $took, in ms
	local target begin recorder

	start python3 "$TMP/jit.py" "$1"
	target=$PID
	wait_until 60 grep -q ready "$LOG"
	start_bpfprof oncpu -p "$target" -F 499 -o "$TMP/x.folded" -f
	recorder=$PID
	sleep 2
	begin=$EPOCHREALTIME
	kill -INT "$recorder"
	wait_for "$recorder"
	took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }')
	check_is "$STATUS" 0 "$1 blocks: exit status"
	stop "$target" KILL
	rm -f "/tmp/perf-$target.map"
}

ctrl_c 1
usual=$took
check_grep ';f9999 ' "$TMP/x.folded" "a small map gives names"
ctrl_c 1100
echo "# figure: $usual ms with a small map, $took ms with a large one"
check_grep ';\[jit\] ' "$TMP/x.folded" "it is done without"
check_grep 'no names: reading it took too long' "$ERR" "which is told"
check_between "$took" 0 $((usual + 1000)) "ms from Ctrl-C to the result"
finish
