// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Has inlined calls, a generic function and much of the library, and prints who called it as the
// runtime itself knows: address, function, file:line.
package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
)

func number[T any](m map[string]T) int { return len(m) }

//go:noinline
func callers() []uintptr {
	pc := make([]uintptr, 20)
	return pc[:runtime.Callers(0, pc)]
}
func outside() []uintptr  { return callers() }
func further() []uintptr  { return outside() }
func furthest() []uintptr { return further() }

func main() {
	if number(map[string]int{"a": 1}) > 5 {
		http.ListenAndServe(os.Args[0], nil)
	}
	frames := runtime.CallersFrames(furthest())
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Printf("%x %s %s:%d\n", f.PC, f.Function, f.File, f.Line)
	}
}
