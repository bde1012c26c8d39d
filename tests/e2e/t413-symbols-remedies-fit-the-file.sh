#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the summary advises for code without names fits the file: its debug link, its build-id, what it is at all.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog inlines spin_abc
need objcopy python3
cd "$TMP" || exit 1

advice() { # DESC EXPECTED COMMAND...; of the program's file, or of $of
	check "$1" "$BPFPROF" oncpu -U -F 999 -o x.txt -- "${@:3}"
	check_grep "% ${of:-$3}: $2" x.txt "$1: the advice"
}

objcopy --only-keep-debug "$PROGS/inlines" prog.debug
objcopy --strip-all --add-gnu-debuglink=prog.debug "$PROGS/inlines" linked
mv prog.debug kept
advice "a link to what is missing" "stripped, and its debug file prog.debug is missing: put that file beside it, or --debuginfod$" \
	"$TMP/linked" 0.3
# Another build: of another build-id, and where there is none, of another checksum.
objcopy --only-keep-debug "$PROGS/spin_abc" prog.debug
advice "a link to another build" "stripped, and its debug file prog.debug is of another build: put .*, or --debuginfod$" "$TMP/linked" 0.3
objcopy --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink=kept "$PROGS/inlines" unlinked
objcopy --remove-section=.note.gnu.build-id kept kept2 && mv kept2 kept
advice "another checksum" "stripped, without a build-id, and its debug file kept is of another build: " "$TMP/unlinked" 0.3
check_no_grep 'or --debuginfod' x.txt "no server has a file without a build-id"
objcopy --strip-all --add-gnu-debuglink=kept "$PROGS/inlines" linked
mv kept prog.debug

# What is no ELF file is not stripped, nor is one whose end is missing.
cat >blob.py <<-'EOT'
	import ctypes, mmap, platform, sys, time
	code = {"x86_64": "5548 89e5 48ff cf75 fb5d c3", "aarch64": "fd7bbfa9 fd030091 000400f1 e1ffff54 fd7bc1a8 c0035fd6"}
	with open("blob", "wb") as f:
	    f.write(bytes.fromhex(code[platform.machine()]).ljust(65536, b"\0"))
	with open("blob", "r+b") as f:
	    m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
	run = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
	end = time.process_time() + 0.4
	while time.process_time() < end:
	    run(3000000)
EOT
of=$TMP/blob advice "no ELF file" "it is no ELF file that can be read: damaged" python3 blob.py
objcopy --strip-all "$PROGS/inlines" cut
python3 - cut <<'EOT'
import struct, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(40)
    at, = struct.unpack("<Q", f.read(8))
    f.truncate(at)
EOT
objcopy --strip-all "$PROGS/inlines" bare
printf '\0%.0s' {1..8} | dd of=bare bs=1 seek=40 conv=notrunc status=none
printf '\0%.0s' {1..4} | dd of=bare bs=1 seek=60 conv=notrunc status=none
advice "no section table" "it has no section table, as sstrip and packers leave it: run the file as it was linked" "$TMP/bare" 0.3
advice "cut off" "its section table is cut off or damaged: install it again" "$TMP/cut" 0.3
check_no_grep 'cut: .*strip' x.txt "it is not called stripped"

# A line feed in a name is shown as other control characters are, whoever told of the file.
cp linked "line
1feed" && rm prog.debug
start "$TMP/line
1feed" 20
check "a line feed" "$BPFPROF" oncpu -U -F 999 -p "$PID" -o x.txt 0.5
check_grep "% $TMP/line[?]1feed: stripped, and its debug file kept is missing" x.txt "a line feed in a name"
stop "$PID"

# What was written to after it ran is not stripped either.
cp "$PROGS/inlines" written
# shellcheck disable=SC2016
of=$TMP/written advice "written to" "it could not be read: it was written to after it ran" \
	sh -c '"$0" 0.4; printf x >>"$0"' "$TMP/written"
finish
