#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# C++ names and Rust's, of both manglings, are shown as in the source; --no-demangle keeps them.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog mangled

check "C++ and Rust" "$BPFPROF" oncpu -U -F 999 -f -o "$TMP/x.bpfprof" -- "$PROGS/mangled" 0.3
check_grep 'main;mycrate::foo;rust;core::ops::function::FnOnce::call_once;go;shop::cart<int>::fill [0-9]{2}' "$OUT"
check "--no-demangle, later" "$BPFPROF" report -f --no-demangle "$TMP/x.bpfprof"
check_grep 'main;_RNvC7mycrate3foo;_ZL4rustv;_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE;_ZL2gov;_ZN4shop4cartIiE4fillEi' "$OUT"
finish
