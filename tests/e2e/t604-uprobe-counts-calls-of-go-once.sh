#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A function of Go that finds its stack too small begins once more, and is one call all the same, timed or not; calls that
# end by panic are in the ledger, one for each.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 go
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

mkdir "$TMP/go"
cat >"$TMP/go/m.go" <<'GO'
package main

import "fmt"

//go:noinline
func grow(d int) int {
	var a [128]int
	if d == 0 {
		return 1
	}
	a[d%128] = d
	return grow(d-1) + a[d%128]
}

//go:noinline
func panics(n int) int {
	if n%2 == 0 {
		panic("even")
	}
	return n
}

//go:noinline
func safe(n int) (r int) {
	defer func() { recover() }()
	return panics(n)
}

//go:noinline
func large(n int) int {
	var a [10000]int
	a[n%10000] = n
	return a[(n+1)%10000] + n
}

func main() {
	sum, done := 0, make(chan int)
	for i := 0; i < 10; i++ {
		go func() { done <- grow(50) + large(i) }()
	}
	for i := 0; i < 10; i++ {
		sum += <-done
	}
	for i := 0; i < 101; i++ {
		sum += safe(i)
	}
	fmt.Println(sum + safe(1))
}
GO
(cd "$TMP/go" && go mod init m && go build -o "$TMP/gop" . && go build -ldflags=-s -o "$TMP/stripped" .) >"$TMP/go.log" 2>&1 ||
	skip "go cannot make a program"

calls() { # FUNCTION
	python3 -c 'import csv, sys
print(sum(int(r["calls"]) for r in csv.DictReader(open(sys.argv[1])) if r["function"] == sys.argv[2]))' "$TMP/x.csv" "$1"
}
for program in gop stripped; do
	for timed in "" -l; do
		check "$program is recorded $timed" "$BPFPROF" uprobe --force $timed -o "$TMP/x.csv" -o "$TMP/x.json" "$TMP/$program:main.grow" \
			"$TMP/$program:main.large" "$TMP/$program:main.panics" -- "$TMP/$program"
		check_grep "^$("$TMP/gop")\$" "$OUT" "what it prints"
		check_near "$(calls main.grow)" 510 0 "calls of main.grow, whose stacks grow"
		check_near "$(calls main.large)" 10 0 "calls of main.large, whose check is a longer one"
		[ -n "$timed" ] || check_near "$(calls main.panics)" 102 0 "calls of main.panics"
	done
	check_near "$(calls main.panics)" 51 0 "calls of main.panics that return"
	check_near "$(json "$TMP/x.json" samples lost_by no-return)" 51 0 "those that panic, in the ledger"
	check_near "$(json "$TMP/x.json" samples seen)" 622 0 "calls that are seen"
done
check_status 3 "alloc --live of Go" "$BPFPROF" alloc --live -- "$TMP/gop"
check_grep "freed by a call, as malloc\(\)'s is: not Go's" "$ERR" "why there is nothing"
finish
