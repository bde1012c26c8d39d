// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Each goroutine works or waits in a way that is known by its name: on stacks of its own, of the
// thread, in C and called from C; blocked by channels, locks, the network, system calls and C.
package main

/*
#cgo LDFLAGS: -lpthread
#include <unistd.h>
static volatile long sink;
static void c_burn(long n) { for (long i = 0; i < n; i++) sink += i; }
static void c_sleep(void) { usleep(20000); }
extern void goFromC(long);
static void c_back(long n) { goFromC(n); sink++; }
*/
import "C"

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

var sink int
var keep []byte

//go:noinline
func burn(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ s
	}
	return s
}

func inner(n int) int  { return n*n + sink }
func middle(n int) int { return inner(n) + inner(n+1) }

//go:noinline
func inlined() {
	for i := 0; i < 20000; i++ {
		sink += middle(i)
	}
}

//go:noinline
func allocates() {
	for i := 0; i < 20; i++ {
		keep = make([]byte, 100000+i)
	}
}

//go:noinline
func deep(n int, a [16]int) int {
	if n == 0 {
		return burn(1000)
	}
	a[n%16] = n
	return deep(n-1, a) + a[(n+1)%16]
}

//go:noinline
func grows() {
	done := make(chan int)
	go func() { done <- deep(1000, [16]int{}) }()
	<-done
}

//export goFromC
func goFromC(n C.long) { sink += burn(int(n)) }

//go:noinline
func callsC() { C.c_burn(200000) }

//go:noinline
func callsBack() { C.c_back(100000) }

//go:noinline
func clock() {
	for i := 0; i < 1000; i++ {
		sink += int(time.Now().UnixNano())
	}
}

//go:noinline
func maps() {
	m := map[string]int{}
	for i := 0; i < 500; i++ {
		m[fmt.Sprint(i)] += i
	}
}

func forever(f func()) {
	for {
		f()
	}
}

func main() {
	var mu sync.Mutex
	ch := make(chan int)
	// A guest has no network, not even of its own.
	l, _ := net.Listen("unix", fmt.Sprintf("@work-%d", os.Getpid()))
	r, w, _ := os.Pipe()
	go forever(func() { <-ch })
	go forever(func() { ch <- 1; time.Sleep(time.Millisecond) })
	go forever(func() { mu.Lock(); time.Sleep(time.Millisecond); mu.Unlock() })
	go forever(func() { mu.Lock(); time.Sleep(time.Millisecond); mu.Unlock() })
	go func() {
		c, _ := l.Accept()
		io.Copy(io.Discard, c)
	}()
	go func() {
		c, _ := net.Dial("unix", l.Addr().String())
		for {
			c.Write([]byte("hello"))
			time.Sleep(5 * time.Millisecond)
		}
	}()
	go forever(func() { b := make([]byte, 8); r.Read(b) })
	go forever(func() { w.Write([]byte("x")); time.Sleep(3 * time.Millisecond) })
	go forever(func() { C.c_sleep() })
	go forever(func() { runtime.GC(); time.Sleep(30 * time.Millisecond) })
	work := []func(){func() { burn(100000) }, inlined, allocates, grows, callsC, callsBack, clock, maps}
	for _, f := range work[1:] {
		go forever(f)
	}
	forever(work[0])
}
