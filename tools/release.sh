#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Makes the files of a release of HEAD, in build/release: the source, and for x86-64 and aarch64 a Debian package, its
# debug symbols and a static program; then SHA256SUMS. Run on Debian for x86-64, after tools/install-deps.sh --cross.
#
# The same commit is to give the same bytes, in whatever folder, on a machine with the same packages: the archive has the
# order, owners and time of the commit, and no file has the time or the place of its building (tests/e2e/t834-*.sh).
#
# Environment: RELEASE_OUT (build/release), SYSROOT, VM_CACHE. Exit status: 0 all is there, 1 otherwise.

set -u
export LC_ALL=C.UTF-8 TZ=UTC
umask 022
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
# Of the make that runs this: each make below gets its own.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES CROSS_COMPILE STATIC

die() {
	echo "release: $*" >&2
	exit 1
}

cross=aarch64-linux-gnu-
version=$(cat VERSION)
name=bpfprof-$version
out=$(realpath -m "${RELEASE_OUT:-build/release}")
work=$out/work

[ "$(uname -m)" = x86_64 ] || die "builds on x86-64 only, and for aarch64 from there"
command -v "${cross}gcc" >/dev/null || die "needs ${cross}gcc; sudo tools/install-deps.sh --cross installs it"
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "there are changes that are not committed; commit or stash them"
grep -q "^## $version" CHANGELOG.md || die "CHANGELOG.md has no part about $version"
SYSROOT=${SYSROOT:-$(make -s --no-print-directory CROSS_COMPILE=$cross print-SYSROOT)}
[ -d "$SYSROOT" ] || die "no libraries for aarch64; tools/install-deps.sh --cross fetches them"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SYSROOT SOURCE_DATE_EPOCH

build() { # ARCH CROSS_COMPILE: the package, and from the same objects the static program
	local to=$out/$name-linux-$1 tree=$work/$1/$name program

	(cd "$work/$name" && DEB_OUT=$out DEB_WORK=$work/$1 tools/deb.sh "$2") || exit 1
	make --no-print-directory -C "$tree" CROSS_COMPILE="$2" static || exit 1
	program=$(make -s --no-print-directory -C "$tree" CROSS_COMPILE="$2" STATIC=1 print-PROG)
	install -m 755 "$tree/$program" "$to" || exit 1
	"$2strip" "$to" || exit 1
}

rm -rf "$out" && mkdir -p "$work" || exit 1
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$out/$name.tar.gz" || exit 1
tar -xf "$out/$name.tar.gz" -C "$work" || exit 1
SYSROOT='' build amd64 ''
COMPLETER=$out/$name-linux-amd64 build arm64 "$cross"
rm -rf "$work"
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
