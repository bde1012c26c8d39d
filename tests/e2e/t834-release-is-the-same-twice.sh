#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 3000
# make release of one commit in two folders gives the same bytes: the archive has
# the order, owner and time of the commit, and each file is what SHA256SUMS says.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need make git dpkg-buildpackage dh aarch64-linux-gnu-gcc sha256sum
cd "$ROOT" || exit 1
[ -d .git ] || skip "needs the repository"
SYSROOT=$(make -s --no-print-directory CROSS_COMPILE=aarch64-linux-gnu- print-SYSROOT)
[ -d "$SYSROOT" ] || skip "needs libraries for aarch64: tools/install-deps.sh --cross"
export SYSROOT

for folder in a another/b; do
	check "a copy of the repository" git -c safe.directory='*' clone -q "$ROOT" "$TMP/$folder"
	check "make release in $folder" make -C "$TMP/$folder" release
done
one=$TMP/a/build/release
check_between "$(wc -l <"$one/SHA256SUMS")" 5 20 "files in SHA256SUMS"
check "they are what it says" sh -c 'cd "$0" && sha256sum -c --quiet SHA256SUMS' "$one"
check "both folders have the same" diff "$one/SHA256SUMS" "$TMP/another/b/build/release/SHA256SUMS"

version=$(cat VERSION)
tar --utc --full-time -tvf "$one/bpfprof-$version.tar.gz" >"$TMP/list"
time=$(TZ=UTC git -c safe.directory='*' log -1 --date='format-local:%Y-%m-%d %H:%M:%S' --format=%cd)
check_is "$(awk '{ print $2, $4, $5 }' "$TMP/list" | sort -u)" "root/root $time" "owner and time of all files"
check "they are in order" sh -c "awk '{ print \$6 }' '$TMP/list' | LC_ALL=C sort -c"
for arch in amd64 arm64; do
	check "a package for $arch" test -s "$one/bpfprof_${version}_$arch.deb"
	check "a program for $arch" test -x "$one/bpfprof-$version-linux-$arch"
	check_is "$(strings -a "$one/bpfprof-$version-linux-$arch" | grep -cE "$TMP|$SYSROOT")" 0 "places of the build machine in it"
done
finish
