#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A jitdump file of a million functions is read in time: code has the name that was told last.
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
python3 -c 'import ctypes, mmap' 2>/dev/null || skip "python3 lacks ctypes"

cat >"$TMP/generates.py" <<-'PY'
	import ctypes
	import mmap
	import os
	import platform
	import struct
	import sys

	memory = mmap.mmap(-1, 65536, prot=7)
	code = ctypes.addressof(ctypes.c_char.from_buffer(memory))
	loop = b"\xeb\xfe" if platform.machine() == "x86_64" else struct.pack("<I", 0x14000000)
	memory[: len(loop)] = loop
	pid = os.getpid()
	with open(sys.argv[1] + f"/jit-{pid}.dump", "w+b") as f:
	    machine = 62 if len(loop) == 2 else 183
	    f.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, pid, 0, 0))
	    for i in range(1000000):
	        name = b"made_%06d\0" % i
	        f.write(struct.pack("<IIQIIQQQQ", 0, 56 + len(name) + len(loop), 1, pid, pid, code, code, len(loop), i))
	        f.write(name + loop)
	    f.flush()
	    marker = mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=5)
	    print("ready", flush=True)
	    ctypes.CFUNCTYPE(None)(code)()
PY
start python3 "$TMP/generates.py" "$TMP"
wait_until 60 grep -q ready "$LOG"
began=$EPOCHREALTIME
check "a recording" "$BPFPROF" oncpu -p "$PID" -F 199 -v -o "$TMP/x.folded" 1
echo "# figure: $(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }') s with a recording of 1 s"
check_grep ';made_999999' "$TMP/x.folded" "the function has its last name"
check_no_grep 'no names' "$ERR" "no name is missing"
check_grep ' 1000000 in its jitdump file' "$ERR" "all were read"
finish
