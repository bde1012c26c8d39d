#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What was waited for: locks, sleeps, pipes, sockets, polls and page faults, each in the function that waited and for as
# long as that says.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_convoy waits_pingpong waits_server waits_faults waits_pool

classes() { # PROGRAM ARGS...
	record offcpu -m 1 --idle=show --by-class -- "$PROGS/$1" "${@:2}"
}

classes waits_convoy 4 50
check_truth wait_for_lock lock
check_truth hold sleep
check_truth think sleep 90

classes waits_pingpong threads 100
check_truth await_pong pipe
check_truth rest sleep
check_grep '^ping;\[pipe\];(.*;)?await_pong;' "$TMP/x.folded" "under the name of the thread"

classes waits_pingpong processes 100
check_truth await_pong pipe
check_grep '^pong;\[[a-z]+\];(.*;)?pong_main;' "$TMP/x.folded" "in the child, too"

classes waits_server unix 50
check_truth serve poll
check_truth await_reply net
check_truth think sleep
check_truth rest sleep

# Nobody has switched on the loopback device of a guest.
[ -z "${IN_GUEST:-}" ] || python3 -c 'import fcntl, socket, struct
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
fcntl.ioctl(socket.socket(), SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))' || fail "cannot switch on the loopback device"
if "$PROGS/waits_server" tcp 1 >/dev/null 2>&1; then
	classes waits_server tcp 50
	check_truth serve poll
	check_truth await_reply net
else
	echo "# no loopback device: TCP not tried"
fi

if "$PROGS/waits_faults" late 1 1 >/dev/null 2>&1; then
	classes waits_faults late 30 10
	check_truth touch pagefault
else
	echo "# no userfaultfd: page faults not tried"
fi

classes waits_pool 1 3
check_truth idle_worker lock
check_truth idle_reactor poll
finish
