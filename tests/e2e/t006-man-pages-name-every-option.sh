#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Each command has a man page, whose options are those of --help: none is missing, none is too many. Help fits 80 columns.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
cd "$ROOT" || exit 1

check_fits() { # FILE WHAT
	check_no_grep '^.{81}' "$1" "$2 fits 80 columns"
}

# Options as they are listed: "  -p, --pid LIST   only ...", up to the gap.
options_of_help() { # COMMAND
	"$BPFPROF" "$1" --help | sed -nE 's/^ {2}( {4})?(-.*)/\2/p' | sed 's/  .*//' | names
}

# Heads of paragraphs, such as "\fB\-p\fR, \fB\-\-pid\fR \fILIST\fR".
options_of_page() { # FILE
	awk '/^\.SH/ { inside = /OPTIONS/ } head && inside { print } { head = /^\.TP$/ }' "$1" |
		grep '^\\fB\\-' | sed -E 's/\\f[BIR]//g; s/\\-/-/g' | names
}

names() {
	grep -oE '(^|[ ,])--?[A-Za-z][A-Za-z-]*' | tr -d ' ,' | sort -u
}

# Spellings that help leaves out: "\fB\-L\fR is the same."
aliases_of_page() { # FILE
	sed -nE 's/^(\\%)?\\fB(.*)\\fR is the same\.$/\2/p' "$1" | sed 's/\\-/-/g'
}

same_options() { # HELP PAGE
	echo "only in help: $(comm -23 "$1" "$2" | paste -sd ' ')"
	echo "only in the page: $(comm -13 "$1" "$2" | paste -sd ' ')"
	cmp -s "$1" "$2"
}

compare_page() { # COMMAND FILE
	local option

	options_of_help "$1" >"$TMP/help"
	options_of_page "$2" >"$TMP/page"
	check "bpfprof $1 --help lists options" test -s "$TMP/help"
	check "$2 has the options of --help" same_options "$TMP/help" "$TMP/page"
	for option in $(aliases_of_page "$2"); do
		check_status 0 "bpfprof $1 takes $option" "$BPFPROF" "$1" "$option" 100 --help
	done
}

# What a reader in haste wants stands first.
check_order() { # FILE
	sed -n 's/^\.SH //p' "$1" >"$TMP/sections"
	check "$1 begins with examples" test "$(head -n 5 "$TMP/sections" | paste -sd ' ')" = \
		"NAME SYNOPSIS EXAMPLES DESCRIPTION OPTIONS"
	check_near "$(awk '/^\.SH/ { inside = /EXAMPLES/ } inside && /^\.EX/' "$1" | wc -l)" 3 0 "examples of $1"
}

"$BPFPROF" --help >"$TMP/overview"
check_fits "$TMP/overview" "bpfprof --help"
sed -nE 's/^  ([a-z]+) .*/\1/p' "$TMP/overview" >"$TMP/commands"
check "bpfprof --help lists commands" test -s "$TMP/commands"
while read -r command; do
	page=man/bpfprof-$command.8
	"$BPFPROF" "$command" --help >"$TMP/text"
	check_fits "$TMP/text" "bpfprof $command --help"
	compare_page "$command" "$page"
	check_grep "^\.B $command$" man/bpfprof.8 "the overview names $command"
	check_order "$page"
done <"$TMP/commands"

# What a ledger may show is explained.
sed -nE 's/.*X\([A-Z_]+, (FILTER|LOST|NOTE), "([a-z-]+)".*/\2/p' bpf/ledger.h >"$TMP/keys"
check "the ledger has counters" test "$(wc -l <"$TMP/keys")" -gt 30
sed 's/\\-/-/g' man/bpfprof.8 >"$TMP/page"
while read -r key; do
	check "man/bpfprof.8 explains $key" grep -qF "\\fB$key\\fR" "$TMP/page"
done <"$TMP/keys"

for page in man/bpfprof-*.8; do
	command=${page#man/bpfprof-}
	check "$page is of a command" grep -qx "${command%.8}" "$TMP/commands"
done
finish
