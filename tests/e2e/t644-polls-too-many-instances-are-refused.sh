#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program with more than 2,000 instances of Tokio's poll is refused with their count; one with 2,000 is not for that reason.
# alone: it needs the CPUs for itself
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need gcc

# As many functions of that name as are asked for, which nobody calls, in a program that sleeps. A hash has five digits or more.
make_program() { # NUMBER FILE
	for ((i = 0; i < $1; i++)); do
		printf 'static int __attribute__((used)) f%d(void) __asm__("_ZN5tokio7runtime4task3raw4poll17h0123456789ab%04xE");\n' "$i" "$i"
		printf 'static int f%d(void) { return %d; }\n' "$i" "$i"
	done >"$TMP/x.c"
	echo 'const char *place = "/tokio-1.54.1/src/x.rs"; unsigned sleep(unsigned); int main(void) { return sleep(1); }' >>"$TMP/x.c"
	gcc -O1 -w -o "$2" "$TMP/x.c"
}

check "2,001 instances" make_program 2001 "$TMP/many"
for how in --tasks --slower-polls=10ms; do
	check_status 2 "are refused with $how" "$BPFPROF" polls "$how" -- "$TMP/many"
	check_grep 'many has 2001 instances of tokio::runtime::task::raw::poll, and at most 2000 can be probed; --runs needs only one' \
		"$ERR"
done
check "2,000 instances" make_program 2000 "$TMP/most"
run "$BPFPROF" polls --force -- "$TMP/most"
check_no_grep 'at most 2000 can be probed' "$ERR" "are not too many"
check_status 3 "and none was polled" "$BPFPROF" polls --force -- "$TMP/most"
finish
