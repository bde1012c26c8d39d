/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What options a Java virtual machine was started with, as far as /proc tells. */
#ifndef BPFPROF_PROC_JAVA_OPTIONS_H
#define BPFPROF_PROC_JAVA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Is -XX:+DisableAttachMechanism on? Such a JVM takes SIGQUIT for the wish to have all its threads
 * printed. From its command line and its environment; options in files (@FILE, .hotspotrc) are not
 * looked at. Reads files of a process, which may not answer: for a child.
 */
bool java_forbids_attach(uint32_t pid);

/* The same of what is in /proc/PID/environ and /proc/PID/cmdline. */
bool java_options_forbid_attach(const char *environ, size_t environ_sz, const char *cmdline,
				size_t cmdline_sz);

#endif
