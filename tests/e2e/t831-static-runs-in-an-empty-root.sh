#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# The static program runs where there is no other file: it says what it is, lists events, records a program with complete
# stacks; and the one for aarch64 runs under QEMU as far as that has system calls for it.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need make unshare readelf
need_prog nofp_libc-static
cd "$ROOT" || exit 1

check "make static" make static
static=build/static/bpfprof
readelf -d "$static" >"$TMP/dynamic"
check_no_grep NEEDED "$TMP/dynamic" "it needs no library"
readelf -l "$static" >"$TMP/segments"
check_no_grep INTERP "$TMP/segments" "and no loader"

mkdir -p "$TMP/root/proc" "$TMP/root/sys" "$TMP/root/dev"
cp "$static" "$TMP/root/bpfprof"
cp "$PROGS/nofp_libc-static" "$TMP/root/prog"
# The kernel's file systems are no files of a distribution. Mounts are of a namespace that ends with the program.
inside() { # PROGRAM ARGS...
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t proc none "$0/proc" && mount --rbind /sys "$0/sys" && mount --bind /dev "$0/dev" &&
		exec chroot "$0" "$@"' "$TMP/root" "$@"
}
empty() { # ARGS...
	inside /bpfprof "$@"
}
check "--version" empty --version
check_grep "^bpfprof $(cat VERSION)$" "$OUT"
check "--help" empty --help
check_grep '^  oncpu ' "$OUT"
check "list" empty list
check_grep 'cpu-clock' "$OUT"
check "oncpu" empty oncpu -U -F 499 -f -- /prog 2
check_grep '^prog;_start;' "$OUT" "stacks from the first frame"
check_status 2 "--debuginfod, which would load a library" \
	env DEBUGINFOD_URLS=http://localhost:1/ chroot "$TMP/root" /bpfprof oncpu --debuginfod 1
check_grep 'linked statically' "$ERR"
# Not even a library that is there: its C library may be another one.
check "a recording" "$static" oncpu -F 99 -o "$TMP/x.bpfprof" -- "$PROGS/nofp_libc-static" 1
check_status 1 "push" "$static" push --now --to parca=http://127.0.0.1:9 "$TMP/x.bpfprof"
check_grep 'linked statically' "$ERR"
check_status 1 "agent --listen" "$static" agent --listen 0 1
check_grep 'linked statically' "$ERR"

arm64=build-arm64/static/bpfprof
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if [ -x "$arm64" ] && [ -n "$qemu" ]; then
	readelf -d "$arm64" >"$TMP/dynamic"
	check_no_grep NEEDED "$TMP/dynamic" "aarch64: it needs no library"
	cp "$arm64" "$TMP/root/bpfprof-arm64"
	cp "$qemu" "$TMP/root/qemu"
	check "aarch64: --version" inside /qemu /bpfprof-arm64 --version
	check_grep "^bpfprof $(cat VERSION)$" "$OUT"
	check "aarch64: --help" inside /qemu /bpfprof-arm64 oncpu --help
	check_grep ' -F, ' "$OUT"
	check "aarch64: list" inside /qemu /bpfprof-arm64 list
	check_grep 'cpu-clock' "$OUT"
else
	echo "# aarch64: not tried; it takes make static CROSS_COMPILE=aarch64-linux-gnu- and qemu-user-static"
fi
finish
