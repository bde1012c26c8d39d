#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A changed header rebuilds the files that include it, and no other.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need make
cd "$ROOT" || exit 1

rebuilt() { # HEADER: objects that make would compile after a change of it
	make -n V=1 -W "$1" 2>/dev/null | grep -oE -- '-c [^ ]+\.c' | sort -u | cut -c 4-
}
users() { # HEADER: files whose dependency list names it
	grep -lE "(^| )([^ ]*/)?$1( |:|\$)" build/src/*.d build/src/*/*.d build/bpf/*.d | sed 's@^build/@@; s@\.d$@.c@' | sort -u
}
all=$(find src -name '*.c' | wc -l)
make -q 2>/dev/null || skip "the build is not up to date"
for header in src/base/log.h src/profile/tree.h src/collect/glob.h; do
	rebuilt "$header" >"$TMP/rebuilt"
	users "$header" >"$TMP/users"
	check "exactly the users of $header" diff "$TMP/users" "$TMP/rebuilt"
	check "some, and not half of all: $(wc -l <"$TMP/rebuilt") of $all" test -s "$TMP/rebuilt" -a "$(wc -l <"$TMP/rebuilt")" -lt $((all / 2))
done
rebuilt bpf/prof.h >"$TMP/rebuilt"
check_grep '^bpf/oncpu.bpf.c$' "$TMP/rebuilt"
check_grep '^src/collect/arena.c$' "$TMP/rebuilt"
check_no_grep '^src/base/' <(cat "$TMP/rebuilt") || true
finish
