#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What make install puts down is what the RPM spec lists, file by file, and all packages are of the version in VERSION.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need make
cd "$ROOT" || exit 1
version=$(cat VERSION)

check "make install" make install DESTDIR="$TMP/root" prefix=/usr
(cd "$TMP/root" && find . -type f | sed 's/^\.//' | sort) >"$TMP/files"
check_between "$(wc -l <"$TMP/files")" 30 1000 "files"

# Its macros, as Fedora has them; a folder stands for all that is in it.
sed -n '/^%files/,/^%changelog/p' dist/bpfprof.spec | grep '^%{' |
	sed 's|%{_sbindir}|/usr/sbin|; s|%{_mandir}|/usr/share/man|; s|%{_docdir}|/usr/share/doc|; s|%{_datadir}|/usr/share|
		s|%{_unitdir}|/usr/lib/systemd/system|; s|/$|/*|' >"$TMP/patterns"
check_no_grep '%' "$TMP/patterns" "no macro is left that this test does not know"
listed() { # FILE: by how many patterns
	local pattern n=0

	while read -r pattern; do
		# shellcheck disable=SC2053
		[[ $1 != $pattern ]] || n=$((n + 1))
	done <"$TMP/patterns"
	echo "$n"
}
while read -r file; do
	echo "$(listed "$file") $file"
done <"$TMP/files" | grep -v '^1 ' >"$TMP/wrong"
check_is "$(wc -l <"$TMP/wrong")" 0 "installed files that the spec lists not once: $(paste -sd ' ' "$TMP/wrong")"
while read -r pattern; do
	compgen -G "$TMP/root$pattern" >/dev/null || echo "$pattern"
done <"$TMP/patterns" >"$TMP/wrong"
check_is "$(wc -l <"$TMP/wrong")" 0 "lines of the spec without a file: $(paste -sd ' ' "$TMP/wrong")"

check_grep "^Version: +$version$" dist/bpfprof.spec "the spec's version"
check_grep "^bpfprof \($version\)" dist/debian/changelog "the Debian package's"
check_grep "^## $version" CHANGELOG.md "the change log's"
check_grep "image: bpfprof:$version$" dist/daemonset.yaml "the DaemonSet's"
finish
