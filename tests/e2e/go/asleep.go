// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Waits in C, called from Go, and in C, called from Go that C has called.
package main

/*
#include <unistd.h>
static void c_waits(void) { sleep(100); }
extern void goFromC(void);
static void c_calls(void) { goFromC(); }
*/
import "C"

import "time"

//export goFromC
func goFromC() { C.c_waits() }

func waits() { C.c_waits() }
func calls() { C.c_calls() }

func main() {
	go waits()
	go calls()
	time.Sleep(100 * time.Second)
}
