#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a process maps, and how often, takes nothing from the stacks of others, nor from bpfprof's time and memory.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog attacks nofp_libc

chmod 755 "$TMP"
as_user() { # ARGS...; sets $PID
	start setpriv --reuid 1234 --regid 1234 --clear-groups "$TMP/attacks" "$@"
	wait_until 20 grep -q ready "$LOG"
}
below() { # VALUE LIMIT DESC
	if [ "$1" -lt "$2" ]; then
		pass "$3"
	else
		fail "$3"
	fi
}
late_victim() { # DESC: the stacks of a program that starts after bpfprof has seen the attackers are whole
	local whole profiler

	start_bpfprof oncpu -F 199 -o "$TMP/x.folded" 4
	profiler=$PID
	sleep 1.5
	start "$PROGS/nofp_libc" 20
	wait_for "$profiler"
	check "$1" [ "$STATUS" -eq 0 ]
	stop "$PID"
	whole=$(awk '/^nofp_libc;/ { all += $NF; if (/;main;/) whole += $NF } END { print all ? 100 * whole / all : 0 }' "$TMP/x.folded")
	check_near "$whole" 100 2 "$1: the victim's stacks are whole"
}

cp "$PROGS/attacks" "$TMP/attacks"
attackers=()

# 8,300 pieces of code: more than there are rows.
truncate -s 300M "$TMP/big"
chown 1234 "$TMP/big"; chmod 644 "$TMP/big"
as_user pieces 8300 "$TMP/big"
attackers+=("$PID")
late_victim "8,300 pieces mapped by another user"
kill "${attackers[@]}"
attackers=()

# A library that says of itself that it is the C library, and has no tables.
libc=$(ldd "$PROGS/nofp_libc" | awk '/libc\.so/ { print $3 }')
if command -v gcc readelf >/dev/null && [ -r "$libc" ]; then
	id=$(readelf -n "$libc" | awk '/Build ID/ { print $3 }')
	gcc -O1 -shared -fPIC -Wl,--build-id="0x$id" -x c - -o "$TMP/evil.so" <<-'C'
		__asm__(".section .text.fill,\"ax\",@progbits\n.globl filler\n.type filler,@function\nfiller:\n"
			".cfi_startproc\n.cfi_undefined 16\n.fill 1600000,1,0x90\nret\n.cfi_endproc\n.size filler,.-filler\n");
		void burn(void) { for (;;) for (volatile int i = 0; i < 1000000; i++) ; }
	C
	offset=0x$(nm "$TMP/evil.so" | awk '$3 == "burn" { print $1 }') # it is linked to 0
	# Static, so that the C library is not among what the attacker maps.
	gcc -O1 -static-pie -D_GNU_SOURCE "${0%/*}/../progs/attacks.c" -o "$TMP/attacks" -lpthread
	chown 1234 "$TMP/evil.so"
	chmod 755 "$TMP/attacks" "$TMP/evil.so"
	for _ in 1 2 3; do
		as_user library "$TMP/evil.so" "$offset"
		attackers+=("$PID")
	done
	sleep 1
	late_victim "a library with libc's build-id"
	kill "${attackers[@]}"
	attackers=()
fi

# A header of 65,279 sections and 1,168 notes, mapped 2,000 times.
python3 - "$TMP/hostile" <<'PY'
import struct, sys
size, notes, sections = 300 << 20, 100 << 20, 200 << 20
machine = 183 if __import__("platform").machine() == "aarch64" else 62
load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
note = struct.pack("<IIQQQQQQ", 4, 4, notes, 0, 0, 65536, 65536, 4)
head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
    "<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, sections, 0, 64, 56, 1170, 64, 65279, 0)
with open(sys.argv[1], "wb") as f:
    f.write(head + 2 * load + 1168 * note)
    f.truncate(size)
PY
chown 1234 "$TMP/hostile"; chmod 644 "$TMP/hostile"
as_user pieces 2000 "$TMP/hostile"
attackers+=("$PID")
began=$(date +%s%N)
check "2,000 pieces of a file made to cost" "$BPFPROF" oncpu -p "$PID" -F 99 -o "$TMP/x.folded" 1
took=$((($(date +%s%N) - began) / 1000000))
below $took 4000 "... take $took ms"
start_bpfprof oncpu -p "$PID" -F 99 -o "$TMP/x.folded" 60
recording "$PID"
began=$(date +%s%N)
stop "$PID" INT
took=$((($(date +%s%N) - began) / 1000000))
below $took 1500 "Ctrl-C answers after $took ms"

kill "${attackers[@]}"
attackers=()

# 30,000 new files a second. Only they are recorded: what others have costs memory as well.
as_user files
attackers+=("$PID")
check "files without end" "$BPFPROF" oncpu -p "$PID" -F 49 -o "$TMP/x.folded" -o "$TMP/x.json" 8
check_ledger_closes "$TMP/x.json"
rss=$(json "$TMP/x.json" cost rss_bytes)
below "$rss" $((80 << 20)) "bpfprof took $rss bytes"
kill "${attackers[@]}"

# The first thread has exited.
start "$PROGS/attacks" leaderless
wait_until 10 grep -q ready "$LOG"
check "no first thread" "$BPFPROF" oncpu -p "$PID" -F 199 -o "$TMP/x.folded" 1
check_pct "$TMP/x.folded" burn_here 99 1.5
stop "$PID" KILL
finish
