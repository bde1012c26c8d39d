#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# groff has nothing to say about any man page, and each fits a terminal of 80 columns.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need groff
cd "$ROOT" || exit 1

# Without bold and underlined letters, which are no columns.
render() { # FILE
	GROFF_NO_SGR=1 groff -man -ww -Tutf8 -rLL=80n -P-bou "$1"
}

for page in man/*.8; do
	check "$page is rendered" render "$page"
	check "$page without warnings" test ! -s "$ERR"
	render "$page" >"$TMP/text" 2>/dev/null
	check_grep '^SEE ALSO$' "$TMP/text" "$page to its end"
	check_no_grep '^.{81}' "$TMP/text" "$page fits 80 columns"
done
finish
