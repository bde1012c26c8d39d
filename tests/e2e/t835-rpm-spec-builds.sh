#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1200
# dist/bpfprof.spec can be read, and at night it builds a package from the archive of HEAD, which holds what make install
# puts down, and whose program runs.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need make rpmspec rpmbuild
cd "$ROOT" || exit 1
version=$(cat VERSION)

check "the spec can be read" rpmspec --query --qf '%{name} %{version} %{license}\n' dist/bpfprof.spec
check_grep "^bpfprof $version GPL-2.0-only OR BSD-2-Clause$" "$OUT"
if [ -n "${NIGHTLY:-}" ]; then
	need git rpm2cpio cpio
	mkdir -p "$TMP/rpm/SOURCES"
	git -c safe.directory='*' archive --prefix="bpfprof-$version/" HEAD | gzip -n >"$TMP/rpm/SOURCES/bpfprof-$version.tar.gz"
	# Its packages are not this machine's: --nodeps. Where rpm is a guest it cannot split off debug information.
	check "rpmbuild" rpmbuild -bb --nodeps --define "_topdir $TMP/rpm" --define "debug_package %{nil}" dist/bpfprof.spec
	rpm=$(find "$TMP/rpm/RPMS" -name '*.rpm')
	mkdir "$TMP/files" "$TMP/root"
	check "it can be unpacked" sh -c 'cd "$1" && rpm2cpio "$0" | cpio -id --quiet' "$rpm" "$TMP/files"
	check "its program runs" "$(find "$TMP/files" -name bpfprof -path '*bin/*')" --version
	check "make install" make install DESTDIR="$TMP/root" prefix=/usr
	for dir in files root; do
		(cd "$TMP/$dir" && find . -type f ! -path '*/licenses/*' ! -path './usr/lib/.build-id/*' |
			sed 's/[.]gz$//; s|/usr/bin/|/usr/sbin/|' | sort) >"$TMP/$dir.list"
	done
	check "it holds what make install puts down" diff "$TMP/root.list" "$TMP/files.list"
fi
finish
