/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asking a Java virtual machine (HotSpot, JDK 17 and later) for the names of the code it has
 * compiled, by its own attach mechanism: a file in its working folder and SIGQUIT make it listen at
 * a socket, where the command Compiler.perfmap makes it write its perf map (proc/jit_files.h). JDK
 * sources: attachListener_posix.cpp, VirtualMachineImpl.java.
 *
 * It makes the process do something, for some 0.2 s, so it is done only when it was asked for.
 */
#ifndef BPFPROF_PROC_JAVA_H
#define BPFPROF_PROC_JAVA_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/jit_files.h"

/* Does the image run a JVM? */
bool java_is_jvm(const struct proc_image *image);

/*
 * Makes the process of j write its perf map; returns within timeout_ns. NULL, or why it has not, a
 * string to free().
 */
char *java_write_names(const struct jit_files *j, uint64_t timeout_ns);

#endif
