#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Where the kernel refuses a probe on one instance of raw::poll, polls of the others are timed and that one is named; and
# polls are of the threads that options select, of children with a program of their own, too.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo nm
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"
app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

# Each type of task has an instance for each scheduler: with several workers one of them is never called. Its first byte
# becomes that of an instruction that the kernel takes no probe on.
break_instance() { # NUMBER FILE
	nm "$app" | grep -E '4task3raw4poll17h[0-9a-f]{16}E$' | sort >"$TMP/instances"
	[ "$1" -le "$(wc -l <"$TMP/instances")" ] || return 1
	cp "$app" "$2"
	python3 - "$2" "$(sed -n "$1p" "$TMP/instances" | cut -d' ' -f1)" <<-'END'
		import struct, sys
		path, address = sys.argv[1], int(sys.argv[2], 16)
		with open(path, "r+b") as f:
		    head = f.read(64)
		    at, size, nr = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
		    for i in range(nr):
		        f.seek(at + i * size)
		        kind, flags, offset, vaddr, _, bytes_ = struct.unpack("<IIQQQQ", f.read(40))
		        if kind == 1 and vaddr <= address < vaddr + bytes_:
		            f.seek(address - vaddr + offset)
		            f.write(b"\xcc")
	END
}

if [ "$(uname -m)" = x86_64 ]; then
	for ((i = 1; i < 80; i++)); do
		break_instance $i "$TMP/broken" || break
		"$TMP/broken" 0.1 --polls 2 --truth "$TMP/truth" >"$TMP/log" 2>&1 || continue
		check "one refused instance" "$BPFPROF" polls --force --tasks --json -- \
			"$TMP/broken" 1 --polls 15 --truth "$TMP/truth"
		# That of a job is no task's.
		grep -q 'takes no probe' "$ERR" && break
	done
	check_grep 'the kernel takes no probe on 1 of [0-9]+ instances, whose polls are not in the result: .*[(]"int3' "$ERR"
	cp "$OUT" "$TMP/json"
	drive polls.py "the others" "$TMP/truth" "$TMP/json"
fi

# A shell that starts it: its own file has no task, its child's has.
start "$app" 25 --polls 800 --workers 2
child=$PID
start bash -c '"$1" 20 --polls 700 --workers 2; exit' bash "$app"
sleep 0.3
check "-p of who started it" "$BPFPROF" polls --force --json -p "$PID" 1
check_grep '"function": ?"tokio_waits::polls::tasks::' "$OUT" "a child's polls are found"
check_status 2 "--no-children" "$BPFPROF" polls --force --no-children -p "$PID" 1
check_grep 'no program of Tokio' "$ERR"

# Its first thread waits for the others and polls nothing.
check_status 3 "-t of one that polls nothing" "$BPFPROF" polls --force -t "$child" --no-children 1
check "-t of its workers" "$BPFPROF" polls --force --json -t "$(cd "/proc/$child/task" && printf "%s\n" * | grep -vx "$child" | paste -sd,)" 1
check_grep '"function": ?"tokio_waits::polls::tasks::' "$OUT"
check_status 3 "-n of other threads" "$BPFPROF" polls --force -p "$child" -n 'nobody' 1

check_status 2 "-k" "$BPFPROF" polls -k -p "$child" 1
check_grep 'it is no kernel thread' "$ERR"
check_status 2 "-a" "$BPFPROF" polls -a 1
check_grep 'name these by -p' "$ERR"
check_status 2 "-n alone" "$BPFPROF" polls -n 'tokio*' 1
check_grep 'threads of which process[?] Add -p PID' "$ERR"
finish
