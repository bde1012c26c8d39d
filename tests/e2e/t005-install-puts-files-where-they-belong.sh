#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make install honours DESTDIR and prefix; the man page renders and names every option.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need make
cd "$ROOT" || exit 1
check "make install" make install DESTDIR="$TMP/root" prefix=/opt/x
check "the program is there and runs" "$TMP/root/opt/x/sbin/bpfprof" --version
check "the man page is there" test -s "$TMP/root/opt/x/share/man/man8/bpfprof.8"
for command in oncpu report; do
	for option in $("$BPFPROF" "$command" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
		grep -q -- "${option//-/\\\\-}" bpfprof.8 || fail "bpfprof.8 does not name $option of $command"
	done
done
pass "options compared"
finish
