#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What would name the code of a stripped library is told by the package that has its symbols, where dpkg knows the file;
# not of another file at the same path, as containers have them, and not when the lists never answer.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog silent_fs
need dpkg-query xz unshare ldd
library=$(readlink -f "$(ldd "$(command -v xz)" | awk '$1 ~ /^liblzma/ { print $3 }')")
[ -f "$library" ] || skip "xz without liblzma"
owner=$(dpkg-query -S "$library" 2>/dev/null | cut -d : -f 1) || :
[ -n "$owner" ] || owner=$(dpkg-query -S "${library#/usr}" 2>/dev/null | cut -d : -f 1) || :
[ -n "$owner" ] || skip "no package has $library"
id=$(readelf -n "$library" 2>/dev/null | awk '/Build ID/ { print $3 }')
[ ! -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] || skip "its debug symbols are installed"

start bash -c 'exec xz -3 -T1 </dev/urandom >/dev/null'
target=$PID
remedy() { # DESC COMMAND...; sets $remedy
	check "$1" "${@:2}"
	remedy=$(cat "$OUT" "$ERR" | sed -n "s|^.* ${library}: ||p" | head -n 1)
}
record=("$BPFPROF" oncpu -p "$target" -F 997 -o "$TMP/x.folded" -o "$TMP/x.json" -o "$TMP/x.bpfprof" -s 1)
general='or -debuginfo'

remedy "a library of a package" "${record[@]}"
check_grep "stripped: apt install ${owner}-dbgsym .*or --debuginfod" <(echo "$remedy") "the summary"
check_grep "apt install ${owner}-dbgsym" "$TMP/x.json" "JSON"
check "it is reported" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep "apt install ${owner}-dbgsym" "$OUT" "a report of it"

# Who has to share its CPU says the same, however long lines may take.
hogs=()
for ((i = 0; i < 3 * $(nproc); i++)); do
	start bash -c 'while :; do :; done'
	hogs+=("$PID")
done
for time in 10ms 5s; do
	remedy "a busy machine, $time" nice -n $((niceness < 0 ? -niceness : 0)) "${record[@]}" --symbol-time $time
	check_grep "stripped: apt install ${owner}-dbgsym" <(echo "$remedy") "a busy machine, $time: the summary"
done
for i in "${hogs[@]}"; do
	stop "$i"
done

mkdir "$TMP/lists"
start "$PROGS/silent_fs" "$TMP/lists" /bin/true
fs=$PID
if [ -c /dev/fuse ] && wait_until 10 mountpoint -q "$TMP/lists"; then
	trap 'kill -KILL $fs; umount -l "$TMP/lists"; cleanup' EXIT
	remedy "lists that never answer" timeout -s KILL 30 unshare -m bash -c '
		mount --bind "$1" /var/lib/dpkg/info && kill -HUP "$2" && sleep 0.2
		exec "${@:3}"' - "$TMP/lists" "$fs" "${record[@]}"
	check_grep "$general" <(echo "$remedy") "lists that never answer: what is told"
fi

stop "$target"
cp "$library" "$TMP/another"
start unshare -m bash -c 'mount --bind "$1" "$2" && exec xz -3 -T1 </dev/urandom >/dev/null' - "$TMP/another" "$library"
record[3]=$PID
sleep 0.5
remedy "another file at the same path" "${record[@]}"
check_grep "$general" <(echo "$remedy") "another file: what is told"
finish
