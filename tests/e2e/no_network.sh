#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs a program where there is no network but for a name server that never answers: no_network.sh FOLDER COMMAND..., with
# FOLDER for files of its own. Exit status 77 where that cannot be had.
set -u
if [ -z "${IN_NO_NETWORK:-}" ]; then
	unshare -mn true 2>/dev/null && command -v ip >/dev/null || exit 77
	IN_NO_NETWORK=1 exec unshare -mn bash "$0" "$@"
fi
echo nameserver 127.0.0.1 >"$1/resolv.conf" && mount --bind "$1/resolv.conf" "$(realpath /etc/resolv.conf)" || exit 77
ip link set lo up || exit 77
shift
coproc python3 -uc 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
print("ready")
time.sleep(600)'
server=$COPROC_PID
read -r _ <&"${COPROC[0]}" || exit 77
"$@"
status=$?
kill "$server"
exit $status
