#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 300
# Waits of a Tokio program on another machine than that which built it, as in guests for aarch64: context and kind of some of
# its blocking functions, by day; of all that block in the guest, nightly. Times are as the program says.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

# Nobody has switched on the loopback device of a guest.
[ -z "${IN_GUEST:-}" ] || python3 -c 'import fcntl, socket, struct
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
fcntl.ioctl(socket.socket(), SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))' || fail "cannot switch on the loopback device"

leaves=std_mutex,pl_mutex,blocking_sleep,channel_recv,thread_park,pool_job,tcp_read,flock
[ -z "${NIGHTLY:-}" ] || leaves+=,rwlock_read,rwlock_write,condvar,thread_join,executor_block_on,block_in_place,pipe_read,select,poll,nested_sleep,child
# bpfprof has read the program and made its tables before the program goes on, so that no wait is one that nobody can walk.
seconds=${NIGHTLY:+8}
run "$BPFPROF" offcpu -o "$TMP/x.bpfprof" -o "$TMP/x.folded" -- \
	"$app" "${seconds:-4}" --workers 12 --leaves $leaves --dir "$TMP" --truth "$TMP/truth"
check_is "$STATUS" 0 "exit status of offcpu"
[ -s "$TMP/truth" ] || { fail "the program ran to its end" && show && finish; }
check_folded "$TMP/x.folded"
drive tokio_subset.py "$(uname -m)" "$TMP/truth" "$TMP/x.folded" "$(echo "$leaves" | tr ',' '\n' | wc -l)"
finish
