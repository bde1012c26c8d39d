#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where a limit of the shell lets no process read files or look at others, there is a profile, and a sentence says what is
# missing and why. A limit of file sizes ends nothing: what could not be written is told. A started program has its signals.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog nofp_deep

start "$PROGS/nofp_deep" 100 60
target=$PID
limited() { # STATUS DESC LIMITS...; x.folded and x.bpfprof
	rm -f "$TMP"/x.*
	# shellcheck disable=SC2016
	check_status "$1" "$2" bash -c 'ulimit "${@:3}" && exec "$0" oncpu -p "$1" -F 199 -o "$2/x.folded" -o "$2/x.bpfprof" 1' \
		"$BPFPROF" "$target" "$TMP" "${@:3}"
}
nobody='no process can be started that looks at files and at other processes'

limited 0 "200 MB of addresses" -v 200000
check_grep "$nobody \(Cannot allocate memory; ulimit -a lists limits\)" "$ERR" "memory: is told"
check_is "$(grep -c "$nobody" "$ERR")" 1 "memory: is told once"
check_grep '^nofp_deep' "$TMP/x.folded" "memory: there is a profile"

limited 0 "400 MB of addresses" -v 400000
# Enough for names, once what the recording needed is given back.
check_no_grep 'Cannot allocate memory' "$ERR" "names: nothing is missing"
check_grep '^nofp_deep;.*;main;descend;' "$TMP/x.folded" "names: they are there"

# 1 MB: the outputs fit, what readers answer does not.
limited 0 "files of 1 MB" -f 1000
check_grep "$nobody \(File too large" "$ERR" "sizes of files: is told"
check_grep '^nofp_deep' "$TMP/x.folded" "sizes of files: there is a profile"

limited 1 "files of 1 kB" -f 1
check_grep 'cannot write .*x.bpfprof: File too large' "$ERR" "an output that does not fit: is told"
check_fail "an output that does not fit: is absent" [ -e "$TMP/x.bpfprof" ]

# shellcheck disable=SC2016
check "a program behind a limit" bash -c 'ulimit -f 100 && exec "$0" oncpu -f -- bash -c '\''
	head -c 1000000 /dev/zero >"$0/big"; echo "status $?"; for ((i = 0; i < 300000; i++)); do :; done'\'' "$1"' "$BPFPROF" "$TMP"
check_grep '^status 153' "$OUT" "a program behind a limit: gets the signal"
finish
