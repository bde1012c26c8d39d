#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make install honours DESTDIR and prefix; the man page names every exit status.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need make
cd "$ROOT" || exit 1
check "make install" make install DESTDIR="$TMP/root" prefix=/opt/x
check "the program is there and runs" "$TMP/root/opt/x/sbin/bpfprof" --version
check "so is bash completion" grep -q _bpfprof "$TMP/root/opt/x/share/bash-completion/completions/bpfprof"
check "and zsh's" grep -q "^#compdef bpfprof" "$TMP/root/opt/x/share/zsh/site-functions/_bpfprof"
check "and fish's" grep -q "^complete -c bpfprof" "$TMP/root/opt/x/share/fish/vendor_completions.d/bpfprof.fish"
for page in man/*.8; do
	check "$page is installed" cmp "$page" "$TMP/root/opt/x/share/man/man8/${page#man/}"
done

# What the page says of an exit status; the program's own list is in main.c.
page_status() { # CODE
	awk -v code="$1" '/^\.SH/ { inside = /EXIT STATUS/; next } inside && /^\.B [0-9]+$/ { at = $2 }
		inside && at == code' man/bpfprof.8 | paste -sd ' ' >"$TMP/status-$1"
}
sed -n '/exit_codes\[\]/,/};/ s/[^=]*= \([0-9]*\),/\1\n/gp' src/main.c | grep -E '^[0-9]+$' | sort -n >"$TMP/codes"
awk '/^\.SH/ { inside = /EXIT STATUS/ } inside && /^\.B [0-9]+$/ { print $2 }' man/bpfprof.8 >"$TMP/page"
check "the page has each exit status of main.c and no other" cmp "$TMP/codes" "$TMP/page"
check_near "$(wc -l <"$TMP/codes")" 6 0 "exit statuses"
page_status 1
page_status 77
check_grep 'e cycles' "$TMP/status-77" "a missing cycle counter is a host that cannot"
check_grep '/proc' "$TMP/status-77"
check_no_grep 'event' "$TMP/status-1" "and no failure"
finish
