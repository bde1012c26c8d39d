#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of a program that reads past the page cache without a pause, the end of each read is seen that is seen to begin, also
# while the programs are detached one after the other. Needs a folder on a disk.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=io.sh
. "${0%/*}/io.sh"
need_bpf
need python3
need_prog io_known

need_disk

cat >"$TMP/reads.py" <<'END'
import mmap, os, sys
block = mmap.mmap(-1, 4096)
name = sys.argv[1] + "/t646"
with open(name, "wb") as f:
    f.write(bytes(4096 * 64))
    os.fsync(f.fileno())
fd = os.open(name, os.O_RDONLY | os.O_DIRECT)
os.unlink(name)
print("reads", flush=True)
while True:
    for i in range(64):
        os.preadv(fd, [block], 4096 * i)
END

start python3 "$TMP/reads.py" "$folder"
wait_until 20 grep -q reads "$LOG"
whole=0
for _ in 1 2 3 4 5 6; do
	check "io" "$BPFPROF" io -p "$PID" -d 0.3 -o "$TMP/x.json"
	check_ledger_closes "$TMP/x.json"
	missing=$(ledger "$TMP/x.json" no-end)
	echo "# $missing of $(ledger "$TMP/x.json" seen) had no end"
	[ "$missing" -gt 0 ] || whole=$((whole + 1))
done
# A host may hide what interrupts do for a moment: that is not in each of them.
check_between "$whole" 3 6 "recordings in which each read has its end"
finish
