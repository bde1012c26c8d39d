#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
#
# make check-vm cannot pass by mistake: a guest whose kernel panics, warns or hangs fails, with its console kept, and so
# does one whose test fails or that runs none.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
[ -z "${IN_GUEST:-}" ] || skip "boots guests"
need_nightly
need qemu-system-aarch64 cpio
cd "$ROOT" || exit 1
export VM_LOGS=$TMP/vm
guest=arm64-6.1
CACHE=${VM_CACHE:-.cache}
[ -s "$CACHE/kernel-bookworm-arm64/version" ] || skip "make check-vm has not fetched the kernel yet"

vm() { # STATUS DESC SCRIPT: boots a guest that runs the script in place of the tests
	printf '%s\n' "$3" >"$TMP/script"
	check_status "$1" "$2" env RUN="$TMP/script" VM_TIMEOUT="${limit:-60}" tests/vm/run.sh $guest
}

vm 0 "a guest that does nothing wrong" 'echo "1 passed, 0 failed, 0 skipped"'
check_grep "^$guest: 1 passed, 0 failed, 0 skipped" "$OUT"
check_grep "^1 guests passed, 0 failed" "$OUT"

vm 1 "a failed test" 'echo "not ok t999-it-fails (0.1 s): on purpose"; echo "1 passed, 1 failed, 0 skipped"; exit 1'
check_grep "^$guest: not ok t999-it-fails .*on purpose" "$OUT"
vm 1 "no test ran" 'exit 0'
check_grep "^$guest: FAILED: no test passed" "$OUT"

vm 1 "a panic" 'echo c >/proc/sysrq-trigger'
check_grep "^$guest: FAILED: its kernel said: .*(Kernel panic|Unable to handle kernel|BUG|Oops)" "$OUT"
check_grep "Kernel panic" "$VM_LOGS/$guest.console"

for splat in "------------[ cut here ]------------" "WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2" \
	"WARNING: kernel/x.c:1 at f+0x1/0x2, CPU#0: init/1" "WARNING: possible circular locking dependency detected" \
	"UBSAN: array-index-out-of-bounds in kernel/x.c:1:2" "rcu: INFO: rcu_sched self-detected stall on CPU" "BUG: sleeping function called from invalid context"; do
	vm 1 "the kernel prints: $splat" "echo '<4>$splat' >/dev/kmsg; echo '1 passed, 0 failed, 0 skipped'"
	check_grep "^$guest: FAILED: its kernel said: " "$OUT"
done

limit=20
vm 1 "a hang" 'while :; do :; done'
check_grep "^$guest: FAILED: no end after 20 s" "$OUT"
vm 1 "it goes away without a word" 'echo b >/proc/sysrq-trigger; sleep 1'
check_grep "^$guest: FAILED: it died" "$OUT"
# Who ends the run ends its guests.
echo 'sleep 1000; while :; do :; done' >"$TMP/script"
RUN=$TMP/script tests/vm/run.sh $guest >/dev/null 2>&1 &
run=$!
pids+=("$run")
guest_runs() { pgrep -f "qemu-system-aarch64.*$VM_LOGS/" >/dev/null; }
check "a guest runs" wait_until 30 guest_runs
kill -TERM "$run"
gone() { ! guest_runs; }
check "and is gone after the run was ended" wait_until 10 gone
finish
