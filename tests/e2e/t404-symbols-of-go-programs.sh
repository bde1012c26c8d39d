#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Functions, lines and inlined calls of Go programs, stripped or not, are as Go's own tools have them. At night also of one that
# can be loaded anywhere and of one for aarch64, for which Go compiles its library anew.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need go python3 nm

names=$ROOT/build/tests/e2e/go_names
compare=$ROOT/tests/e2e/go/names.py
export GOFLAGS=-mod=mod HOME=$TMP CGO_ENABLED=0
cp "$ROOT/tests/e2e/go/names.go" "$TMP" && cd "$TMP" || exit 1

build() { # NAME OPTIONS...
	check "go builds $1" go build -o "$@" names.go
}

build whole
build stripped -ldflags='-s -w'
if [ -n "${NIGHTLY:-}" ]; then
	build pie -buildmode=pie
	build pie-stripped -buildmode=pie -ldflags='-s -w'
	check "one that can be loaded anywhere" python3 "$compare" "$names" pie-stripped pie 3000
	export GOARCH=arm64
	build arm64
	build arm64-stripped -ldflags='-s -w'
	unset GOARCH
	check "one for aarch64" python3 "$compare" "$names" arm64-stripped arm64 3000
	check_status 1 "names of a program for another machine are wrong" python3 "$compare" "$names" arm64 whole 100
fi
check "a whole program" python3 "$compare" "$names" whole whole 3000
check "a stripped one" python3 "$compare" "$names" stripped whole 3000
[ "$(uname -m)" != x86_64 ] || check "what a program says of its own callers" python3 "$compare" "$names" stripped

# With C in it Go's code does not begin where the section does; C functions have their names from .symtab.
if command -v gcc >/dev/null; then
	export CGO_ENABLED=1
	build c
	build c-stripped -ldflags='-s -w'
	check "one with C" python3 "$compare" "$names" c-stripped c 3000
	check_status 1 "another program's names are wrong" python3 "$compare" "$names" c whole 100
fi
finish
