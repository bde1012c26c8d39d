#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Where probes of all functions of real libraries and programs would go: objdump has an emulated instruction there, its
# branches lead to no byte behind the entry, and what is skipped changes no argument.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3 objdump gcc
need_prog spin_abc nofp_calls
places=$ROOT/build/tests/e2e/places
[ -x "$places" ] || lacks "places is not built"
oracle=$ROOT/tests/e2e/place_oracle.py

# A file that is not here is left out; the caller counts what was checked.
nr_files=0
check_file() { # FILE FEWEST-MOVED [OBJDUMP]
	local need moved

	[ -r "$1" ] || return 0
	nr_files=$((nr_files + 1))
	for need in entry return; do
		check "${1##*/}: places for $need" "$places" "$1" ${need#entry}
		cp "$OUT" "$TMP/$need"
		echo "# figure: ${1##*/} ($need) $(tail -n 1 "$TMP/$need")"
	done
	moved=$(awk '$1 != "table:" && $3' "$TMP/entry" | wc -l)
	check "${1##*/}: $moved places are behind their entries, at least $2" test "$moved" -ge "$2"
	[ "$moved" -eq 0 ] ||
		check "${1##*/}: objdump agrees with them" python3 "$oracle" "${3:-objdump}" "$1" "$TMP/entry" "$TMP/return"
}

# What ldd finds for a program; the program itself where it has the library inside.
library_of() { # PROGRAM LIBRARY
	ldd "$1" 2>/dev/null | awk -v name="$2" 'index($1, name) == 1 { print $3; exit }'
}

libc=$(library_of /bin/sh libc.so)
check_file "$libc" 20
check_file "$(gcc -print-file-name=libstdc++.so.6)" 40
python=$(python3 -c 'import sys; print(sys.executable)')
check_file "$(library_of "$python" libpython)" 10
check_file "$(realpath "$python")" 1
check_file "$PROGS/nofp_throw" 0
check_file "$PROGS/spin_abc" 0
gcc -O2 -fcf-protection -o "$TMP/landing" "$ROOT/tests/progs/nofp_calls.c" 2>/dev/null &&
	check_file "$TMP/landing" 1
if command -v go >/dev/null && printf 'package main\nfunc main() { println(len("x")) }\n' >"$TMP/main.go" &&
	(cd "$TMP" && GOFLAGS=-mod=mod HOME=$TMP go build -o main.go.bin main.go) >/dev/null 2>&1; then
	check_file "$TMP/main.go.bin" 1
	# A stripped one has the same functions: Go keeps their names for itself.
	"$places" "$TMP/main.go.bin" | awk '$1 != "table:" { print $1, $2 }' >"$TMP/all"
	(cd "$TMP" && GOFLAGS=-mod=mod HOME=$TMP go build -ldflags=-s -o stripped.go.bin main.go)
	check_file "$TMP/stripped.go.bin" 1
	# In front of the first one stands the build's identity, whose bytes may look like a branch into it.
	awk '$1 != "table:" { print $1, $2 }' "$TMP/entry" | sort | tail -n +2 >"$TMP/stripped"
	check "what is known of stripped Go is as in the whole one" \
		test "$(grep -Fxvc -f "$TMP/all" "$TMP/stripped")" -eq 0 -a "$(wc -l <"$TMP/stripped")" -gt 1000
fi
if command -v aarch64-linux-gnu-objdump >/dev/null; then
	for file in libc.so.6 libstdc++.so.6; do
		check_file "/usr/aarch64-linux-gnu/lib/$file" 20 aarch64-linux-gnu-objdump
	done
fi
check "$nr_files files were checked" test "$nr_files" -ge 5

# The oracle finds places that are wrong: one byte further, one instruction further.
"$places" "$libc" >"$TMP/right"
python3 - "$TMP/right" >"$TMP/wrong" <<'PY'
import sys
for line in open(sys.argv[1]):
    f = line.split(" ")
    if f[0] != "table:" and f[2] == "1":
        f[1] = "%x" % (int(f[1], 16) + 1)
    print(" ".join(f), end="")
PY
check_status 1 "the oracle refuses places inside of instructions" python3 "$oracle" objdump "$libc" "$TMP/wrong"
awk '$1 != "table:" { $3 = 2 } { print }' "$TMP/right" >"$TMP/wrong"
check_status 1 "the oracle refuses other ways to a place" python3 "$oracle" objdump "$libc" "$TMP/wrong"
finish
