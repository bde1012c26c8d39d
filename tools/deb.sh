#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds the Debian package of this source tree, in build/deb, and has lintian look at it where that is installed:
#
#	tools/deb.sh [CROSS_COMPILE]		e.g. aarch64-linux-gnu-
#
# It works on a copy of the tree, where dist/debian is debian/, so objects of other builds are not touched. Of a cross
# build the package depends on the same versions of libraries as one for this machine would: the libraries it is linked
# with (tools/fetch.sh sysroot) are of the same suite, and here dpkg knows them.
#
# Environment: DEB_OUT (build/deb), DEB_WORK (a folder to build in, which then stays), SYSROOT, COMPLETER (of a cross
# build: a bpfprof that runs here; without it one is made).
# Exit status: 0 built, and lintian has no complaint; 1 otherwise.

set -u
export LC_ALL=C.UTF-8
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
# Of the make that runs this: each make below gets its own.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES CROSS_COMPILE STATIC

die() {
	echo "deb: $*" >&2
	exit 1
}

cross=${1:-}
arch=$(dpkg --print-architecture 2>/dev/null) || die "needs Debian's tools: apt install build-essential debhelper"
for tool in dpkg-buildpackage dh; do
	command -v "$tool" >/dev/null || die "needs $tool: apt install build-essential debhelper"
done
if [ -n "$cross" ]; then
	arch=$(dpkg-architecture -f -t "${cross%-}" -q DEB_HOST_ARCH) || die "no architecture of Debian is '${cross%-}'"
	SYSROOT=${SYSROOT:-$(make -s --no-print-directory CROSS_COMPILE="$cross" print-SYSROOT)}
	export SYSROOT
	[ -n "${COMPLETER:-}" ] || make --no-print-directory bpfprof || exit 1
	export COMPLETER="${COMPLETER:-$PWD/bpfprof}"
fi
out=$(realpath -m "${DEB_OUT:-build/deb}")
work=${DEB_WORK:-$out/work-$arch}
version=$(cat VERSION)
[ "$(dpkg-parsechangelog -l dist/debian/changelog -S Version)" = "$version" ] ||
	die "dist/debian/changelog is not of version $version"

# What dpkg says of the libraries of this machine, for a program that is linked with those of another. Its loader has
# another name there, and is of the C library.
shlibs() { # PROGRAM
	local library package here

	here=$(dpkg-architecture -q DEB_BUILD_MULTIARCH)
	objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' | while read -r library; do
		package=$(dpkg-query -S "*/$here/$library" 2>/dev/null | head -n 1 | cut -d : -f 1,2)
		[ -z "$package" ] || dpkg-query --control-show "$package" shlibs
	done | sed 's/^libc 6 \(.*\)/&\nld-linux-aarch64 1 \1/' | sort -u
}

rm -rf "$work" && mkdir -p "$work/bpfprof-$version" || exit 1
tar -c --exclude='./build*' --exclude=./.git --exclude=./.cache --exclude=./bpfprof . |
	tar -x -C "$work/bpfprof-$version" || exit 1
cp -r dist/debian "$work/bpfprof-$version/debian" || exit 1
[ -z "$cross" ] || shlibs ./bpfprof >"$work/bpfprof-$version/debian/shlibs.local"

# -d: of a cross build dpkg looks for packages that the sysroot stands for.
(cd "$work/bpfprof-$version" && dpkg-buildpackage -b -us -uc -J"$(nproc)" ${cross:+-d -a"$arch"} >"$work/log" 2>&1) ||
	{ tail -n 20 "$work/log" >&2; die "cannot build the package; the log is $work/log"; }
mv "$work"/*.deb "$out" || exit 1
if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$out/bpfprof_${version}_$arch.deb" || exit 1
else
	echo "deb: lintian is not installed; the package was not looked at"
fi
[ -n "${DEB_WORK:-}" ] || rm -rf "$work"
ls "$out/bpfprof_${version}_$arch.deb"
